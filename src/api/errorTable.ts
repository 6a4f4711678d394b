import type { AnswerCode } from '../query/answers.js'

export interface ErrorRow {
  readonly status: number
  /** When the answer is given, and what the caller should do: docs/api.md shows this text. */
  readonly meaning: string
  /** True where the same request may succeed later without a change. */
  readonly waitingHelps: boolean
}

/**
 * Every error code and its HTTP status. The API's specification names four of the codes and no status: the statuses are our choice,
 * made only here.
 */
export const errorTable: { readonly [Code in AnswerCode]: ErrorRow } = {
  INVALID_NETWORK_ID: {
    status: 400,
    meaning:
      'The network id is well-formed but not served. `supported_networks` of the health check lists them.',
    waitingHelps: false,
  },
  INVALID_PARAMETER: {
    status: 400,
    meaning:
      'A parameter is missing, malformed, repeated or out of range. The message names it, its value and the limit.',
    waitingHelps: false,
  },
  BRIDGE_NOT_FOUND: {
    status: 404,
    meaning: 'This deposit is not indexed (yet). Wait for indexing to complete.',
    waitingHelps: true,
  },
  PROOF_NOT_AVAILABLE: {
    status: 404,
    meaning:
      'Not covered, not final, not injected at the destination, or `leaf_index` is too small or beyond the tip. Wait for L1 confirmation where `Retry-After` is set.',
    waitingHelps: true,
  },
  NOT_FOUND: { status: 404, meaning: 'Unknown route.', waitingHelps: false },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'Only the methods in `Allow` are served.',
    waitingHelps: false,
  },
  POSITION_GONE: {
    status: 410,
    meaning:
      'Events behind this position are not kept any more, or the feed is another one. The message names the oldest and the current position. Read the lists, and go on from their `X-Feed-Position`.',
    waitingHelps: false,
  },
  URI_TOO_LONG: { status: 414, meaning: 'The URL is longer than `http.max_url_bytes`.', waitingHelps: false },
  UPGRADE_REQUIRED: {
    status: 426,
    meaning:
      'Only WebSockets are served here, and the request asks for none, or not as RFC 6455 has it. The message names what is wrong.',
    waitingHelps: false,
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning: 'Too many requests. Back off and retry after `Retry-After` seconds.',
    waitingHelps: true,
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'A bug of ours; logged with the id in `X-Request-Id`.',
    waitingHelps: false,
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'Overload, draining, or a halted network. Retry after `Retry-After` seconds.',
    waitingHelps: true,
  },
  DEADLINE_EXCEEDED: {
    status: 504,
    meaning: 'The request took longer than its deadline. Retry.',
    waitingHelps: true,
  },
}
