import { unixMs } from '../../telemetry/clocks.js'
import {
  BodyTooLong,
  createHttpPost,
  type HttpAnswer,
  type HttpPostOptions,
  HttpTimeout,
} from './httpPost.js'
import { type LogReader, parseReplies } from './parseReplies.js'
import { isRateLimitText } from './rangeErrors.js'
import { UnreadableCoding } from './replyCoding.js'
import { HeavyText, MOST_LOGS_BYTES, parseJson, textOf } from './replyText.js'
import { type ProviderWords, RpcFailure, type RpcFailureKind } from './rpcFailure.js'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly failure: RpcFailure }

/** Sends one HTTP request per call or batch, limited in time and size, without retries. Its errors hold no URL. */
export interface RpcTransport {
  /** @throws RpcFailure, or the signal's reason. */
  request(call: RpcCall, signal: AbortSignal): Promise<unknown>
  /**
   * Sends all calls in one request. @returns outcomes in the order of the calls, matched by id.
   * @throws RpcFailure when the batch as a whole failed.
   */
  requestBatch(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]>
}

export interface RpcTransportOptions extends HttpPostOptions {
  readonly alias: string
  /** Opens the HTTP connection; tests pass another one. */
  readonly openPost?: typeof createHttpPost
  /** Reads long lists of logs. Without it they are parsed as JSON. */
  readonly logs?: LogReader | undefined
}

/** A longer Retry-After is cut to this. */
const RETRY_AFTER_CAP_MS = 15 * 60_000

interface Reply {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?:
    | { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown }
    | string
    | null
}

interface RpcBody {
  readonly jsonrpc: string
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** The words for an answer that we don't read to its end, as a provider would say it: logs are asked for in smaller windows then. */
const TOO_LARGE: ProviderWords = { text: 'response too large' }

/** Shorter answers are parsed as JSON: packing logs pays only in backfill. */
const SCANNED_BYTES = 16_384

/** Of an answer with a bad status: an error says less. */
const MOST_ERROR_BYTES = 2 ** 20

/** Methods whose answers may be as long as `rpc_max_response_bytes`. */
const LONG_ANSWERS: ReadonlySet<string> = new Set([
  'eth_getLogs',
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
  'eth_getTransactionByHash',
  'debug_traceTransaction',
])
/** Any other's are short: a head with the hashes of 50,000 transactions has less. */
const SHORT_ANSWER_BYTES = 4 * 1024 ** 2

/** A block with its transactions is as long as their calldata. */
const isLongAnswer = ({ method, params }: RpcBody): boolean =>
  LONG_ANSWERS.has(method) || (method === 'eth_getBlockByNumber' && params[1] === true)

/** Longest answer that is read. */
function maxBytesOf(body: RpcBody | readonly RpcBody[], maxBodyBytes: number): number {
  const calls = 'method' in body ? [body] : body
  if (calls.some(isLongAnswer)) return maxBodyBytes
  return Math.min(maxBodyBytes, SHORT_ANSWER_BYTES * calls.length)
}

function asksForLogs(body: RpcBody | readonly RpcBody[]): boolean {
  return 'method' in body
    ? body.method === 'eth_getLogs'
    : body.some(({ method }) => method === 'eth_getLogs')
}

/** JSON-RPC over `createHttpPost`. */
export function createRpcTransport(options: RpcTransportOptions): RpcTransport {
  const { alias, openPost = createHttpPost, logs } = options
  const send = openPost(options)
  let lastId = 0

  /** @returns the parsed answer. */
  async function post(
    body: RpcBody | readonly RpcBody[],
    what: string,
    signal: AbortSignal,
  ): Promise<unknown> {
    let answer: HttpAnswer
    try {
      answer = await send(JSON.stringify(body), signal, maxBytesOf(body, options.maxBodyBytes))
    } catch (error) {
      signal.throwIfAborted()
      throw connectionFailure(error, alias, what)
    }
    try {
      return parseAnswer(answer, body, what)
    } finally {
      answer.release?.()
    }
  }

  function parseAnswer(answer: HttpAnswer, body: RpcBody | readonly RpcBody[], what: string): unknown {
    const bytes = withoutMark(answer.body)
    if (answer.status < 200 || answer.status > 299) {
      const method = 'method' in body ? body.method : undefined
      const moved = whereMoved(answer, options.url)
      throw statusFailure(
        { ...answer, body: bytes.subarray(0, MOST_ERROR_BYTES) },
        method,
        `${alias}: ${what} failed${moved}`,
      )
    }
    const isOfLogs = asksForLogs(body)
    const isLong = bytes.length > SCANNED_BYTES
    const scanned = isLong && logs !== undefined && isOfLogs && parseReplies(bytes, logs)
    if (scanned) return scanned
    try {
      return parseJson(bytes, isOfLogs && logs !== undefined ? MOST_LOGS_BYTES : undefined)
    } catch (error) {
      const fault = error instanceof HeavyText ? 'has too many or too deep values' : 'is not complete JSON'
      const words = error instanceof HeavyText ? TOO_LARGE : undefined
      throw new RpcFailure('body', `${alias}: the answer to ${what} ${fault}`, words)
    }
  }

  const bodyOf = (call: RpcCall): RpcBody => ({
    jsonrpc: '2.0',
    id: ++lastId,
    method: call.method,
    params: call.params,
  })

  return {
    async request(call, signal) {
      const reply = await post(bodyOf(call), call.method, signal)
      const outcome = outcomeOf(reply, alias, call.method)
      if (outcome.ok) return outcome.result
      throw outcome.failure
    },
    async requestBatch(calls, signal) {
      const bodies = calls.map(bodyOf)
      const answer = await post(bodies, `batch of ${calls.length}`, signal)
      // A refused batch is answered by one error for all calls, bare or in a list.
      const replies: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
      const [first] = replies
      if (replies.length === 1 && calls.length > 1 && isBareError(first))
        throw failureOf(errorWords(first.error), `${alias}: batch of ${calls.length} failed`)
      if (!Array.isArray(answer))
        throw new RpcFailure('body', `${alias}: the answer to a batch is not a list`)
      const byId = new Map<string, unknown>()
      for (const reply of replies) {
        const id = idOf(reply)
        if (id !== undefined) byId.set(id, reply)
      }
      return calls.map((call, index) => {
        const reply = byId.get(String(bodies[index]!.id))
        if (reply !== undefined) return outcomeOf(reply, alias, call.method)
        return {
          ok: false,
          failure: new RpcFailure('body', `${alias}: ${call.method} is missing in a batch reply`),
        }
      })
    },
  }
}

/** Some servers put a byte order mark before the JSON. */
function withoutMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
}

/**
 * The part of the message that names a redirect. It is not followed: the request may hold a key, and the target may be a login
 * page. Only the target's host is named, because its path may hold a key.
 */
function whereMoved({ status, headers }: HttpAnswer, url: string): string {
  const { location } = headers
  if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, url)) return ''
  const [to, from] = [new URL(location, url), new URL(url)]
  const scheme = to.protocol.replace(':', '')
  if (to.host !== from.host) return `, it is redirected to host ${to.host} (${scheme})`
  return to.protocol === from.protocol
    ? ', it is redirected to another path of the same host'
    : `, it is redirected to ${scheme}`
}

/** Some endpoints return ids as texts. Anything else can't be one of ours, and may be an object that is no text. */
function idOf(reply: unknown): string | undefined {
  const { id } = (typeof reply === 'object' && reply !== null ? reply : {}) as Reply
  return typeof id === 'number' || typeof id === 'string' ? String(id) : undefined
}

function outcomeOf(reply: unknown, alias: string, method: string): RpcOutcome {
  const { error, result } = (typeof reply === 'object' && reply !== null ? reply : {}) as Reply
  const isRefused = error !== undefined && error !== null && !(result !== undefined && isEmpty(error))
  if (isRefused)
    return { ok: false, failure: failureOf(errorWords(error, method), `${alias}: ${method} failed`) }
  if (result === undefined)
    return { ok: false, failure: new RpcFailure('body', `${alias}: ${method} was answered without a result`) }
  return { ok: true, result }
}

/** Some endpoints send an empty error beside a result. */
function isEmpty(error: NonNullable<Reply['error']>): boolean {
  return typeof error === 'object' ? !error.code && !error.message : !error
}

/** The provider's words in a JSON-RPC error; some endpoints send a bare text in place of one. */
function errorWords(error: NonNullable<Reply['error']> | string, method?: string): ProviderWords {
  if (typeof error === 'string') return wordsOf(method, undefined, error, undefined)
  return wordsOf(method, error.code, error.message, error.data)
}

function wordsOf(
  method: string | undefined,
  code: unknown,
  message: unknown,
  data: unknown,
  status?: number,
): ProviderWords {
  const dataText = data === undefined || data === null ? '' : ` ${textOfValue(data)}`
  return {
    ...(method === undefined ? {} : { method }),
    ...(status === undefined ? {} : { status }),
    ...(typeof code === 'number' ? { code } : {}),
    text: shortened(`${typeof message === 'string' ? message : ''}${dataText}`),
    ...(data === undefined ? {} : { data }),
  }
}

/** Patterns are looked for in these words, one after the other: megabytes of them would hold up the thread. */
const MAX_WORDS = 16_384

function shortened(text: string): string {
  // A copy: a slice would keep the whole text in memory.
  return text.length > MAX_WORDS ? Buffer.from(text.slice(0, MAX_WORDS)).toString() : text
}

/** A parsed value may be nested too deep to be written as JSON: then it means nothing. */
function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    return ''
  }
}

/** Distinguishes "slow down" from a refusal: providers use HTTP 429, or 200 with a JSON-RPC error, or both. */
function failureOf(words: ProviderWords, message: string, retryAfterMs?: number): RpcFailure {
  const { status, code } = words
  const kind: RpcFailureKind =
    status === 429 || isRateLimitText(words.text)
      ? 'rateLimit'
      : code === undefined && status !== undefined
        ? 'http'
        : 'rpc'
  const detail = [
    status === undefined ? '' : `HTTP ${status}`,
    code === undefined ? '' : `code ${code}`,
  ].filter(Boolean)
  return new RpcFailure(
    kind,
    detail.length > 0 ? `${message}: ${detail.join(', ')}` : message,
    words,
    retryAfterMs,
  )
}

function isBareError(answer: unknown): answer is { readonly error: NonNullable<Reply['error']> } {
  return typeof answer === 'object' && answer !== null && 'error' in answer && Boolean(answer.error)
}

/** The failure for an answer with a bad status: it may hold a JSON-RPC error, other JSON, or a page. */
function statusFailure(
  { status, statusText, headers, body }: HttpAnswer,
  method: string | undefined,
  message: string,
): RpcFailure {
  const text = textOf(body)
  let parsed: unknown
  try {
    parsed = parseJson(body)
  } catch {
    parsed = undefined
  }
  const [first] = Array.isArray(parsed) ? (parsed as readonly unknown[]) : [parsed]
  const error = isBareError(first) ? first.error : undefined
  const words =
    typeof error === 'object' && typeof error.code === 'number' && typeof error.message === 'string'
      ? wordsOf(method, error.code, error.message, error.data, status)
      : wordsOf(method, undefined, error ? textOfValue(error) : text || statusText, undefined, status)
  return failureOf(words, message, retryAfterMs(headers))
}

/** The failure for a request without an answer. Messages of connection errors hold the address, so they are not passed on. */
function connectionFailure(error: unknown, alias: string, what: string): RpcFailure {
  if (error instanceof HttpTimeout) return new RpcFailure('timeout', `${alias}: ${what} took too long`)
  if (error instanceof BodyTooLong)
    return new RpcFailure('body', `${alias}: the answer to ${what} is too long`, TOO_LARGE)
  if (error instanceof UnreadableCoding)
    return new RpcFailure('body', `${alias}: the answer to ${what} ${error.message}`, {
      text: error.message,
    })
  return new RpcFailure('network', `${alias}: no connection for ${what}${systemCode(error)}`)
}

/** The error's code, such as `ECONNREFUSED`: operators need it, and it holds no address. */
function systemCode(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++)
    if ('code' in cause && typeof cause.code === 'string' && /^[A-Z_]{3,40}$/.test(cause.code))
      return ` (${cause.code})`
  return ''
}

/** Retry-After, which is seconds or a date. A date is compared with the answer's Date header: our clock may differ. */
function retryAfterMs(headers: HttpAnswer['headers']): number | undefined {
  const value = headers['retry-after']?.trim()
  if (value === undefined || value === '') return undefined
  const dateMs = Date.parse(headers.date ?? '')
  const nowMs = Number.isNaN(dateMs) ? unixMs() : dateMs
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_CAP_MS) : undefined
}
