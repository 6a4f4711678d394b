import { AuditMismatch, type ComparedValue } from '../../../../src/indexer/recovery/comparedValue.js'
import { initialState } from '../../../../src/indexer/recovery/recoveryMachine.js'
import type {
  AuditSchedule,
  Contracts,
  Fault,
  Halt,
  Observation,
  RecoveryState,
  StartOverStage,
} from '../../../../src/indexer/recovery/recoveryMachine.types.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'

/** The time of every observation, and the checkpoint in every state. */
const NOW_MS = 1_000_000
const BLOCK = 100

const difference: ComparedValue = {
  what: 'deposits',
  reason: 'missing_log',
  ours: () => 1,
  ask: async () => 2,
}
const mismatch = new AuditMismatch('missing_log', 'the contract has 2, indexed 1')
const error = new Error('a gap')

/** Parts of the state, and what is to be told apart in each. The audits' schedule only decides; it is never what follows. */
export const parts = ['fault', 'halt', 'contracts', 'startOver', 'audits'] as const
export type Part = (typeof parts)[number]
export type Kinds = Readonly<Record<Part, string>>

const faults: Readonly<Record<string, readonly Fault[]>> = {
  none: [{ kind: 'none' }],
  rereading: [1, 4].map((tries) => ({ kind: 'rereading', at: BLOCK, to: BLOCK + 9, tries })),
  'rereading, five tries': [5, 8].map((tries) => ({ kind: 'rereading', at: BLOCK, to: BLOCK + 9, tries })),
  denied: [0, 3].map((tries) => ({ kind: 'denied', at: BLOCK, to: BLOCK + 9, tries })),
  'denied, five tries': [5, 8].map((tries) => ({ kind: 'denied', at: BLOCK, to: BLOCK + 9, tries })),
}

const halts: Readonly<Record<string, readonly Halt[]>> = {
  none: [{ kind: 'none' }],
  halted: [{ kind: 'halted', reason: 'missing_log' }],
  'halted until the head': [{ kind: 'haltedUntilHead', reason: 'state_unavailable' }],
}

const contracts: Readonly<Record<string, readonly Contracts[]>> = {
  agreeing: [{ kind: 'agreeing' }],
  differing: [0, 4].map((moves) => ({ kind: 'differing', moves, disputes: 1 })),
  'differing, five moves': [{ kind: 'differing', moves: 5, disputes: 0 }],
  disputed: [0, 5].map((moves) => ({ kind: 'disputed', moves, disputes: 1, difference, dueMs: NOW_MS })),
}

const startOvers: Readonly<Record<string, readonly StartOverStage[]>> = {
  resting: [{ kind: 'resting', notBeforeMs: NOW_MS + 1 }],
  rested: [Number.NEGATIVE_INFINITY, NOW_MS].map((notBeforeMs) => ({ kind: 'resting', notBeforeMs })),
  'comparing final': [{ kind: 'comparingFinal', last: undefined }],
  'comparing oldest': [
    { kind: 'comparingOldest', last: undefined, mismatch },
    { kind: 'comparingOldest', last: { count: 2, notBeforeMs: NOW_MS - 1 }, mismatch },
  ],
  emptying: [{ kind: 'emptying' }],
}

const schedules: Readonly<Record<string, readonly AuditSchedule[]>> = {
  due: [
    { windows: 15, audits: 0, lastMs: Number.NEGATIVE_INFINITY, lastBlock: undefined, hadEvents: false },
    { windows: 31, audits: 5, lastMs: NOW_MS - 40_000, lastBlock: BLOCK - 20, hadEvents: false },
    { windows: 31, audits: 5, lastMs: NOW_MS - 40_000, lastBlock: BLOCK, hadEvents: true },
    { windows: 31, audits: 5, lastMs: NOW_MS - 120_000, lastBlock: BLOCK, hadEvents: false },
  ],
  'not due': [
    { windows: 16, audits: 6, lastMs: NOW_MS - 39_999, lastBlock: BLOCK - 20, hadEvents: true },
    { windows: 0, audits: 1, lastMs: NOW_MS - 119_999, lastBlock: BLOCK - 19, hadEvents: false },
  ],
}

/** What may be observed, in words; for each type there is at least one case. */
export const observations: Readonly<Record<string, Observation>> = {
  'blocks were stored above the place of the fault': { type: 'stored', block: BLOCK + 1 },
  'blocks were stored, not above it': { type: 'stored', block: BLOCK },
  'blocks with events were stored at the head': { type: 'storedEvents' },
  'all that was due at the head was compared and agrees': {
    type: 'audited',
    unixMs: NOW_MS,
    startOvers: undefined,
  },
  'the same, and the outcome of the last start over was not known': {
    type: 'audited',
    unixMs: NOW_MS,
    startOvers: { count: 1, notBeforeMs: undefined },
  },
  'the comparison at the head ended, some claims were never compared': {
    type: 'lookedAtContracts',
    block: BLOCK,
    areClaimsCompared: false,
    isComplete: true,
  },
  'the same, all claims were compared': {
    type: 'lookedAtContracts',
    block: BLOCK,
    areClaimsCompared: true,
    isComplete: false,
  },
  'the same, and senders and settled roots are complete': {
    type: 'lookedAtContracts',
    block: BLOCK,
    areClaimsCompared: true,
    isComplete: true,
  },
  'everything was done at the head without a failure': { type: 'idled' },
  'a difference is proven': { type: 'proven', difference, atMs: NOW_MS },
  'nobody can decide a difference': { type: 'undecided', difference, atMs: NOW_MS, random: 0.5 },
  'what was disputed was compared again and agrees': { type: 'withdrawn' },
  'a difference was refuted': { type: 'judged', verdict: 'refuted', looks: 4 },
  'a difference was refuted for the fifth time in a row': { type: 'judged', verdict: 'refuted', looks: 5 },
  'a difference is of another block': { type: 'judged', verdict: 'otherBlock', looks: 1 },
  'a difference is open': { type: 'judged', verdict: 'open', looks: 1 },
  'a window was stored in backfill': { type: 'storedWindow' },
  'there is time at the head, some claims were never compared': {
    type: 'reachedHead',
    block: BLOCK,
    hasFreshClaims: true,
    atMs: NOW_MS,
  },
  'there is time at the head, all claims were compared': {
    type: 'reachedHead',
    block: BLOCK,
    hasFreshClaims: false,
    atMs: NOW_MS,
  },
  'counts and roots were compared, none is disputed': { type: 'treesAgreed', block: BLOCK },
  'what hardly ever changes was compared, nothing is disputed': { type: 'othersAgreed', block: BLOCK },
  'an endpoint failed': { type: 'endpointFailed' },
  'no endpoint answers contract calls (`state_unavailable`)': {
    type: 'failed',
    reason: 'state_unavailable',
    error,
  },
  'another failure': { type: 'failed', reason: 'disk_full', error },
  'logs contradict each other': contradicted({}),
  'logs contradict each other, above the place of the fault': contradicted({ checkpoint: BLOCK + 1 }),
  'logs contradict each other in an empty shard': contradicted({ checkpoint: undefined }),
  'a contract denies what is stored': contradicted({ isDenial: true }),
  'a contract denies what is stored, above the place of the fault': contradicted({
    isDenial: true,
    checkpoint: BLOCK + 1,
  }),
  'logs contradict each other, and the outcome of the last start over was not known': contradicted({
    startOvers: { count: 1, notBeforeMs: undefined },
  }),
  'logs contradict each other within the wait after the last start over': contradicted({
    startOvers: { count: 2, notBeforeMs: NOW_MS + 1 },
  }),
  'blocks were taken back': { type: 'tookBack', from: asBlockNumber(BLOCK - 10) },
  'the newest final block is out of reach': { type: 'comparedFinal', found: 'outOfReach', atMs: NOW_MS },
  'all agrees at the newest final block': { type: 'comparedFinal', found: 'same', atMs: NOW_MS },
  'no endpoint answers at the newest final block': {
    type: 'comparedFinal',
    found: 'unanswered',
    atMs: NOW_MS,
  },
  'a difference stayed open at the newest final block': {
    type: 'comparedFinal',
    found: 'unproven',
    atMs: NOW_MS,
  },
  'a contract denies the newest final block': { type: 'comparedFinal', found: mismatch, atMs: NOW_MS },
  'all agrees at the oldest block that undo reaches': comparedOldest('same'),
  'a difference stayed open at the oldest block': comparedOldest('unproven'),
  'no endpoint has the state of the oldest block': comparedOldest('unanswered'),
  'a contract denies the oldest block': comparedOldest(mismatch),
  'the shard was emptied': { type: 'startedOver', atMs: NOW_MS },
  'a failure while starting over was decided or done': { type: 'startOverFailed', atMs: NOW_MS },
  'an endpoint failed during recovery': { type: 'recoveryFailed', reason: undefined, error },
  'recovery failed otherwise': { type: 'recoveryFailed', reason: 'disk_full', error },
}

type Contradicted = Extract<Observation, { type: 'contradicted' }>

function contradicted(special: Partial<Contradicted>): Contradicted {
  return {
    type: 'contradicted',
    reason: 'deposit_count_gap',
    error,
    isDenial: false,
    checkpoint: BLOCK,
    to: BLOCK + 9,
    atMs: NOW_MS,
    unixMs: NOW_MS,
    startOvers: undefined,
    ...special,
  }
}

function comparedOldest(found: Extract<Observation, { type: 'comparedOldest' }>['found']): Observation {
  return { type: 'comparedOldest', found, atMs: NOW_MS, unixMs: NOW_MS }
}

/**
 * Whether an observation can come in a state. While starting over is decided, only comparisons are made, and their outcomes come at
 * no other time. What a contract denies is halted.
 */
export function isAwaited(
  { fault, halt, contracts: compared, startOver }: RecoveryState,
  { type }: Observation,
): boolean {
  if (fault.kind === 'denied' && halt.kind === 'none') return false
  const isDeciding = startOver.kind !== 'resting'
  if (isDeciding && (fault.kind === 'none' || fault.tries <= 5 || halt.kind === 'none')) return false
  switch (type) {
    case 'comparedFinal':
      return startOver.kind === 'comparingFinal'
    case 'comparedOldest':
      return startOver.kind === 'comparingOldest'
    case 'startedOver':
      return startOver.kind === 'emptying'
    case 'startOverFailed':
      return isDeciding
    case 'proven':
    case 'undecided':
    case 'judged':
      return startOver.kind !== 'emptying'
    case 'reachedHead':
    case 'treesAgreed':
    case 'othersAgreed':
    case 'audited':
      return !isDeciding && compared.kind !== 'disputed'
    case 'withdrawn':
      return !isDeciding && compared.kind === 'disputed'
    case 'tookBack':
      return !isDeciding && fault.kind !== 'none'
    default:
      return !isDeciding
  }
}

/** Every combination of kinds, with each example of each kind. */
export function everyState(): { readonly kinds: Kinds; readonly state: RecoveryState }[] {
  return entriesOf(faults).flatMap(([faultKind, fault]) =>
    entriesOf(halts).flatMap(([haltKind, halt]) =>
      entriesOf(contracts).flatMap(([contractsKind, each]) =>
        entriesOf(startOvers).flatMap(([stage, startOver]) =>
          entriesOf(schedules).map(([schedule, audits]) => ({
            kinds: {
              fault: faultKind,
              halt: haltKind,
              contracts: contractsKind,
              startOver: stage,
              audits: schedule,
            },
            state: { ...initialState, fault, halt, contracts: each, startOver, audits },
          })),
        ),
      ),
    ),
  )
}

function entriesOf<T>(examples: Readonly<Record<string, readonly T[]>>): [string, T][] {
  return Object.entries(examples).flatMap(([kind, all]) => all.map((one): [string, T] => [kind, one]))
}

/** The kinds of a state's parts; the schedule's is not told. */
export function classify({
  fault,
  halt,
  contracts: compared,
  startOver,
}: RecoveryState): Omit<Kinds, 'audits'> {
  const tried = fault.kind !== 'none' && fault.tries >= 5 ? ', five tries' : ''
  const moved = compared.kind === 'differing' && compared.moves >= 5 ? ', five moves' : ''
  return {
    fault: fault.kind + tried,
    halt: halt.kind === 'haltedUntilHead' ? 'halted until the head' : halt.kind,
    contracts: compared.kind + moved,
    startOver:
      startOver.kind === 'resting' && startOver.notBeforeMs <= NOW_MS
        ? 'rested'
        : startOver.kind.replace(/([A-Z])/, (letter) => ` ${letter.toLowerCase()}`),
  }
}
