/**
 * Answers that are not a success: expected outcomes of a request. They cross threads as data, never as thrown errors.
 * The text is built in one place (`api/errorTable.ts`) from `details`.
 */
export type AnswerCode =
  | 'INVALID_NETWORK_ID'
  | 'INVALID_PARAMETER'
  | 'BRIDGE_NOT_FOUND'
  | 'PROOF_NOT_AVAILABLE'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'POSITION_GONE'
  | 'URI_TOO_LONG'
  | 'UPGRADE_REQUIRED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'

/** A failed answer. `message` names fact, value and limit; `retryAfterSec` only where waiting helps. */
export interface Failure {
  readonly ok: false
  readonly code: AnswerCode
  readonly message: string
  readonly retryAfterSec?: number
  /** What the request has to wait for, where other services have a text of their own for it: their clients look for that. */
  readonly lacking?: 'l1_info_leaf' | 'global_exit_root' | 'destination'
}

/** A successful answer. */
export interface Success<T> {
  readonly ok: true
  readonly value: T
}

export type Answer<T> = Success<T> | Failure

export function success<T>(value: T): Success<T> {
  return { ok: true, value }
}

export function failure(code: AnswerCode, message: string, retryAfterSec?: number): Failure {
  return retryAfterSec === undefined
    ? { ok: false, code, message }
    : { ok: false, code, message, retryAfterSec }
}
