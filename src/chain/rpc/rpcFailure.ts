/** What a provider said when a call failed. Kept apart from the error's message, because that one may be logged. */
export interface ProviderWords {
  /** The method of the call; undefined for a batch, or when nothing came back. */
  readonly method?: string
  /** HTTP status of the reply; undefined when there was none. */
  readonly status?: number
  /** JSON-RPC error code. */
  readonly code?: number
  /** JSON-RPC message and data, or the body of an HTTP error. May be logged at level debug only. */
  readonly text: string
  /** The `data` of a JSON-RPC error, as sent. */
  readonly data?: unknown
}

/**
 * - `rpc`: a JSON-RPC error: the endpoint works, and refuses this call.
 * - `http`: an HTTP error without JSON-RPC inside.
 * - `rateLimit`: the endpoint asked to slow down, in whatever form.
 * - `timeout`, `network`: no reply in time, no connection.
 * - `body`: a reply that is too long, cut, no JSON, or contradicts itself.
 * - `behind`: the endpoint does not know a block that exists.
 * - `gone`: the endpoint no longer keeps what the call needs.
 * - `tooMuch`: the answer is too long, and the call can't be made smaller.
 */
export type RpcFailureKind =
  | 'rpc'
  | 'http'
  | 'rateLimit'
  | 'timeout'
  | 'network'
  | 'body'
  | 'behind'
  | 'gone'
  | 'tooMuch'

/**
 * One failed call. The message has the alias, the method and what failed, but no URL and no words of the provider: it may be
 * logged.
 */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly kind: RpcFailureKind
  readonly retryAfterMs: number | undefined
  readonly #words: ProviderWords

  constructor(
    kind: RpcFailureKind,
    message: string,
    words: ProviderWords = { text: '' },
    retryAfterMs?: number,
  ) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
    this.#words = words
  }

  /** A method, not a field, so that nothing that serialises errors finds it. */
  providerWords(): ProviderWords {
    return this.#words
  }
}

const UNSUPPORTED_TEXT =
  /method.{0,60}(not (found|available|exist|supported|allowed|whitelisted|enabled)|does not exist|is (un|not )(supported|available)|disabled)|unsupported method|not supported|unknown method/i

/** The endpoint does not offer the method at all, now or later. */
export function isMethodMissing(failure: RpcFailure): boolean {
  if (failure.kind !== 'rpc' && failure.kind !== 'http') return false
  const { code, text, status } = failure.providerWords()
  return code === -32601 || code === -32004 || status === 405 || UNSUPPORTED_TEXT.test(text)
}

/** Client errors that mean something else than "this call is not understood". */
const OTHER_STATUSES: ReadonlySet<number> = new Set([408, 413, 429])

/** The endpoint does not understand a call of this form: no such method, wrong parameters, or an HTTP status that says so. */
export function isNotUnderstood(failure: RpcFailure): boolean {
  const { code, status = 0 } = failure.providerWords()
  if (isMethodMissing(failure)) return true
  if (failure.kind !== 'http') return failure.kind === 'rpc' && code === -32602
  return status === 501 || (status >= 400 && status <= 499 && !OTHER_STATUSES.has(status))
}

const STATE_GONE_TEXT =
  /missing ?trie ?node|no state available|state (is )?not available|state.{0,40}(pruned|unavailable)|pruned|historical state|required historical|history.{0,30}(unavailable|expired)|ancient|archive (node|data|request)|distance to target block exceeds/i

/** The endpoint no longer keeps what a call at an old block needs. */
export function isHistoryGone(failure: RpcFailure): boolean {
  const { code, text } = failure.providerWords()
  return failure.kind === 'rpc' && (code === 4444 || STATE_GONE_TEXT.test(text))
}

/** The endpoint does not know the block. Some nodes say so by an error, instead of answering null. */
export function isUnknownBlock(failure: RpcFailure): boolean {
  const { code, text } = failure.providerWords()
  return (
    failure.kind === 'rpc' && (code === -39001 || /(block|header).{0,20}not found|unknown block/i.test(text))
  )
}

/** The endpoint does not know a transaction, or not yet. */
export function isUnknownTransaction(failure: RpcFailure): boolean {
  return failure.kind === 'rpc' && /transaction.{0,20}not found/i.test(failure.providerWords().text)
}

/** The call reverted: the contract ran, and refused. */
export function isRevert(failure: RpcFailure): boolean {
  const { code, text } = failure.providerWords()
  return failure.kind === 'rpc' && (code === 3 || /revert|invalid opcode|out of gas|VM execution/i.test(text))
}
