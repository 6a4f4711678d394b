import type { ApiErrorCode, Bridge } from './wireDefinition.js'

/**
 * All that a client throws by itself. A call that is aborted throws its signal's reason, and a mistake in the options is a TypeError.
 * No error carries a URL, a header or the error of `fetch`, which names URLs in some runtimes: keys may stand in them.
 */
export abstract class BridgeClientError extends Error {
  abstract readonly code: string
  /** When to ask again, as the service told it in `Retry-After`; undefined where it did not. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** What is known of an answer besides its body. */
export interface AnswerFacts {
  readonly status: number
  /** Requests that were made for this answer. */
  readonly attempts: number
  /** What `Retry-After` asked for. */
  readonly retryAfterMs: number | undefined
}

/** The service answered with an error of its interface. */
export class BridgeApiError extends BridgeClientError {
  override readonly name = 'BridgeApiError'
  readonly code: ApiErrorCode
  readonly status: number
  readonly attempts: number

  constructor(code: ApiErrorCode, message: string, { status, attempts, retryAfterMs }: AnswerFacts) {
    super(`${code}: ${message}`, retryAfterMs)
    this.code = code
    this.status = status
    this.attempts = attempts
  }
}

/**
 * Something answered, but not as this API does: `NOT_JSON` for a page of a proxy or a body that was cut, `UNKNOWN_ERROR` for a status that is
 * no success without an error of the interface, `WRONG_SHAPE` for JSON without the fields of the answer, as of an older service.
 */
export class BridgeResponseError extends BridgeClientError {
  override readonly name = 'BridgeResponseError'
  readonly code: 'NOT_JSON' | 'UNKNOWN_ERROR' | 'WRONG_SHAPE'
  readonly status: number
  readonly attempts: number

  constructor(
    code: BridgeResponseError['code'],
    message: string,
    { status, attempts, retryAfterMs }: AnswerFacts,
  ) {
    super(message, retryAfterMs)
    this.code = code
    this.status = status
    this.attempts = attempts
  }
}

/** Nothing answered: no connection, one that broke before the answer was whole, or none in time. */
export class BridgeNetworkError extends BridgeClientError {
  override readonly name = 'BridgeNetworkError'
  readonly code: 'CONNECTION_FAILED' | 'TIMEOUT'
  readonly attempts: number
  /** What the runtime calls the failure, as `ECONNREFUSED`; undefined where it has no such code. */
  readonly systemCode: string | undefined

  constructor(
    code: BridgeNetworkError['code'],
    message: string,
    attempts: number,
    systemCode: string | undefined,
  ) {
    super(message)
    this.code = code
    this.attempts = attempts
    this.systemCode = systemCode
  }
}

/** A wait of hours outlives an outage of minutes: only what asking again can't cure ends it. */
export function mayPass(error: unknown): error is BridgeClientError {
  if (error instanceof BridgeNetworkError) return true
  const hasStatus = error instanceof BridgeApiError || error instanceof BridgeResponseError
  return hasStatus && (error.status === 429 || error.status > 500)
}

/** A reorg took back rows that an iterator has given, and it may not start again: no `onRestart`, or too many times. */
export class BridgeRestartError extends BridgeClientError {
  override readonly name = 'BridgeRestartError'
  readonly code = 'LIST_REPLACED'
  /** Rows given since the last start. They are not all in the list any more. */
  readonly given: number
  override readonly cause: BridgeApiError

  constructor(message: string, given: number, cause: BridgeApiError) {
    super(message)
    this.given = given
    this.cause = cause
  }
}

const NOT_CLAIMABLE = {
  ALREADY_CLAIMED: 'it is claimed',
  BLOCKED: 'a claim of an older deposit with its count stands in its way for good',
  REPLACED: 'a reorg has put another bridge in its place',
  DESTINATION_NOT_SERVED: 'this service does not index its destination network',
} as const

/** Waiting for this bridge is no use. */
export class NotClaimableError extends BridgeClientError {
  override readonly name = 'NotClaimableError'
  readonly code: keyof typeof NOT_CLAIMABLE
  /** What the service has under this deposit count. */
  readonly bridge: Bridge

  constructor(code: NotClaimableError['code'], bridge: Bridge) {
    super(`deposit ${bridge.depositCount} of network ${bridge.originNetwork}: ${NOT_CLAIMABLE[code]}`)
    this.code = code
    this.bridge = bridge
  }
}
