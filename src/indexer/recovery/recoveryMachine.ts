import type { HaltReason } from '../../board/haltReason.js'
import { asBlockNumber } from '../../protocol/units.js'
import { longestWaitMs, partOfWait } from '../backoff.js'
import type {
  AuditObservation,
  AuditSchedule,
  AuditStep,
  Contracts,
  Effect,
  FailureObservation,
  FailureStep,
  Fault,
  Halt,
  JudgementObservation,
  JudgementStep,
  Observation,
  Pause,
  ProgressObservation,
  Reaction,
  RecoveryFailed,
  RecoveryState,
  Rereading,
  StartOverStage,
  Step,
} from './recoveryMachine.types.js'

/** Waits after failures: a halted network heals within a minute once its cause is gone. */
const RETRY = { baseMs: 250, capMs: 15_000 }
/** The pause after a failure of recovery itself. */
const RECOVERY_PAUSE_MS = 1_000
/** So many tries with contradicting data are made before the network halts. */
const TRIES_BEFORE_HALT = 5
/**
 * How many blocks are taken back before the n-th try. The fault may lie before the place where it shows: a deposit that is
 * missing at the end of a range shows when the next deposit comes.
 */
const REWIND_BLOCKS = [0, 0, 1, 64, Number.POSITIVE_INFINITY]
/** After a denial, reading on does not help, since the fault is in what is stored: blocks are taken back at once. */
const FIRST_TRY_OF_DENIAL = REWIND_BLOCKS.indexOf(1)
/** Tries of this number, of twice this number, four times, and so on take back all blocks that undo reaches. */
const FIRST_DEEP_REWIND_AGAIN = 8

/** How often a comparison is repeated when its difference is refuted each time; then the difference stays open. */
const MOST_LOOKS = 5
/** So often in a row, a difference from another branch makes the loop look at the head first. After that it stays open. */
const MOST_MOVES = 5
/** What stays open is compared again after this time, then ever more rarely. */
const ASK_AGAIN = { baseMs: 1_000, capMs: 60_000 }

/**
 * The shortest time between two starts over; it doubles each time, up to LONGEST_PERIOD_MS. It is not known where the missing log
 * is, so that only reading everything can show that it is no longer missing. The network stands still until then anyway.
 */
const SHORTEST_PERIOD_MS = 10 * 60_000
const LONGEST_PERIOD_MS = 60 * 60_000
/** After so long without a start over, the next one counts as the first. */
const FORGOTTEN_MS = 24 * 60 * 60_000

const AUDIT_EVERY_MS = 120_000
/** After events, or BLOCKS_PER_AUDIT blocks, the next comparison comes sooner: without blooms nothing else may show a missing log. */
const AUDIT_SOON_MS = 40_000
const BLOCKS_PER_AUDIT = 20
/** One comparison in so many at the head also compares what hardly ever changes. */
const AUDITS_PER_WHOLE = 5
/** Words of claims to compare per new block: then an idle head costs at most three calls per block in all. */
const WORDS_PER_BLOCK = 0.1
/** In backfill, one window in so many is compared with the contract. */
const WINDOWS_PER_AUDIT = 16

/** Halts that reading on can't end: no endpoint answers contract calls, or a contract may have denied what is stored. */
const UNTIL_HEAD: readonly HaltReason[] = ['state_unavailable', 'exit_root_mismatch', 'missing_log']

/** After a start nothing is known against what is stored. */
export const initialState: RecoveryState = {
  fault: { kind: 'none' },
  halt: { kind: 'none' },
  contracts: { kind: 'agreeing' },
  startOver: { kind: 'resting', notBeforeMs: Number.NEGATIVE_INFINITY },
  audits: {
    windows: 0,
    audits: 0,
    lastMs: Number.NEGATIVE_INFINITY,
    lastBlock: undefined,
    hadEvents: false,
  },
  failures: 0,
}

/** After a start in which a thread before has left a halt: whatever was the reason is met again, or the halt ends. */
export function stateAfterStart(reason: HaltReason): RecoveryState {
  if (reason === 'none') return initialState
  const kind = UNTIL_HEAD.includes(reason) ? 'haltedUntilHead' : 'halted'
  return { ...initialState, halt: { kind, reason } }
}

/**
 * What follows from an observation: the next state, what is done at once, and the next step. Every decision of contract audits,
 * disputes, recovery and starting over is made here, and nothing else is done here. Nothing gives up: every halt ends by itself when
 * its cause is gone. docs/recovery.md has the transitions as tables.
 */
export function react(state: RecoveryState, observation: ProgressObservation): Reaction<undefined>
export function react(state: RecoveryState, observation: FailureObservation): Reaction<FailureStep>
export function react(state: RecoveryState, observation: RecoveryFailed): Reaction<Pause>
export function react(state: RecoveryState, observation: JudgementObservation): Reaction<JudgementStep>
export function react(state: RecoveryState, observation: AuditObservation): Reaction<AuditStep>
export function react(state: RecoveryState, observation: Observation): Reaction<Step | undefined>
export function react(state: RecoveryState, observation: Observation): Reaction<Step | undefined> {
  switch (observation.type) {
    case 'stored':
    case 'storedEvents':
    case 'audited':
    case 'lookedAtContracts':
    case 'idled':
    case 'proven':
    case 'undecided':
    case 'withdrawn':
      return reactToProgress(state, observation)
    case 'endpointFailed':
    case 'failed':
    case 'contradicted':
    case 'tookBack':
    case 'comparedFinal':
    case 'comparedOldest':
    case 'startedOver':
    case 'startOverFailed':
      return reactToFailure(state, observation)
    case 'recoveryFailed':
      return reactToRecoveryFailure(state, observation)
    case 'judged':
      return reactToJudgement(state, observation)
    case 'storedWindow':
    case 'reachedHead':
    case 'treesAgreed':
    case 'othersAgreed':
      return reactInAudit(state, observation)
  }
}

function reactToProgress(state: RecoveryState, observation: ProgressObservation): Reaction<undefined> {
  const then = (next: RecoveryState, ...effects: readonly Effect[]): Reaction<undefined> => {
    return { state: next, effects, step: undefined }
  }
  const { fault, halt, contracts } = state
  switch (observation.type) {
    case 'stored': {
      if (fault.kind === 'denied' || (fault.kind === 'rereading' && observation.block <= fault.at))
        return then(state)
      const over = { ...state, fault: { kind: 'none' } } as const
      return halt.kind === 'haltedUntilHead' ? then(over) : then(unhalted(over), { type: 'resume' })
    }
    case 'storedEvents':
      return then({ ...state, audits: { ...state.audits, hadEvents: true } })
    case 'audited': {
      // Comparisons stop at a dispute, so that the others cannot have agreed.
      if (contracts.kind === 'disputed') return then(state)
      const none = { kind: 'none' } as const
      return then(
        { ...state, fault: none, halt: none, contracts: { kind: 'agreeing' } },
        ...beginOfWait(observation),
        { type: 'resume' },
      )
    }
    case 'lookedAtContracts':
      return then(state, ...readiness(contracts, observation))
    case 'idled':
      return fault.kind === 'none' ? then(unhalted(state), { type: 'resume' }) : then(state)
    case 'proven': {
      // It stays until a comparison agrees: silence decides nothing.
      const { difference, atMs: dueMs } = observation
      return then({
        ...state,
        contracts: { kind: 'disputed', difference, dueMs, ...differences(contracts) },
      })
    }
    case 'undecided': {
      const { difference, atMs, random } = observation
      const { moves, disputes } = differences(contracts)
      const waitMs = partOfWait(longestWaitMs(ASK_AGAIN, disputes), random)
      const disputed = { difference, dueMs: atMs + waitMs, moves, disputes: disputes + 1 }
      return then(
        { ...state, contracts: { kind: 'disputed', ...disputed } },
        { type: 'tellDispute', what: difference.what, disputes: disputes + 1 },
      )
    }
    case 'withdrawn':
      // Until all is compared, one difference makes others likely.
      return then({ ...state, contracts: { kind: 'differing', ...differences(contracts) } })
  }
}

function unhalted(state: RecoveryState): RecoveryState {
  return { ...state, halt: { kind: 'none' }, failures: 0 }
}

function differences(contracts: Contracts): { readonly moves: number; readonly disputes: number } {
  if (contracts.kind === 'agreeing') return { moves: 0, disputes: 0 }
  return { moves: contracts.moves, disputes: contracts.disputes }
}

/** Nothing to this network may be ready while a claim may be missing. */
function readiness(
  contracts: Contracts,
  observation: Extract<ProgressObservation, { type: 'lookedAtContracts' }>,
): Effect[] {
  if (contracts.kind === 'disputed') return [{ type: 'noteCatchingUp', isCatchingUp: true }]
  if (!observation.areClaimsCompared) return []
  const caughtUp: Effect[] = observation.isComplete
    ? [{ type: 'tellCaughtUp', block: observation.block }]
    : []
  return [{ type: 'noteCatchingUp', isCatchingUp: false }, ...caughtUp]
}

function reactToFailure(state: RecoveryState, observation: FailureObservation): Reaction<FailureStep> {
  switch (observation.type) {
    case 'endpointFailed':
      return waiting(state)
    case 'failed': {
      const { reason, error } = observation
      const kind = reason === 'state_unavailable' ? 'haltedUntilHead' : 'halted'
      return waiting({ ...state, halt: { kind, reason } }, { type: 'halt', reason, error })
    }
    case 'contradicted':
      return contradicted(state, observation)
    case 'tookBack': {
      if (state.fault.kind === 'none') return waiting(state)
      const { from } = observation
      const { tries, to } = state.fault
      // Reading all headers of a deep range takes many calls: the first time another endpoint, without that, may be enough.
      const isPlain = tries === REWIND_BLOCKS.length
      const readTo = asBlockNumber(isPlain ? from : Math.max(from, to))
      return waiting(state, { type: 'readCarefully', from, to: readTo })
    }
    case 'comparedFinal': {
      const { found, atMs } = observation
      // At a final block no reorg can mend it any more. If it agrees there, history below is not to blame.
      if (state.startOver.kind !== 'comparingFinal' || !(found instanceof Error)) return notYet(state, atMs)
      const { last } = state.startOver
      const startOver: StartOverStage = { kind: 'comparingOldest', last, mismatch: found }
      return { state: { ...state, startOver }, effects: [], step: { type: 'compareOldest' } }
    }
    case 'comparedOldest': {
      const { found, atMs, unixMs } = observation
      // If no endpoint keeps state that old, the mismatch at the final block has to do.
      const isDenied = found === 'unanswered' || found instanceof Error
      if (state.startOver.kind !== 'comparingOldest' || !isDenied) return notYet(state, atMs)
      const { last, mismatch } = state.startOver
      const isForgotten = last?.notBeforeMs !== undefined && unixMs - last.notBeforeMs > FORGOTTEN_MS
      const count = last === undefined || isForgotten ? 1 : last.count + 1
      const step = { type: 'emptyShard', mismatch, count } as const
      return { state: { ...state, startOver: { kind: 'emptying' } }, effects: [], step }
    }
    case 'startedOver': {
      // Everything is read again, from another endpoint. The halt stays until the contract agrees.
      const fault: Rereading = { kind: 'denied', at: -1, to: -1, tries: 0 }
      const next = { ...state, fault, startOver: restingFrom(observation.atMs), failures: 0 }
      return waiting(next, { type: 'readCarefully', from: asBlockNumber(0), to: asBlockNumber(0) })
    }
    case 'startOverFailed':
      // That an endpoint does not answer proves nothing against what is stored.
      return notYet(state, observation.atMs)
  }
}

function contradicted(
  state: RecoveryState,
  observation: Extract<FailureObservation, { type: 'contradicted' }>,
): Reaction<FailureStep> {
  const { reason, error, isDenial, checkpoint, atMs } = observation
  const fault = triedAgain(state.fault, observation)
  // What a contract denies is being served already: the network must halt while it is read again.
  const isHalting = isDenial || fault.tries > TRIES_BEFORE_HALT
  const kind = state.halt.kind === 'haltedUntilHead' ? 'haltedUntilHead' : 'halted'
  const halt: Halt = isHalting ? { kind, reason } : state.halt
  const effects: Effect[] = isHalting ? [{ type: 'halt', reason, error }] : []
  const next: RecoveryState = { ...state, fault, halt }
  const mayStartOver = fault.tries > REWIND_BLOCKS.length && checkpoint !== undefined
  if (!mayStartOver || !isRested(state.startOver, atMs))
    return { state: next, effects, step: takeBack(fault) }
  effects.push(...beginOfWait(observation))
  if (!mayFollow(observation)) return { state: next, effects, step: takeBack(fault) }
  const startOver = { kind: 'comparingFinal', last: observation.startOvers } as const
  return { state: { ...next, startOver }, effects, step: { type: 'compareFinal' } }
}

/** One more try at the same place, or the first one at a place further up. */
function triedAgain(
  fault: Fault,
  { isDenial, checkpoint, to }: Extract<FailureObservation, { type: 'contradicted' }>,
): Rereading {
  const at = checkpoint ?? -1
  const before = isDenial ? FIRST_TRY_OF_DENIAL : 0
  const kind = isDenial ? 'denied' : 'rereading'
  if (fault.kind === 'none') return { kind, at, to, tries: before + 1 }
  if (at > fault.at) return { kind, at, to, tries: fault.tries + 1 }
  return { ...fault, tries: fault.tries + 1 }
}

function takeBack({ at, tries }: Rereading): FailureStep {
  return { type: 'takeBack', at, blocks: rewindBlocks(tries) }
}

/** How many blocks are taken back at most before the n-th try. */
export function rewindBlocks(nth: number): number {
  const before = nth - 1
  if (before >= FIRST_DEEP_REWIND_AGAIN && Number.isInteger(Math.log2(before)))
    return Number.POSITIVE_INFINITY
  return REWIND_BLOCKS[before] ?? 0
}

function waiting(state: RecoveryState, ...effects: readonly Effect[]): Reaction<FailureStep> {
  const failures = state.failures + 1
  const mostMs = longestWaitMs(RETRY, state.failures)
  return { state: { ...state, failures }, effects, step: { type: 'wait', mostMs, failures } }
}

/** There is no reason yet to start over. */
function notYet(state: RecoveryState, atMs: number): Reaction<FailureStep> {
  const next = { ...state, startOver: restingFrom(atMs) }
  if (state.fault.kind === 'none') return waiting(next)
  return { state: next, effects: [], step: takeBack(state.fault) }
}

function restingFrom(atMs: number): StartOverStage {
  return { kind: 'resting', notBeforeMs: atMs + SHORTEST_PERIOD_MS }
}

function isRested(startOver: StartOverStage, atMs: number): boolean {
  return startOver.kind !== 'resting' || atMs >= startOver.notBeforeMs
}

type StoredStartOvers = Pick<Extract<Observation, { type: 'audited' }>, 'unixMs' | 'startOvers'>

/** It is known now whether the last start over has helped: the wait until the next one begins, if it has not begun. */
function beginOfWait({ unixMs, startOvers: last }: StoredStartOvers): Effect[] {
  if (last === undefined || last.notBeforeMs !== undefined) return []
  const { count } = last
  return [{ type: 'noteStartOvers', startOvers: { count, notBeforeMs: unixMs + periodMs(count) } }]
}

/** Whether the wait after the last start over has ended. */
function mayFollow({ unixMs, startOvers: last }: StoredStartOvers): boolean {
  if (last === undefined) return true
  if (last.notBeforeMs === undefined) return false
  const waitMs = last.notBeforeMs - unixMs
  // A longer wait than the period means that the clock was wrong once: it must not hold this up.
  return waitMs <= 0 || waitMs > periodMs(last.count)
}

function periodMs(count: number): number {
  return Math.min(LONGEST_PERIOD_MS, SHORTEST_PERIOD_MS * 2 ** Math.min(count - 1, 20))
}

function reactToRecoveryFailure(state: RecoveryState, { reason, error }: RecoveryFailed): Reaction<Pause> {
  const step = { type: 'pause', ms: RECOVERY_PAUSE_MS } as const
  if (reason === undefined) return { state, effects: [], step }
  const kind = state.halt.kind === 'haltedUntilHead' ? 'haltedUntilHead' : 'halted'
  return { state: { ...state, halt: { kind, reason } }, effects: [{ type: 'halt', reason, error }], step }
}

function reactToJudgement(
  state: RecoveryState,
  { verdict, looks }: JudgementObservation,
): Reaction<JudgementStep> {
  const { contracts } = state
  const { moves, disputes } = differences(contracts)
  const then = (type: JudgementStep['type'], next: Contracts = contracts): Reaction<JudgementStep> => {
    return { state: { ...state, contracts: next }, effects: [], step: { type } }
  }
  switch (verdict) {
    case 'refuted':
      return then(looks < MOST_LOOKS ? 'compareAgain' : 'leaveOpen')
    case 'otherBlock':
      // Not when a difference is open already, nor when this came too often to be a reorg.
      if (contracts.kind === 'disputed' || moves >= MOST_MOVES) return then('leaveOpen')
      return then('lookAtChain', { kind: 'differing', moves: moves + 1, disputes })
    case 'open':
      return then('leaveOpen')
  }
}

function reactInAudit(state: RecoveryState, observation: AuditObservation): Reaction<AuditStep> {
  const { contracts, audits } = state
  const isDiffering = contracts.kind !== 'agreeing'
  const then = (step: AuditStep, changed: Partial<AuditSchedule> = {}): Reaction<AuditStep> => {
    return { state: { ...state, audits: { ...audits, ...changed } }, effects: [], step }
  }
  const claims = (block: number, changed: Partial<AuditSchedule> = {}): Reaction<AuditStep> => {
    const words = blocksSince(audits, block) * WORDS_PER_BLOCK
    return then({ type: 'compareClaims', words }, { ...changed, lastBlock: block })
  }
  switch (observation.type) {
    case 'storedWindow': {
      const windows = audits.windows + 1
      return then({ type: windows % WINDOWS_PER_AUDIT === 0 ? 'compareTrees' : 'nothing' }, { windows })
    }
    case 'reachedHead': {
      const { block, hasFreshClaims, atMs } = observation
      const isSoon = audits.hadEvents || blocksSince(audits, block) >= BLOCKS_PER_AUDIT
      const isDue = atMs - audits.lastMs >= (isSoon ? AUDIT_SOON_MS : AUDIT_EVERY_MS)
      if (isDiffering || isDue) return then({ type: 'compareTrees' }, { lastMs: atMs, hadEvents: false })
      return hasFreshClaims ? claims(block) : then({ type: 'nothing' })
    }
    case 'treesAgreed': {
      if (isDiffering) return then({ type: 'compareOthers' })
      const counted = { audits: audits.audits + 1 }
      const isWhole = audits.audits % AUDITS_PER_WHOLE === 0
      return isWhole ? then({ type: 'compareOthers' }, counted) : claims(observation.block, counted)
    }
    case 'othersAgreed':
      return claims(observation.block)
  }
}

function blocksSince({ lastBlock }: AuditSchedule, block: number): number {
  return block - (lastBlock ?? block)
}
