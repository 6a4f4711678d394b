import { socketRoutes, streamRoutes } from '../api/routes.js'
import { type Failure, failure } from '../query/answers.js'
import { answerQuery, type QueryContext } from './answerQuery.js'
import type { EventsAnswerer } from './events/answerEvents.js'
import type { Connections } from './limits/connections.js'
import type { RateGate } from './limits/rateGate.js'
import { Payment } from './payment.js'
import type { RequestLog } from './requestLog.js'
import type { Target } from './targets.js'
import { SMALL_TOKENS, tokensOfDocument } from './tokens.js'
import { chooseCoding } from './wire/acceptEncoding.js'
import { Exchange, type ExchangeContext } from './wire/exchange.js'
import { type HeaderList, METHODS } from './wire/headers.js'
import { acceptRequestId, makeRequestId, RequestHead } from './wire/requestHead.js'
import type { AcceptSocket, RequestHandler, Wire, WireRequest } from './wire/wire.js'

export interface RequestHandlerOptions {
  readonly context: ExchangeContext
  readonly targets: ReadonlyMap<string, Target>
  /** Looks for a path that is none of `targets`. */
  readonly findPage: (path: string) => Target | undefined
  /** How errors are spelled below the base path of a dialect. */
  readonly findSpelling: (path: string) => Exchange['spellRefusal']
  readonly queryContext: QueryContext
  readonly events: Pick<EventsAnswerer, 'answer' | 'upgrade'>
  readonly maxUrlBytes: number
  /** Undefined when there is no rate limit. */
  readonly gate: RateGate | undefined
  readonly connections: Pick<Connections, 'endsWithAnswer'>
  readonly requestLog: Pick<RequestLog, 'isOn' | 'isOfEach' | 'clientOf'>
}

const NO_BODY =
  'a request must have no body: no Transfer-Encoding, and no Content-Length except a single 0; the connection is closed'

const NO_SOCKET = `only ${socketRoutes.getEventSocket.path} becomes a WebSocket: send no Sec-WebSocket-Key`

/** Headers of the request that is being handled. */
const head = new RequestHead()

/**
 * The handler of all methods and paths. The request is valid only during the call, so all that is needed of it is read here. The
 * handler never throws: an error that reaches uWebSockets.js ends the process.
 */
export function createRequestHandler(options: RequestHandlerOptions): RequestHandler {
  return (wire, request, accept) =>
    handle(options, wire, request, upperCase(request.getMethod()), request.getUrl(), accept)
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
  accept?: AcceptSocket,
): void {
  const { requestId, connection, mayHaveBody } = head.read(request)
  const { requestLog } = options
  const isLogged = requestLog.isOn()
  let id = acceptRequestId(requestId)
  if (isLogged && id === '' && requestLog.isOfEach()) id = makeRequestId()
  const exchange = new Exchange(options.context, wire, method, id, isClose(connection))
  if (isLogged) exchange.client = requestLog.clientOf(exchange.peerAddress(), request)
  exchange.isEnding = options.connections.endsWithAnswer(wire)
  try {
    if (mayHaveBody) {
      // The connection ends in any case, so a bucket that is empty changes nothing.
      options.gate?.caller(exchange.peerAddress(), request).take(SMALL_TOKENS)
      exchange.refuseAndClose(failure('INVALID_PARAMETER', NO_BODY))
    } else dispatch(options, exchange, method, path, request, accept)
  } catch (error) {
    exchange.fail(error)
  }
}

function dispatch(
  { targets, findPage, findSpelling, queryContext, events, maxUrlBytes, gate }: RequestHandlerOptions,
  exchange: Exchange,
  method: string,
  path: string,
  request: WireRequest,
  accept: AcceptSocket | undefined,
): void {
  const caller = gate?.caller(exchange.peerAddress(), request)
  const payment = caller === undefined ? undefined : new Payment(queryContext.metrics, exchange, caller)
  const rawQuery = request.getQuery()
  const urlBytes = path.length + (rawQuery === undefined ? 0 : 1 + rawQuery.length)
  // Cheap for the paths of `createGetHandler`: the hash of an interned string is known.
  const target = targets.get(path) ?? findPage(path)
  exchange.spellRefusal = target === undefined ? findSpelling(path) : target.spellRefusal
  if (urlBytes > maxUrlBytes) {
    const message = `the URL has ${urlBytes} bytes, at most ${maxUrlBytes} are allowed`
    refuse(exchange, payment, failure('URI_TOO_LONG', message))
    return
  }
  if (target === undefined) {
    refuse(exchange, payment, failure('NOT_FOUND', `no route ${quote(path)}`))
    return
  }
  exchange.route = target.route
  if (method === 'OPTIONS') {
    if (payment === undefined || payment.take(SMALL_TOKENS)) exchange.sendOptions()
    return
  }
  if (method !== 'GET' && method !== 'HEAD') {
    const message = `${method} is not one of ${METHODS}`
    refuse(exchange, payment, failure('METHOD_NOT_ALLOWED', message), [['Allow', METHODS]])
    return
  }
  if (target.type === 'socket') {
    if (payment === undefined || payment.take(socketRoutes[target.route].cost))
      events.upgrade(exchange, request, rawQuery ?? '', accept)
    return
  }
  if (head.wantsSocket) {
    refuse(exchange, payment, failure('INVALID_PARAMETER', NO_SOCKET))
    return
  }
  if (target.type === 'probe') {
    if (payment === undefined || caller?.isProxy === true || payment.take(SMALL_TOKENS))
      target.respond(exchange, rawQuery ?? '')
    return
  }
  if (target.type === 'stream') {
    if (payment === undefined || payment.take(streamRoutes[target.route].cost))
      events.answer(exchange, request, rawQuery ?? '', head.lastEventId, method === 'HEAD')
    return
  }
  exchange.ifNoneMatch = head.ifNoneMatch
  const coding = queryContext.mayCompress ? chooseCoding(head.acceptEncoding) : 'identity'
  if (target.type === 'query') {
    answerQuery(queryContext, exchange, target.route, rawQuery ?? '', coding, request, payment)
    return
  }
  if (target.type === 'spoken') {
    const { operation, endpoint, given } = target
    const query = given === undefined ? (rawQuery ?? '') : joined(given, rawQuery)
    answerQuery(queryContext, exchange, operation, query, coding, request, payment, endpoint)
    return
  }
  const answer = target.answers[coding]
  if (payment === undefined || payment.take(tokensOfDocument(answer.body))) exchange.send(answer)
}

/** The first of two parameters with one name counts: the one of the path. */
function joined(given: string, rawQuery: string | undefined): string {
  return rawQuery ? `${given}&${rawQuery}` : given
}

/** Refuses what is known to be wrong before anything was looked up. */
function refuse(
  exchange: Exchange,
  payment: Payment | undefined,
  failed: Failure,
  headers: HeaderList = [],
): void {
  if (payment === undefined || payment.take(SMALL_TOKENS)) exchange.refuse(failed, headers)
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
