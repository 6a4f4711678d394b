import { routes } from '../api/routes.js'
import { failure } from '../query/answers.js'
import { answerQuery, type QueryContext } from './answerQuery.js'
import type { RateGate } from './limits/rateGate.js'
import type { Target } from './targets.js'
import { chooseCoding } from './wire/acceptEncoding.js'
import { Exchange, type ExchangeContext } from './wire/exchange.js'
import { METHODS } from './wire/headers.js'
import { acceptRequestId, RequestHead } from './wire/requestHead.js'
import type { RequestHandler, Wire, WireRequest } from './wire/wire.js'

export interface RequestHandlerOptions {
  readonly context: ExchangeContext
  readonly targets: ReadonlyMap<string, Target>
  readonly queryContext: QueryContext
  readonly maxUrlBytes: number
  /** Undefined when there is no rate limit. */
  readonly gate: RateGate | undefined
}

const DOCUMENT_COST = 1

const NO_BODY =
  'a request must have no body: no Transfer-Encoding, and no Content-Length except a single 0; the connection is closed'

/** Headers of the request that is being handled. */
const head = new RequestHead()

/**
 * The handler of all methods and paths. The request is valid only during the call, so all that is needed of it is read here. The
 * handler never throws: an error that reaches uWebSockets.js ends the process.
 */
export function createRequestHandler(options: RequestHandlerOptions): RequestHandler {
  return (wire, request) => handle(options, wire, request, upperCase(request.getMethod()), request.getUrl())
}

/**
 * The handler of GET for one path, beside `createRequestHandler`. The router of uWebSockets.js has compared method and path
 * already, so they need not be read as strings and hashed, which took 0.15 µs per request.
 */
export function createGetHandler(options: RequestHandlerOptions, path: string): RequestHandler {
  return (wire, request) => handle(options, wire, request, 'GET', path)
}

function handle(
  options: RequestHandlerOptions,
  wire: Wire,
  request: WireRequest,
  method: string,
  path: string,
): void {
  const { requestId, connection, mayHaveBody } = head.read(request)
  const exchange = new Exchange(
    options.context,
    wire,
    method,
    acceptRequestId(requestId),
    isClose(connection),
  )
  try {
    if (mayHaveBody) exchange.refuseAndClose(failure('INVALID_PARAMETER', NO_BODY))
    else dispatch(options, exchange, method, path, request)
  } catch (error) {
    exchange.fail(error)
  }
}

function dispatch(
  { targets, queryContext, maxUrlBytes, gate }: RequestHandlerOptions,
  exchange: Exchange,
  method: string,
  path: string,
  request: WireRequest,
): void {
  const rawQuery = request.getQuery()
  const urlBytes = path.length + (rawQuery === undefined ? 0 : 1 + rawQuery.length)
  if (urlBytes > maxUrlBytes) {
    exchange.refuse(
      failure('URI_TOO_LONG', `the URL has ${urlBytes} bytes, at most ${maxUrlBytes} are allowed`),
    )
    return
  }
  // Cheap for the paths of `createGetHandler`: the hash of an interned string is known.
  const target = targets.get(path)
  if (target === undefined) {
    exchange.refuse(failure('NOT_FOUND', `no route ${quote(path)}`))
    return
  }
  exchange.route = target.route
  if (method !== 'GET' && method !== 'HEAD') {
    if (method === 'OPTIONS') exchange.sendOptions()
    else
      exchange.refuse(failure('METHOD_NOT_ALLOWED', `${method} is not one of ${METHODS}`), [
        ['Allow', METHODS],
      ])
    return
  }
  if (target.type === 'probe') {
    target.respond(exchange)
    return
  }
  if (gate !== undefined && !isAdmitted(gate, exchange, target, request)) {
    queryContext.metrics.rateLimited(target.route)
    return
  }
  exchange.ifNoneMatch = head.ifNoneMatch
  const coding = queryContext.mayCompress ? chooseCoding(head.acceptEncoding) : 'identity'
  if (target.type === 'document') exchange.send(target.answers[coding])
  else answerQuery(queryContext, exchange, target.route, rawQuery ?? '', coding)
}

/** Takes the request's cost from the client's bucket. @returns false when the request was refused instead. */
function isAdmitted(
  gate: RateGate,
  exchange: Exchange,
  target: Exclude<Target, { type: 'probe' }>,
  request: WireRequest,
): boolean {
  const cost = target.type === 'query' ? routes[target.route].cost : DOCUMENT_COST
  const verdict = gate.admit(exchange.peerAddress(), request, cost)
  if (verdict === undefined) return true
  exchange.moreLines = verdict.lines
  if (verdict.isAllowed) return true
  exchange.refuse(
    failure(
      'RATE_LIMIT_EXCEEDED',
      `too many requests: this one takes ${cost} tokens, ${verdict.remaining} are left`,
      verdict.retryAfterSec,
    ),
  )
  return false
}

/** Whether the header is exactly `close`. In a list such as `TE, close` it does not count, as with uWebSockets.js itself. */
function isClose(connection: string): boolean {
  return connection.length === 5 && connection.toLowerCase() === 'close'
}

/** uWebSockets.js gives methods in small letters. */
function upperCase(method: string): string {
  return method === 'get' ? 'GET' : method.toUpperCase()
}

const MAX_QUOTED = 100

function quote(path: string): string {
  return JSON.stringify(path.length > MAX_QUOTED ? `${path.slice(0, MAX_QUOTED)}…` : path)
}
