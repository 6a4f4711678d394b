import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from './simulation.js'

/** More seeds: `npm run test:sim`, or `node dist/test/simulation/runSeeds.js FIRST COUNT`. */
const SEEDS = [1, 2, 3, 5, 8, 13]
/** Seeds that found a fault once. */
const FOUND = {
  'a deposit hidden in a block that shows others, and nothing after it': 54,
  'a block of another branch taken for an empty one, where blooms are not filled': 63,
  'an orphaned log that made the client give up on blooms': 70,
}

for (const seed of SEEDS)
  test(`seed ${seed}: after faults, reorgs and restarts the shard equals a clean replay`, async () => {
    const { blocks, requests } = await simulate(seed)
    assert.ok(blocks > 0 && requests > 0)
  })

for (const [story, seed] of Object.entries(FOUND))
  test(`seed ${seed}: ${story}`, async () => {
    await simulate(seed)
  })

test('the same seed gives the same run', async () => {
  const [first, second] = [await simulate(21), await simulate(21)]
  assert.ok(first.reorgs + first.restarts > 0)
  assert.deepEqual(first, second)
})
