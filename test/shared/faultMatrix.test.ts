import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sharedPath } from '../support/sharedFolder.js'
import {
  type FaultCase,
  lasting,
  type PermanentCase,
  permanent,
  THROUGH_CONTRACT,
  transient,
} from './faultCases.js'
import { FaultWorld, type WorldOptions } from './faultWorld.js'
import { type CaseRun, matrixTest, runMatrix } from './wantedCases.js'

/** A fault must show, and be over, within a minute. */
const LIMIT_MS = 60_000
/** Time that a network which has stopped is watched, in case it serves something false after all. */
const WATCHED_MS = 1_500
/** Where the heads stand when a fault begins on the way: causes before, more of everything after. */
const HALFWAY = { base: 'step:62', 'v12-v9-legacy': 'step:64', multi: 'step:112' } as const
type SetName = keyof typeof HALFWAY
const SETS = Object.keys(HALFWAY) as SetName[]

type Timing = 'from the start' | 'on the way'
const TIMINGS: readonly Timing[] = ['from the start', 'on the way']

/** Short and smoke runs take each of their cases once; which set and timing changes from case to case. */
function forEachVariant<T extends FaultCase>(
  cases: readonly T[],
  visit: (fault: T, set: SetName, timing: Timing, run: CaseRun) => void,
): void {
  for (const [index, fault] of cases.entries())
    for (const [s, set] of SETS.entries())
      for (const [i, timing] of TIMINGS.entries()) {
        const isTurn = s === index % SETS.length && i === Math.floor(index / SETS.length) % TIMINGS.length
        visit(fault, set, timing, isTurn ? (fault.isShort === true ? 'short' : 'smoke') : 'all')
      }
}

interface RecordedDeposit {
  readonly txHash: string
  readonly txFrom: string
  readonly caller: string
}

function throughContract(set: SetName): string {
  const text = readFileSync(sharedPath('replay', 'sets', set, 'expected.json'), 'utf8')
  const { bridges } = JSON.parse(text) as { readonly bridges: readonly RecordedDeposit[] }
  return bridges.find(({ caller, txFrom }) => caller !== txFrom)!.txHash
}

async function open(
  t: TestContext,
  fault: FaultCase,
  set: SetName,
  timing: Timing,
  options: Partial<WorldOptions> = {},
): Promise<FaultWorld> {
  const { emptyBlocks, ...settings } = fault.settings ?? {}
  const isHalf = timing === 'on the way'
  const world = await FaultWorld.open(t, {
    set,
    ...settings,
    ...(isHalf ? { head: HALFWAY[set] } : { emptyBlocks: emptyBlocks ?? 0 }),
    ...options,
  })
  if (isHalf) {
    await world.start()
    await world.caughtUp()
  }
  for (const one of fault.faults) {
    const named = one.txHash === THROUGH_CONTRACT ? { txHash: throughContract(set) } : {}
    await world.first('/fault', { add: true, ...one, ...named })
  }
  if (isHalf) {
    // In steps that meet live polls, then the rest at once.
    for (let step = 0; step < 6; step++) {
      await world.everywhere('/head', { advance: 3 })
      await delay(60)
    }
    await world.showAll()
    if (emptyBlocks !== undefined) await world.everywhere('/head', { advance: emptyBlocks, empty: true })
  } else await world.start()
  return world
}

for (const [kind, cases] of Object.entries({ passing: transient, lasting }))
  forEachVariant(cases, (fault, set, timing, run) => {
    matrixTest(`${kind} ${timing}, ${set}: ${fault.title}`, run, async (t) => {
      const world = await open(t, fault, set, timing)
      const refusesTraces = fault.refusesTraces === true
      await world.assertRight({ mixesSenders: refusesTraces })
      if (!refusesTraces) return
      await world.first('/faults/clear', {})
      await world.assertRight()
    })
  })

/** True once the service says that it stands still. @throws when it serves something false meanwhile. */
async function hasStopped(world: FaultWorld): Promise<boolean> {
  await world.assertHonest()
  const networks = await world.networks()
  return networks.some(({ halted, is_synced }) => halted !== null || !is_synced)
}

/** Waits for a halt under a name or a network that is not synced. @returns false when the chain was followed instead. */
async function stops(world: FaultWorld, fault: PermanentCase): Promise<boolean> {
  const deadline = Date.now() + LIMIT_MS
  for (;;) {
    if (await hasStopped(world)) return true
    if (fault.mayCope && (await world.isAllServed())) return false
    if (Date.now() > deadline) assert.fail(`synced under a fault\n${world.logTail()}`)
    await delay(200)
  }
}

forEachVariant(permanent, (fault, set, timing, run) => {
  matrixTest(`permanent ${timing}, ${set}: ${fault.title}`, run, async (t) => {
    const world = await open(t, fault, set, timing)
    const isStopped = fault.isUnseen !== true && (await stops(world, fault))
    for (const end = Date.now() + WATCHED_MS; Date.now() < end; await delay(100)) await world.assertHonest()
    t.diagnostic(isStopped ? `stopped: ${JSON.stringify(await world.networks())}` : 'followed all the same')
    await world.first('/faults/clear', {})
    await world.assertRight()
  })
  matrixTest(`permanent ${timing}, other endpoint well, ${set}: ${fault.title}`, run, async (t) => {
    const world = await open(t, fault, set, timing, { endpoints: 2 })
    await world.assertRight()
  })
})

runMatrix('faults')
