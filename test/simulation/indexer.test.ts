import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from './simulation.js'

/** More seeds: `npm run test:sim`, or `node dist/test/simulation/runSeeds.js FIRST COUNT`. */
const SEEDS = [1, 2, 3, 5, 8, 13]
/** Seeds that failed before the fault in their story was mended. */
const FOUND = {
  'an orphaned log beside an empty block must not end the look at blooms': 12,
  'a deposit hidden at the end of a window of far history is read again from below': 31,
  'a batch of another branch must not stand on the checkpoint': 30,
}

for (const seed of SEEDS)
  test(`seed ${seed}: after faults, reorgs and restarts the shard equals that of a clean replay`, async () => {
    const { blocks, requests } = await simulate(seed)
    assert.ok(blocks > 0 && requests > 0)
  })

for (const [story, seed] of Object.entries(FOUND))
  test(`seed ${seed}: ${story}`, async () => {
    await simulate(seed)
  })

test('the same seed simulates the same run', async () => {
  const [first, second] = [await simulate(21), await simulate(21)]
  assert.ok(first.reorgs + first.restarts > 0)
  assert.deepEqual(first, second)
})
