import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HaltReason } from '../../../../src/board/haltReason.js'
import { initialState, react, stateAfterStart } from '../../../../src/indexer/recovery/recoveryMachine.js'
import type {
  Effect,
  Observation,
  Reaction,
  RecoveryState,
  Step,
} from '../../../../src/indexer/recovery/recoveryMachine.types.js'
import { classify, everyState, isAwaited, observations } from './recoveryCases.js'

interface Transition {
  readonly what: string
  readonly before: RecoveryState
  readonly observation: Observation
  readonly after: Reaction<Step | undefined>
}

function follow(before: RecoveryState, what: string, observation: Observation): Transition {
  return { what, before, observation, after: react(frozen(before), observation) }
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  for (const each of Object.values(value)) frozen(each)
  return Object.freeze(value)
}

/** Every observation in every combination of kinds, possible or not. */
const pairs: readonly Transition[] = everyState().flatMap(({ state }) =>
  Object.entries(observations).map(([what, observation]) => follow(state, what, observation)),
)

/** As `pairs`, from the states that a network can come to after its start, by kinds. */
const reached = reachedStates()

function reachedStates(): Map<string, Transition[]> {
  const all = new Map<string, Transition[]>()
  const open = [initialState]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const key = keyOf(state)
    if (all.has(key)) continue
    const transitions = Object.entries(observations)
      .filter(([, observation]) => isAwaited(state, observation))
      .map(([what, observation]) => follow(state, what, observation))
    all.set(key, transitions)
    open.push(...transitions.map(({ after }) => after.state))
  }
  return all
}

/** Counters above their last threshold are equal. */
function keyOf(state: RecoveryState): string {
  const { fault, contracts } = state
  const tries = fault.kind === 'none' ? 0 : Math.min(fault.tries, 9)
  const moves = contracts.kind === 'agreeing' ? 0 : contracts.moves
  return JSON.stringify([classify(state), tries, moves, 'reason' in state.halt ? state.halt.reason : ''])
}

const tell = ({ what, before }: Transition): string => `${what} in ${JSON.stringify(classify(before))}`
const has = ({ after }: Transition, type: Effect['type']): boolean =>
  after.effects.some((effect) => effect.type === type)

function assertNone(transitions: readonly Transition[], isWrong: (transition: Transition) => boolean): void {
  assert.deepEqual([...new Set(transitions.filter(isWrong).map(tell))], [])
}

const reachable: readonly Transition[] = [...reached.values()].flat()

test('every observation has its outcome in every state, and no state is changed in place', () => {
  assert.equal(pairs.length, everyState().length * Object.keys(observations).length)
  assert.ok(reached.size > 100, `${reached.size} states reached`)
  for (const { after } of pairs) assert.ok(classify(after.state).fault.length > 0)
})

test('every kind of every part of the state is reached from the start', () => {
  for (const part of ['fault', 'halt', 'contracts', 'startOver'] as const) {
    const wanted = new Set(everyState().map(({ kinds }) => kinds[part]))
    const seen = new Set(reachable.map(({ before }) => classify(before)[part]))
    assert.deepEqual(
      [...wanted].filter((kind) => !seen.has(kind)),
      [],
      part,
    )
  }
})

test('from every state a network can come back to nothing known against it and no halt', () => {
  const { contracts, ...wanted } = classify(initialState)
  const isGood = (state: RecoveryState): boolean => {
    const { fault, halt, contracts: now } = classify(state)
    return fault === wanted.fault && halt === wanted.halt && now === contracts
  }
  const healing = new Set(
    [...reached.entries()].flatMap(([key, all]) => (isGood(all[0]!.before) ? [key] : [])),
  )
  for (let size = -1; size !== healing.size; ) {
    size = healing.size
    for (const [key, all] of reached)
      if (all.some(({ after }) => healing.has(keyOf(after.state)))) healing.add(key)
  }
  assert.deepEqual(
    [...reached.keys()].filter((key) => !healing.has(key)),
    [],
  )
})

test('a halt ends with a block above the fault, with an audit, or with all done at the head while there is no fault', () => {
  const ends = pairs.filter(
    ({ before, after }) => before.halt.kind !== 'none' && after.state.halt.kind === 'none',
  )
  assert.deepEqual([...new Set(ends.map(({ observation }) => observation.type))].sort(), [
    'audited',
    'idled',
    'stored',
  ])
  assertNone(ends, ({ observation: { type }, before }) => type === 'idled' && before.fault.kind !== 'none')
  assertNone(ends, ({ observation: { type }, before: { fault, halt } }) => {
    return type === 'stored' && (fault.kind === 'denied' || halt.kind === 'haltedUntilHead')
  })
  assertNone(pairs, (one) => has(one, 'resume') && one.after.state.halt.kind !== 'none')
  assertNone(pairs, (one) => has(one, 'resume') && one.after.state.fault.kind !== 'none')
})

test('what a contract denies halts at once, and stays until an audit agrees or logs contradict each other further up', () => {
  assertNone(pairs, (one) => {
    const { observation } = one
    return observation.type === 'contradicted' && observation.isDenial && !has(one, 'halt')
  })
  const ends = reachable.filter(({ before, after }) => {
    return before.fault.kind === 'denied' && after.state.fault.kind !== 'denied'
  })
  assertNone(ends, ({ observation, before: { fault } }) => {
    if (observation.type === 'audited') return false
    if (observation.type !== 'contradicted' || observation.isDenial || fault.kind === 'none') return true
    return observation.checkpoint === undefined || observation.checkpoint <= fault.at
  })
  assertNone(reachable, ({ before: { fault, halt } }) => fault.kind === 'denied' && halt.kind === 'none')
})

test('logs that contradict each other halt from the sixth try on', () => {
  assertNone(pairs, (one) => {
    const { observation, after } = one
    if (observation.type !== 'contradicted' || observation.isDenial) return false
    const { fault } = after.state
    return fault.kind === 'none' || has(one, 'halt') !== fault.tries > 5
  })
})

test('a fault is forgotten only with a block above it or an audit, and its tries are counted on', () => {
  const ways = pairs.filter(
    ({ before, after }) => before.fault.kind !== 'none' && after.state.fault.kind === 'none',
  )
  assert.deepEqual([...new Set(ways.map(({ observation }) => observation.type))].sort(), [
    'audited',
    'stored',
  ])
  assertNone(pairs, ({ observation, before, after }) => {
    if (observation.type !== 'contradicted' || before.fault.kind === 'none') return false
    return after.state.fault.kind === 'none' || after.state.fault.tries !== before.fault.tries + 1
  })
})

test('a dispute ends only when what was disputed was compared again and agrees', () => {
  assertNone(pairs, ({ observation, before, after }) => {
    return (
      before.contracts.kind === 'disputed' &&
      after.state.contracts.kind !== 'disputed' &&
      observation.type !== 'withdrawn'
    )
  })
  assertNone(pairs, ({ observation, before, after }) => {
    const { kind } = after.state.contracts
    return before.contracts.kind !== 'agreeing' && kind === 'agreeing' && observation.type !== 'audited'
  })
})

test('readiness is granted only by a comparison at the head after which no claim is missing and nothing is disputed', () => {
  const grants = pairs.filter(({ after }) =>
    after.effects.some((effect) => effect.type === 'noteCatchingUp' && !effect.isCatchingUp),
  )
  assert.ok(grants.length > 0)
  assertNone(grants, ({ observation, before }) => {
    const isCompared = observation.type === 'lookedAtContracts' && observation.areClaimsCompared
    return !isCompared || before.contracts.kind === 'disputed'
  })
  assertNone(pairs, (one) => has(one, 'tellCaughtUp') && !grants.includes(one))
  const withdrawn = pairs.filter(({ after }) =>
    after.effects.some((effect) => effect.type === 'noteCatchingUp' && effect.isCatchingUp),
  )
  const disputed = pairs.filter(
    ({ observation, before }) =>
      observation.type === 'lookedAtContracts' && before.contracts.kind === 'disputed',
  )
  assert.equal(withdrawn.length, disputed.length)
})

test('the shard is emptied only after denials at the final and at the oldest block, and stays halted then', () => {
  const emptied = reachable.filter(({ after }) => after.step?.type === 'emptyShard')
  assert.ok(emptied.length > 0)
  for (const { before, observation } of emptied) {
    assert.equal(before.startOver.kind, 'comparingOldest')
    assert.ok(before.fault.kind !== 'none' && before.fault.tries > 5)
    assert.ok(
      observation.type === 'comparedOldest' && !['same', 'unproven'].includes(String(observation.found)),
    )
  }
  const begun = pairs.filter(({ after }) => after.step?.type === 'compareOldest')
  assertNone(
    begun,
    ({ observation }) => observation.type !== 'comparedFinal' || !(observation.found instanceof Error),
  )
  assertNone(reachable, ({ observation, after: { state } }) => {
    return observation.type === 'startedOver' && (state.halt.kind === 'none' || state.fault.kind !== 'denied')
  })
})

const MINUTE_MS = 60_000

/** The time that must pass after the outcome of the n-th start over is known. */
function waitAfter(count: number): number {
  const { effects } = react(initialState, {
    type: 'audited',
    unixMs: 5_000,
    startOvers: { count, notBeforeMs: undefined },
  })
  const [note] = effects.flatMap((effect) => (effect.type === 'noteStartOvers' ? [effect.startOvers] : []))
  assert.equal(note?.count, count)
  return note.notBeforeMs! - 5_000
}

test('between two starts over lie ten minutes, then twice as long each time, up to an hour', () => {
  const minutes = [1, 2, 3, 4, 5, 50].map((count) => waitAfter(count) / MINUTE_MS)
  assert.deepEqual(minutes, [10, 20, 40, 60, 60, 60])
})

test('starts over are counted, and forgotten a day after the last wait', () => {
  const [{ before } = assert.fail('none is emptied')] = reachable.filter(
    ({ after }) => after.step?.type === 'emptyShard',
  )
  assert.ok(before.startOver.kind === 'comparingOldest')
  const { mismatch } = before.startOver
  const countAfter = (sinceMs: number): number => {
    const startOver = { kind: 'comparingOldest', mismatch, last: { count: 3, notBeforeMs: 1_000 } } as const
    const found = { type: 'comparedOldest', found: 'unanswered', atMs: 0, unixMs: 1_000 + sinceMs } as const
    const { step } = react({ ...before, startOver }, found)
    return step.type === 'emptyShard' ? step.count : assert.fail(step.type)
  }
  assert.deepEqual([0, 24 * 60 * MINUTE_MS, 24 * 60 * MINUTE_MS + 1].map(countAfter), [4, 4, 1])
})

test('a halt from before a start ends with the next stored block, or at the head where only a comparison can tell that it is over', () => {
  const endsAt = (reason: HaltReason): string => {
    const ended = (state: RecoveryState, observation: Observation) => {
      const { state: next, effects } = react(state, observation)
      return effects.some(({ type }) => type === 'resume') && next.halt.kind === 'none'
    }
    const state = stateAfterStart(reason)
    if (ended(state, { type: 'stored', block: 1 })) return 'the next block'
    return ended(react(state, { type: 'stored', block: 1 }).state, { type: 'idled' }) ? 'the head' : 'never'
  }
  const reasons = [
    'wrong_chain',
    'disk_full',
    'exit_root_mismatch',
    'missing_log',
    'state_unavailable',
  ] as const
  assert.deepEqual(reasons.map(endsAt), [
    ...['the next block', 'the next block', 'the head', 'the head', 'the head'],
  ])
  assert.deepEqual(stateAfterStart('none'), initialState)
})

test('failures in a row are followed by waits that double up to fifteen seconds, and begin anew after progress', () => {
  let state = initialState
  const waits: number[] = []
  for (let nth = 0; nth < 9; nth++) {
    const { state: next, step } = react(state, { type: 'endpointFailed' })
    assert.ok(step.type === 'wait' && step.failures === nth + 1)
    waits.push(step.mostMs)
    state = next
  }
  assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  const { step } = react(react(state, { type: 'stored', block: 1 }).state, { type: 'endpointFailed' })
  assert.ok(step.type === 'wait' && step.mostMs === 250)
})

test('what stays open is asked again after a second, then ever more rarely, at last once a minute', () => {
  const undecided = observations['nobody can decide a difference']!
  assert.ok(undecided.type === 'undecided')
  let state = initialState
  const waits = Array.from({ length: 8 }, () => {
    state = react(state, { ...undecided, atMs: 0, random: 1 }).state
    return state.contracts.kind === 'disputed' ? state.contracts.dueMs / 1_000 : assert.fail('not disputed')
  })
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60])
})
