import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionAttacks } from './attacks.js'
import { testAttacks } from './underAttack.js'

// The service needs 1,216 to start.
const getService = testAttacks(connectionAttacks, { openFiles: 2_000 })

test('of all these connections the log tells once for each limit', async () => {
  const { stderr } = await getService()
  const warnings = stderr.filter((line) => line.includes('connections are refused'))
  assert.equal(
    warnings.filter((line) => line.includes('http.max_connections is')).length,
    1,
    warnings.join('\n'),
  )
  assert.ok(warnings.length <= 2, warnings.join('\n'))
})
