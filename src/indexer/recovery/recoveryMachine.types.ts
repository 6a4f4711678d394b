import type { HaltReason } from '../../board/haltReason.js'
import type { BlockNumber } from '../../protocol/units.js'
import type { StartOvers } from '../../shard/shardCommand.types.js'
import type { AuditMismatch, ComparedValue } from './comparedValue.js'

/** What is known against a network's blocks and its store, and what is being done about it. All of it is lost with the thread. */
export interface RecoveryState {
  readonly fault: Fault
  readonly halt: Halt
  readonly contracts: Contracts
  readonly startOver: StartOverStage
  readonly audits: AuditSchedule
  /** Failures in a row: each makes the next wait longer. */
  readonly failures: number
}

/** Data that contradict themselves, or that a contract denies: blocks are taken back and read again. */
export type Fault = { readonly kind: 'none' } | Rereading

export interface Rereading {
  /**
   * `rereading`: logs contradict each other; it is over once a block above `at` is stored. `denied`: the blocks fit, but the contract
   * has another value, so that only an audit can show that it is over.
   */
  readonly kind: 'rereading' | 'denied'
  /** The checkpoint when the contradiction was met; −1 in an empty shard. */
  readonly at: number
  /** The last block that may belong to the range that does not fit. */
  readonly to: number
  /** Tries so far. Recovery goes further down with each. */
  readonly tries: number
}

/**
 * `halted` ends with the next stored block, `haltedUntilHead` only when everything at the head was done: blocks can be read also while
 * no endpoint answers contract calls. A fault keeps either until the fault is over.
 */
export type Halt =
  | { readonly kind: 'none' }
  | { readonly kind: 'halted' | 'haltedUntilHead'; readonly reason: HaltReason }

/** What comparisons with the contracts have shown since all of them agreed last. */
export type Contracts =
  | { readonly kind: 'agreeing' }
  | ({ readonly kind: 'differing' } & Differences)
  /** A difference is proven, or nobody can decide it: nothing is ready until it is withdrawn. */
  | ({ readonly kind: 'disputed'; readonly difference: ComparedValue; readonly dueMs: number } & Differences)

interface Differences {
  /** How often a difference came from another branch. */
  readonly moves: number
  /** How often nobody could decide one. */
  readonly disputes: number
}

/** `emptying`: the contract denied a final block, and what is below the reach of undo. */
export type StartOverStage =
  | { readonly kind: 'resting'; readonly notBeforeMs: number }
  | { readonly kind: 'comparingFinal'; readonly last: StartOvers | undefined }
  | {
      readonly kind: 'comparingOldest'
      readonly last: StartOvers | undefined
      readonly mismatch: AuditMismatch
    }
  | { readonly kind: 'emptying' }

/** When comparisons were made. */
export interface AuditSchedule {
  /** Windows stored in backfill. */
  readonly windows: number
  /** Comparisons at the head. */
  readonly audits: number
  readonly lastMs: number
  readonly lastBlock: number | undefined
  /** Blocks with events were stored since the last comparison. */
  readonly hadEvents: boolean
}

/** What a comparison at the checkpoint found. `unanswered`: no endpoint answers. `unproven`: a contradiction stayed open. */
export type StoredState = 'same' | 'unanswered' | 'unproven' | AuditMismatch

/** How a difference was judged that is not proven. `otherBlock`: the endpoint has another block at that height. `open`: nobody can tell. */
export type Verdict = 'refuted' | 'otherBlock' | 'open'

/** What may be observed. Time and randomness come with it: the machine has no clock. */
export type Observation =
  | ProgressObservation
  | FailureObservation
  | RecoveryFailed
  | JudgementObservation
  | AuditObservation

/** Nothing needs to follow from these beyond their effects. */
export type ProgressObservation =
  /** A batch was stored up to `block`. */
  | { readonly type: 'stored'; readonly block: number }
  /** Blocks with events were stored at the head. */
  | { readonly type: 'storedEvents' }
  /** At the head, all that was due was compared and agreed. */
  | ({ readonly type: 'audited' } & StoredStartOvers)
  /** The comparison at the head has ended. */
  | {
      readonly type: 'lookedAtContracts'
      readonly block: number
      /** Every claim was compared since the start, or no endpoint can answer. */
      readonly areClaimsCompared: boolean
      /** All senders are known, and all settled roots searched for. */
      readonly isComplete: boolean
    }
  /** Everything was done at the head without a failure. */
  | { readonly type: 'idled' }
  /** A contract has another value than the store. `contradicted` follows. */
  | { readonly type: 'proven'; readonly difference: ComparedValue; readonly atMs: number }
  /** Nobody can decide a difference, or an endpoint failed while it was judged. @param random 0 ≤ value < 1. */
  | {
      readonly type: 'undecided'
      readonly difference: ComparedValue
      readonly atMs: number
      readonly random: number
    }
  /** What was disputed has been compared again, and agrees. */
  | { readonly type: 'withdrawn' }

interface StoredStartOvers {
  readonly unixMs: number
  /** As stored. */
  readonly startOvers: StartOvers | undefined
}

/** Failures, and the outcomes of the steps that follow from them. */
export type FailureObservation =
  | { readonly type: 'endpointFailed' }
  | { readonly type: 'failed'; readonly reason: HaltReason; readonly error: unknown }
  | ({
      readonly type: 'contradicted'
      readonly reason: HaltReason
      readonly error: unknown
      /** A contract contradicts what is stored; else logs contradict each other. */
      readonly isDenial: boolean
      readonly checkpoint: number | undefined
      /** The last block that may belong to the range that does not fit. */
      readonly to: number
      readonly atMs: number
    } & StoredStartOvers)
  /** @param from the first block to read again. */
  | { readonly type: 'tookBack'; readonly from: BlockNumber }
  | {
      readonly type: 'comparedFinal'
      readonly found: StoredState | 'outOfReach'
      readonly atMs: number
    }
  | {
      readonly type: 'comparedOldest'
      readonly found: StoredState
      readonly atMs: number
      readonly unixMs: number
    }
  | { readonly type: 'startedOver'; readonly atMs: number }
  /** A failure while starting over was decided or done. */
  | { readonly type: 'startOverFailed'; readonly atMs: number }

/** A step that follows from a failure has failed itself. @param reason undefined: another try may cure it. */
export interface RecoveryFailed {
  readonly type: 'recoveryFailed'
  readonly reason: HaltReason | undefined
  readonly error: unknown
}

export interface JudgementObservation {
  readonly type: 'judged'
  readonly verdict: Verdict
  /** How often this comparison was made in a row. */
  readonly looks: number
}

export type AuditObservation =
  /** A window was stored in backfill. */
  | { readonly type: 'storedWindow' }
  /** There is time for a comparison at the head, and nothing is disputed. */
  | {
      readonly type: 'reachedHead'
      readonly block: number
      readonly hasFreshClaims: boolean
      readonly atMs: number
    }
  | { readonly type: 'treesAgreed'; readonly block: number }
  | { readonly type: 'othersAgreed'; readonly block: number }

/** Done at once. */
export type Effect =
  | { readonly type: 'halt'; readonly reason: HaltReason; readonly error: unknown }
  | { readonly type: 'resume' }
  | { readonly type: 'noteCatchingUp'; readonly isCatchingUp: boolean }
  | { readonly type: 'tellCaughtUp'; readonly block: number }
  | { readonly type: 'tellDispute'; readonly what: string; readonly disputes: number }
  | { readonly type: 'noteStartOvers'; readonly startOvers: StartOvers }
  | { readonly type: 'readCarefully'; readonly from: BlockNumber; readonly to: BlockNumber }

/** What to do next. Its outcome is the next observation. */
export type Step = FailureStep | Pause | JudgementStep | AuditStep

export type FailureStep =
  /** Take back the blocks above `at - blocks`, or as many as undo allows. */
  | { readonly type: 'takeBack'; readonly at: number; readonly blocks: number }
  /** Go back to the newest final block, and compare everything there. */
  | { readonly type: 'compareFinal' }
  /** Go back as far as undo reaches, and compare everything there. */
  | { readonly type: 'compareOldest' }
  | { readonly type: 'emptyShard'; readonly mismatch: AuditMismatch; readonly count: number }
  /** Wait at most so long, and go on. */
  | { readonly type: 'wait'; readonly mostMs: number; readonly failures: number }

/** Wait so long, and go on. */
export interface Pause {
  readonly type: 'pause'
  readonly ms: number
}

export type JudgementStep =
  | { readonly type: 'compareAgain' }
  /** `undecided` follows. */
  | { readonly type: 'leaveOpen' }
  /** Look at the head first: after a reorg, nothing need be held up. */
  | { readonly type: 'lookAtChain' }

export type AuditStep =
  | { readonly type: 'nothing' }
  | { readonly type: 'compareTrees' }
  /** Compare what hardly ever changes. */
  | { readonly type: 'compareOthers' }
  /** @param words how many words of claims, if each is a call. */
  | { readonly type: 'compareClaims'; readonly words: number }

/** @template S the steps that may follow. */
export interface Reaction<S> {
  readonly state: RecoveryState
  readonly effects: readonly Effect[]
  readonly step: S
}
