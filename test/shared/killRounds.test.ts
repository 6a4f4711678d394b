import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startBds } from '../support/serviceProcess.js'
import { TestNumbers } from '../support/testNumbers.js'
import { FaultWorld } from './faultWorld.js'

/** The number of kills, and the seed of every random choice: `BDS_TEST_KILLS=100 BDS_TEST_SEED=7`. */
const KILLS = Number(process.env.BDS_TEST_KILLS ?? 4)
const SEED = Number(process.env.BDS_TEST_SEED ?? 1)
/** One life is a store from its first block on, which is killed this often. */
const KILLS_PER_LIFE = 6
/** After this many kills the service may catch up, and all its answers are checked. */
const KILLS_PER_LOOK = 2
/** Below this block some contracts are not deployed, and a service that starts there refuses to run. */
const DEPLOYED_AT = 10
const MODES = [
  { mode: 'keep' },
  { mode: 'keep', txHash: 'new' },
  { mode: 'shift' },
  { mode: 'drop', after: 'replay' },
  { mode: 'drop', after: 'empty' },
]

/** A reorg of either may lose deposits for good, after layer 1 has settled them. */
const LAYERS_2 = [1, 2]

/** The chain grows, or drops its last blocks. */
async function moveChains(world: FaultWorld, numbers: TestNumbers, deepest: number): Promise<void> {
  if (numbers.chance(0.6)) return world.everywhere('/head', { advance: 1 + numbers.below(3), empty: true })
  const network = numbers.below(3)
  const room = (await world.chains[0]!.heads())[network]!.head - DEPLOYED_AT
  if (room < 1) return
  const depth = 1 + numbers.below(Math.min(deepest, room))
  await world.everywhere('/reorg', { network, depth, ...numbers.pick(MODES) })
}

/** Starts the service and kills it at a random moment, between its first instruction and live blocks. */
async function killOnce(
  t: { after(body: () => void): void },
  world: FaultWorld,
  numbers: TestNumbers,
  deepest: number,
): Promise<void> {
  const bds = startBds(t, ['run', '--config', world.configFile])
  let hasEnded = false
  void bds.exited.then(() => {
    hasEnded = true
  })
  if (numbers.chance(0.8)) await bds.line(/^listening on /)
  for (let left = numbers.below(1_500); left > 0; ) {
    const pause = Math.min(left, 20 + numbers.below(120))
    await delay(pause)
    left -= pause
    await moveChains(world, numbers, deepest)
  }
  assert.equal(hasEnded, false, `the service ended by itself:\n${bds.stderr.slice(-10).join('\n')}`)
  assert.deepEqual(await bds.kill('SIGKILL'), { code: null, signal: 'SIGKILL' })
}

const lives = Math.ceil(KILLS / KILLS_PER_LIFE)
for (let life = 0; life < lives; life++) {
  const numbers = new TestNumbers(1_000 * SEED + life)
  const set = life % 2 === 0 ? 'base' : 'v12-v9-legacy'
  const isBackfill = life % 4 >= 2
  const kills = Math.min(KILLS_PER_LIFE, KILLS - life * KILLS_PER_LIFE)
  const what = isBackfill ? 'while history is read' : 'at the tip'
  test(`a service killed ${kills} times ${what}, ${set}, loses nothing and stores nothing twice (seed ${SEED}, ${life})`, async (t) => {
    const world = isBackfill
      ? await FaultWorld.open(t, { set, emptyBlocks: 150, logRange: 4 })
      : await FaultWorld.open(t, { set, head: 'step:66' })
    // A history that takes longer to read than the process lives.
    if (isBackfill) await world.everywhere('/fault', { name: 'latency', ms: 10, jitter: 20 })
    for (let kill = 1; kill <= kills; kill++) {
      await killOnce(t, world, numbers, isBackfill ? 120 : 12)
      if (kill % KILLS_PER_LOOK !== 0 && kill < kills) continue
      if (kill === kills) await world.showAll()
      await world.start()
      await world.caughtUp()
      await (kill === kills ? world.assertRight({ lossy: LAYERS_2 }) : world.assertHonest())
      await world.service!.kill('SIGKILL')
    }
  })
}
