import { BaseError, ResponseBodyTooLargeError, RpcRequestError, TimeoutError } from 'viem'
import { getHttpRpcClient } from 'viem/utils'
import { isRateLimitText } from './rangeErrors.js'
import { type ProviderWords, RpcFailure, type RpcFailureKind } from './rpcFailure.js'

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export type RpcOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly failure: RpcFailure }

/** One HTTP request per call or batch: bounded in time and size, never repeated, errors without addresses. */
export interface RpcTransport {
  /** @throws RpcFailure, or the signal's reason. */
  request(call: RpcCall, signal: AbortSignal): Promise<unknown>
  /**
   * All calls in one request; outcomes in the order of the calls, matched by id.
   * @throws RpcFailure when the batch as a whole failed.
   */
  requestBatch(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]>
}

export interface RpcTransportOptions {
  readonly url: string
  readonly alias: string
  readonly timeoutMs: number
  readonly maxBodyBytes: number
}

/** Longest wait that a provider's Retry-After may ask for. */
const RETRY_AFTER_CAP_MS = 15 * 60_000

interface Reply {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown } | null
}

/** viem carries the request: it times out headers and body, caps the body and parses; ids, retries and errors are ours. */
export function createRpcTransport(options: RpcTransportOptions): RpcTransport {
  const { alias } = options
  const client = getHttpRpcClient(options.url, {
    timeout: options.timeoutMs,
    maxResponseBodySize: options.maxBodyBytes,
  })
  let lastId = 0

  async function post(body: object | object[], what: string, signal: AbortSignal): Promise<unknown> {
    let head: ResponseHead | undefined
    try {
      return await client.request({
        // `as`: viem types the body for one call; a batch is the same with an array.
        body: body as never,
        fetchOptions: { signal },
        onResponse: ({ ok, status, headers }) => {
          head = { ok, status, headers }
        },
      })
    } catch (error) {
      signal.throwIfAborted()
      throw toFailure(error, head, alias, what)
    }
  }

  const bodyOf = (call: RpcCall) => ({ id: ++lastId, method: call.method, params: call.params })

  return {
    async request(call, signal) {
      const reply = await post(bodyOf(call), call.method, signal)
      const outcome = outcomeOf(reply, alias, call.method)
      if (outcome.ok) return outcome.result
      throw outcome.failure
    },
    async requestBatch(calls, signal) {
      const bodies = calls.map(bodyOf)
      const replies = await post(bodies, `batch of ${calls.length}`, signal)
      if (!Array.isArray(replies))
        throw new RpcFailure('body', `${alias}: a batch was not answered by a list`)
      const byId = new Map<unknown, Reply>()
      for (const reply of replies as readonly (Reply | null)[]) if (reply) byId.set(reply.id, reply)
      return calls.map((call, index) => {
        const reply = byId.get(bodies[index]!.id)
        if (reply !== undefined) return outcomeOf(reply, alias, call.method)
        // A refused batch comes as one error for all of it.
        const [first] = replies as readonly Reply[]
        if (byId.size === 1 && first?.error) return outcomeOf(first, alias, call.method)
        return {
          ok: false,
          failure: new RpcFailure('body', `${alias}: ${call.method} is missing in a batch reply`),
        }
      })
    },
  }
}

function outcomeOf(reply: unknown, alias: string, method: string): RpcOutcome {
  const { error, result } = (typeof reply === 'object' && reply !== null ? reply : {}) as Reply
  if (error !== undefined && error !== null) {
    const words = wordsOf(error.code, error.message, error.data)
    return { ok: false, failure: failureOf(words, `${alias}: ${method} failed`) }
  }
  if (result === undefined)
    return { ok: false, failure: new RpcFailure('body', `${alias}: ${method} was answered without a result`) }
  return { ok: true, result }
}

function wordsOf(code: unknown, message: unknown, data: unknown, status?: number): ProviderWords {
  const dataText =
    data === undefined || data === null ? '' : ` ${typeof data === 'string' ? data : JSON.stringify(data)}`
  return {
    ...(status === undefined ? {} : { status }),
    ...(typeof code === 'number' ? { code } : {}),
    text: `${typeof message === 'string' ? message : ''}${dataText}`,
    ...(data === undefined ? {} : { data }),
  }
}

/** Tells a plea to slow down from a refusal: providers use HTTP 429, or 200 with a JSON-RPC error, or both. */
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

/** What came before the body: viem forgets it where the body is no JSON. */
interface ResponseHead {
  readonly ok: boolean
  readonly status: number
  readonly headers: Headers
}

/** viem's errors hold the address and the request body in their messages: only their facts go on. */
function toFailure(error: unknown, head: ResponseHead | undefined, alias: string, what: string): RpcFailure {
  const message = `${alias}: ${what} failed`
  if (error instanceof TimeoutError) return new RpcFailure('timeout', `${alias}: ${what} took too long`)
  if (error instanceof ResponseBodyTooLargeError)
    return new RpcFailure('body', `${alias}: the answer to ${what} is too long`, {
      text: 'response too large',
    })
  if (head !== undefined && !head.ok) {
    const words =
      error instanceof RpcRequestError
        ? wordsOf(error.code, error.details, error.data, head.status)
        : wordsOf(undefined, error instanceof BaseError ? error.details : '', undefined, head.status)
    return failureOf(words, message, retryAfterMs(head.headers))
  }
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof SyntaxError || (cause instanceof Error && cause.message.startsWith('Expected ')))
    return new RpcFailure('body', `${alias}: the answer to ${what} is no complete JSON`)
  return new RpcFailure('network', `${alias}: no connection for ${what}${systemCode(cause)}`)
}

/** `ECONNREFUSED` and the like: what an operator needs, without the address that the message has. */
function systemCode(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++)
    if ('code' in cause && typeof cause.code === 'string' && /^[A-Z_]{3,40}$/.test(cause.code))
      return ` (${cause.code})`
  return ''
}

/** Retry-After in seconds or as a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (value === undefined || value === '') return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_CAP_MS) : undefined
}
