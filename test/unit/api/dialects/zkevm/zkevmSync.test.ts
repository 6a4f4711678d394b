import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FrontFacts } from '../../../../../src/api/dialects/frame/dialect.js'
import { zkevmDialect } from '../../../../../src/api/dialects/zkevm/zkevm.js'

test('while the head of a chain is unknown, nothing says that it was reached', () => {
  const networks = [{ network_id: 1, current_block: 0, synced_block: 0, is_synced: false }]
  const facts = { syncStatus: () => ({ networks }) } as unknown as FrontFacts
  const told = zkevmDialect.probes.find(({ path }) => path === '/sync')?.answer(facts, '')
  assert.deepEqual(told, { ok: true, value: { sync: [{ network_id: 1, percentage: 0, synced: false }] } })
})
