import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { wireModule } from '../../../../src/client/generate/wireModule.js'

test('src/client/wireDefinition.ts is what `npm run generate:client` makes of the definitions', () => {
  const kept = readFileSync(new URL('../../../../../src/client/wireDefinition.ts', import.meta.url), 'utf8')
  assert.equal(kept, wireModule())
})
