import { setTimeout as delay } from 'node:timers/promises'
import { FaultWorld } from './faultWorld.js'
import { type CaseRun, matrixTest, runMatrix } from './wantedCases.js'

interface Reorg {
  readonly network: number
  readonly depth: number
  readonly mode: 'keep' | 'shift' | 'drop'
  readonly after?: 'replay' | 'empty'
  readonly extra?: number
  readonly txHash?: 'keep' | 'new'
}

/** Where the heads stand for reorgs in mid-history. */
const MIDDLE = { base: 'step:80', 'v12-v9-legacy': 'step:84', multi: 'step:130' } as const
type SetName = keyof typeof MIDDLE
const SETS = Object.keys(MIDDLE) as SetName[]

const kinds: readonly (readonly [string, Pick<Reorg, 'mode' | 'after' | 'txHash' | 'extra'>])[] = [
  ['same logs in new blocks', { mode: 'keep' }],
  ['same logs in new blocks of the same height', { mode: 'keep', extra: 0 }],
  ['same logs under new transactions', { mode: 'keep', txHash: 'new' }],
  ['logs one block later', { mode: 'shift' }],
  ['logs one block later, five blocks longer', { mode: 'shift', extra: 5 }],
  ['logs gone, back afterwards', { mode: 'drop', after: 'replay' }],
  ['logs gone for good', { mode: 'drop', after: 'empty' }],
]

/** Answers must be right on the new branch, and stay right when the branch grows. */
async function assertFollowed(world: FaultWorld, reorg?: Reorg): Promise<void> {
  const isLossy = reorg !== undefined && reorg.mode === 'drop' && reorg.network !== 0
  const lossy = isLossy ? [reorg.network] : []
  await world.assertRight({ lossy })
  await world.showAll()
  await world.assertRight(reorg?.after === 'empty' ? { lossy } : {})
}

/** The smoke run has each of its cases on one set; which one changes from case to case. */
function caseRun(isShort: boolean, set: number, turn: number): CaseRun {
  if (isShort) return 'short'
  return set === turn % SETS.length ? 'smoke' : 'all'
}

for (const [s, set] of SETS.entries())
  for (const network of [0, 1, 2])
    for (const [d, depth] of [1, 6, 15].entries())
      for (const [k, [kind, reorg]] of kinds.entries()) {
        const isShort = set !== 'v12-v9-legacy' && depth === 6 && network === (reorg.mode === 'drop' ? 0 : 1)
        const isChosen = isShort && (reorg.mode === 'shift' || reorg.after === 'replay') && reorg.extra !== 5
        const run = caseRun(isChosen, s, network + d + k)
        matrixTest(`reorg of ${depth}, network ${network}, ${set}: ${kind}`, run, async (t) => {
          const world = await FaultWorld.open(t, { set, head: MIDDLE[set] })
          await world.start()
          await world.caughtUp()
          // The youngest chain has only 13 blocks at that point.
          const { head } = (await world.chains[0]!.heads())[network]!
          const followed = { network, depth: Math.min(depth, head), ...reorg }
          await world.everywhere('/reorg', followed)
          await assertFollowed(world, followed)
        })
      }

/** Reorgs that follow each other faster than the service can follow each. */
const flurries: readonly (readonly [string, readonly Reorg[]])[] = [
  [
    'on layer 1',
    [
      { network: 0, depth: 2, mode: 'keep' },
      { network: 0, depth: 5, mode: 'shift' },
      { network: 0, depth: 3, mode: 'drop', after: 'replay' },
      { network: 0, depth: 9, mode: 'keep' },
    ],
  ],
  [
    'on layer 2',
    [
      { network: 1, depth: 4, mode: 'shift' },
      { network: 1, depth: 2, mode: 'drop', after: 'replay' },
      { network: 2, depth: 3, mode: 'keep' },
      { network: 1, depth: 7, mode: 'keep', txHash: 'new' },
    ],
  ],
  [
    'everywhere',
    [
      { network: 0, depth: 4, mode: 'shift' },
      { network: 1, depth: 4, mode: 'drop', after: 'replay' },
      { network: 2, depth: 4, mode: 'shift' },
      { network: 0, depth: 8, mode: 'drop', after: 'empty' },
      { network: 1, depth: 6, mode: 'shift' },
    ],
  ],
]
for (const [s, set] of SETS.entries())
  for (const [f, [where, reorgs]] of flurries.entries())
    for (const [p, pauseMs] of [0, 40, 400].entries()) {
      const isShort = set === 'v12-v9-legacy' && where === 'everywhere' && pauseMs === 40
      matrixTest(
        `several reorgs ${where}, ${pauseMs} ms apart, ${set}`,
        caseRun(isShort, s, f + p),
        async (t) => {
          const world = await FaultWorld.open(t, { set, head: MIDDLE[set] })
          await world.start()
          await world.caughtUp()
          for (const reorg of reorgs) {
            await world.everywhere('/reorg', reorg)
            await delay(pauseMs)
            await world.everywhere('/head', { advance: 1 })
          }
          await assertFollowed(world)
        },
      )
    }

/** Reorgs during backfill: the blocks that were read belong to a dropped branch before the head is reached. */
for (const [s, set] of SETS.entries())
  for (const [k, [kind, reorg]] of kinds.entries())
    for (const network of [0, 1]) {
      const isShort = set === 'v12-v9-legacy' && network === 0 && kind === 'logs one block later'
      matrixTest(
        `reorg in backfill, network ${network}, ${set}: ${kind}`,
        caseRun(isShort, s, network + k),
        async (t) => {
          const world = await FaultWorld.open(t, { set, emptyBlocks: 150, logRange: 5 })
          // Slow enough for the reorgs to happen in the middle of backfill.
          await world.everywhere('/fault', { name: 'latency', ms: 25 })
          await world.start()
          for (const depth of [160, 140, 120]) {
            await delay(250)
            await world.everywhere('/reorg', { network, depth, ...reorg })
          }
          await world.everywhere('/faults/clear', {})
          await assertFollowed(world, { network, depth: 0, ...reorg })
        },
      )
    }

/** Two nodes on two branches behind one address, and both branches change. */
for (const [s, set] of SETS.entries())
  matrixTest(`reorgs under logs of the branch before, ${set}`, caseRun(false, s, 0), async (t) => {
    const world = await FaultWorld.open(t, { set, head: MIDDLE[set] })
    await world.start()
    await world.caughtUp()
    await world.everywhere('/fault', { name: 'orphanLogs', depth: 8, prob: 0.5 })
    await world.everywhere('/fault', { name: 'lag', blocks: 3, pattern: 'random' })
    for (const network of [0, 1, 2]) await world.everywhere('/reorg', { network, depth: 6, mode: 'shift' })
    await assertFollowed(world)
  })

runMatrix('reorgs')
