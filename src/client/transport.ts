import type { CallOptions, ClientClock, RetryOptions } from './call.types.js'
import {
  type AnswerFacts,
  BridgeApiError,
  type BridgeClientError,
  BridgeNetworkError,
  BridgeResponseError,
} from './clientErrors.js'
import { decodeAnswer, WrongShape } from './decodeAnswer.js'
import { clientClock, readRetryAfter, timerMs, waitAfter } from './waits.js'
import {
  type ApiErrorCode,
  apiErrorCodes,
  type Endpoints,
  eventsPath,
  type OperationId,
  operations,
} from './wireDefinition.js'
import { snakeCase } from './wireNames.js'

/** What a client needs of `fetch`. */
export type FetchLike = (
  url: string,
  init: {
    readonly headers: Record<string, string>
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
  /** Only events need it. */
  readonly body?: EventBody | null
}>

/** As much of a stream of bytes as reading it takes. */
export interface EventBody {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
}

export interface ClientOptions extends RetryOptions {
  /** Where the service is, with or without a path in front of `/bridge/v1`: `https://example.org/some/path`. */
  readonly baseUrl: string | URL
  /** Sent as `X-API-Key`. */
  readonly apiKey?: string | undefined
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** In the place of the global one. */
  readonly fetch?: FetchLike | undefined
  /** In the place of the machine's. */
  readonly clock?: ClientClock | undefined
}

type AnswerOf<Id extends OperationId> = Awaited<ReturnType<Endpoints[Id]>>

export interface Transport {
  readonly clock: ClientClock
  /** Asks until there is an answer or asking again is no use. */
  ask<Id extends OperationId>(id: Id, parameters: object, options?: CallOptions): Promise<AnswerOf<Id>>
  /** Asks once. @param signal ends the stream, too. @throws BridgeClientError; what `fetch` throws once the signal is aborted. */
  openEvents(parameters: object, signal: AbortSignal): Promise<EventBody>
}

/** @throws TypeError for options that can never work. */
export function createTransport(options: ClientOptions): Transport {
  const base = checkedBase(options.baseUrl)
  const headers = checkedHeaders(options)
  const { fetch = (url, init) => globalThis.fetch(url, init), clock = clientClock } = options

  async function ask<Id extends OperationId>(
    id: Id,
    parameters: object,
    call: CallOptions = {},
  ): Promise<AnswerOf<Id>> {
    const { signal } = call
    const attempts = call.attempts ?? options.attempts ?? 4
    const attemptTimeoutMs = call.attemptTimeoutMs ?? options.attemptTimeoutMs ?? 15_000
    const endMs = clock.now() + (call.timeoutMs ?? options.timeoutMs ?? 60_000)
    const { path, hasParameters } = operations[id]
    const url = base + path + queryOf(hasParameters ? { ...parameters, minSequence: places(call) } : {})
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      const withinMs = Math.min(attemptTimeoutMs, endMs - clock.now())
      const outcome = await askOnce(id, url, attempt, withinMs, signal)
      // The decoder made it of the operation's shape.
      if ('answer' in outcome) return outcome.answer as AnswerOf<Id>
      const { error, isWorthRetry } = outcome
      const waitMs = waitAfter(attempt, clock, error.retryAfterMs)
      if (!isWorthRetry || attempt >= attempts || clock.now() + waitMs >= endMs) throw error
      await clock.sleep(waitMs, signal)
    }
  }

  /** @throws the signal's reason when it is aborted. */
  async function askOnce(
    id: OperationId,
    url: string,
    attempts: number,
    withinMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const request = new AbortController()
    const stop = (): void => request.abort()
    const timer = setTimeout(stop, timerMs(withinMs))
    signal?.addEventListener('abort', stop, { once: true })
    let response: Awaited<ReturnType<FetchLike>>
    let text: string
    try {
      response = await fetch(url, { headers, redirect: 'manual', signal: request.signal })
      text = await response.text()
    } catch (error) {
      signal?.throwIfAborted()
      return { error: networkError(id, error, attempts, request.signal.aborted), isWorthRetry: true }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    const { headers: told, status } = response
    const retryAfterMs = readRetryAfter(told.get('retry-after'), told.get('date'), clock)
    return outcomeOf(id, text, { status, attempts, retryAfterMs })
  }

  async function openEvents(parameters: object, signal: AbortSignal): Promise<EventBody> {
    let response: Awaited<ReturnType<FetchLike>>
    let text: string
    try {
      response = await fetch(base + eventsPath + queryOf(parameters), {
        headers: { ...headers, accept: 'text/event-stream' },
        redirect: 'manual',
        signal,
      })
      if (response.status === 200 && response.body) return response.body
      text = await response.text()
    } catch (error) {
      throw networkError('events', error, 1, signal.aborted)
    }
    const { headers: told, status } = response
    const retryAfterMs = readRetryAfter(told.get('retry-after'), told.get('date'), clock)
    const facts = { status, attempts: 1, retryAfterMs }
    throw (
      refusalOf('events', parseJson(text), false, facts)?.error ??
      new BridgeResponseError('WRONG_SHAPE', `events: the answer is no stream (HTTP ${status})`, facts)
    )
  }

  return { clock, ask, openEvents }
}

interface Refused {
  readonly error: BridgeClientError
  readonly isWorthRetry: boolean
}

type Outcome = { readonly answer: unknown } | Refused

/** Overload, or a service that starts, stops or is out of reach: the same question may be answered soon. */
const PASSING = [429, 502, 503, 504]

function outcomeOf(id: OperationId, text: string, facts: AnswerFacts): Outcome {
  const { status } = facts
  const operation: {
    readonly shape: (typeof operations)[OperationId]['shape']
    readonly own?: readonly number[]
  } = operations[id]
  const isOwn = operation.own?.includes(status) === true
  const isPassing = PASSING.includes(status)
  const json = parseJson(text)
  const refused = refusalOf(id, json, isOwn, facts)
  if (refused !== undefined) return refused
  const odd = (code: BridgeResponseError['code'], what: string, isWorthRetry = isPassing): Outcome => ({
    error: new BridgeResponseError(code, `${id}: ${what} (HTTP ${status})`, facts),
    isWorthRetry,
  })
  // A body that begins like an answer was cut on its way.
  if (json === undefined) return odd('NOT_JSON', 'the answer is not JSON', isPassing || text.startsWith('{'))
  try {
    return { answer: decodeAnswer(operation.shape, json) }
  } catch (error) {
    if (!(error instanceof WrongShape)) throw error
    return odd('WRONG_SHAPE', error.message)
  }
}

/** @returns undefined for what may be an answer. */
function refusalOf(id: string, json: unknown, isOwn: boolean, facts: AnswerFacts): Refused | undefined {
  const { status } = facts
  const isPassing = PASSING.includes(status)
  const told = apiError(json)
  if (told !== undefined)
    return { error: new BridgeApiError(told.code, told.message, facts), isWorthRetry: isPassing && !isOwn }
  if (status === 200 || isOwn) return undefined
  const message = `${id}: the answer is neither a success nor an error of the API (HTTP ${status})`
  return { error: new BridgeResponseError('UNKNOWN_ERROR', message, facts), isWorthRetry: isPassing }
}

/** @returns undefined for what is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @returns undefined for what is no error of the API that this client knows. */
function apiError(json: unknown): { readonly code: ApiErrorCode; readonly message: string } | undefined {
  const error = (
    json as { readonly error?: { readonly code?: unknown; readonly message?: unknown } } | null | undefined
  )?.error
  const code = apiErrorCodes.find((known) => known === error?.code)
  return code && { code, message: String(error?.message) }
}

function networkError(id: string, error: unknown, attempts: number, isTimeout: boolean): BridgeNetworkError {
  return isTimeout
    ? new BridgeNetworkError('TIMEOUT', `${id}: no answer in time`, attempts, undefined)
    : new BridgeNetworkError('CONNECTION_FAILED', `${id}: the connection failed`, attempts, systemCode(error))
}

/** The code alone: texts of such errors name the URL in some runtimes. */
function systemCode(error: unknown): string | undefined {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  const found = cause?.code ?? code
  return typeof found === 'string' && /^\w+$/.test(found) ? found : undefined
}

function queryOf(parameters: object): string {
  const search = new URLSearchParams()
  // A list becomes its items with commas between them.
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) search.set(snakeCase(name), String(value))
  const text = String(search)
  return text && `?${text}`
}

function places({ minSequence = {} }: CallOptions): string[] | undefined {
  const given = Object.entries(minSequence).map(([networkId, sequence]) => `${networkId}:${sequence}`)
  return given.length === 0 ? undefined : given
}

/** @returns the URL without a slash at its end. */
function checkedBase(baseUrl: string | URL): string {
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch {
    throw new TypeError('baseUrl is not a URL')
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('baseUrl is neither http nor https')
  // `fetch` refuses them with an error that shows them.
  if (url.username !== '' || url.password !== '')
    throw new TypeError('baseUrl has a user or a password: use headers')
  if (url.search !== '' || url.hash !== '') throw new TypeError('baseUrl has a query or a fragment')
  return url.href.replace(/\/+$/, '')
}

/** @throws TypeError without the values, which `fetch` would show. */
function checkedHeaders({ apiKey, headers }: ClientOptions): Record<string, string> {
  const all = {
    accept: 'application/json',
    ...headers,
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
  }
  try {
    new Headers(all)
  } catch {
    throw new TypeError('apiKey or headers hold what is no header')
  }
  return all
}
