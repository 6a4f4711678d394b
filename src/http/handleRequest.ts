import { routes } from '../api/routes.js'
import { failure } from '../query/answers.js'
import { answerQuery, type QueryDesk } from './answerQuery.js'
import type { RateGate } from './limits/rateGate.js'
import type { Target } from './targets.js'
import { chooseCoding } from './wire/acceptEncoding.js'
import { METHODS } from './wire/headers.js'
import { acceptRequestId, RequestHead } from './wire/requestHead.js'
import { Exchange, type ExchangeContext } from './wire/respond.js'
import type { HttpRequest, HttpResponse } from './wire/uws.js'

export interface RequestHandlerOptions {
  readonly context: ExchangeContext
  readonly targets: ReadonlyMap<string, Target>
  readonly desk: QueryDesk
  readonly maxUrlBytes: number
  /** Undefined where nobody is limited. */
  readonly gate: RateGate | undefined
}

const DOCUMENT_COST = 1

const NO_BODY =
  'a request has no body here: no Transfer-Encoding, and no Content-Length but one 0; the connection ends'

/** Of the request that is being handled. */
const head = new RequestHead()

export type RequestHandler = (res: HttpResponse, req: HttpRequest) => void

/**
 * The handler of all methods and paths. `req` lives only as long as this call: all that is needed of it is read here,
 * before anything is put off. Nothing thrown gets out of it: that would end the process.
 */
export function createRequestHandler(options: RequestHandlerOptions): RequestHandler {
  return (res, req) => handle(options, res, req, upperCase(req.getMethod()), req.getUrl())
}

/**
 * The same for GET of a path that the router of uWebSockets.js has compared already: method and path are not made strings
 * of nor hashed, which took 0.15 µs of each request.
 */
export function createGetHandler(options: RequestHandlerOptions, path: string): RequestHandler {
  return (res, req) => handle(options, res, req, 'GET', path)
}

function handle(
  options: RequestHandlerOptions,
  res: HttpResponse,
  req: HttpRequest,
  method: string,
  path: string,
): void {
  const { requestId, connection, mayHaveBody } = head.read(req)
  const exchange = new Exchange(options.context, res, method, acceptRequestId(requestId), isClose(connection))
  try {
    if (mayHaveBody) exchange.refuseAndClose(failure('INVALID_PARAMETER', NO_BODY))
    else dispatch(options, exchange, method, path, req)
  } catch (error) {
    exchange.fail(error)
  }
}

function dispatch(
  { targets, desk, maxUrlBytes, gate }: RequestHandlerOptions,
  exchange: Exchange,
  method: string,
  path: string,
  req: HttpRequest,
): void {
  // Undefined where the URL has no `?`, whatever the published type says.
  const rawQuery = req.getQuery() as string | undefined
  const urlBytes = path.length + (rawQuery === undefined ? 0 : 1 + rawQuery.length)
  if (urlBytes > maxUrlBytes) {
    exchange.refuse(
      failure('URI_TOO_LONG', `the URL has ${urlBytes} bytes, at most ${maxUrlBytes} are allowed`),
    )
    return
  }
  // An interned string's hash is known: this costs little where the path is the router's.
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
  if (gate !== undefined && !isAdmitted(gate, exchange, target, req)) {
    desk.metrics.rateLimited(target.route)
    return
  }
  exchange.ifNoneMatch = head.ifNoneMatch
  const coding = desk.isCoding ? chooseCoding(head.acceptEncoding) : 'identity'
  if (target.type === 'document') exchange.send(target.answers[coding])
  else answerQuery(desk, exchange, target.route, rawQuery ?? '', coding)
}

/** Takes the request's tokens, or refuses it. */
function isAdmitted(
  gate: RateGate,
  exchange: Exchange,
  target: Exclude<Target, { type: 'probe' }>,
  req: HttpRequest,
): boolean {
  const cost = target.type === 'query' ? routes[target.route].cost : DOCUMENT_COST
  const verdict = gate.admit(exchange.peerAddress(), req, cost)
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

/** Among other options, as in `TE, close`, uWebSockets.js does not see it either. */
function isClose(connection: string): boolean {
  return connection.length === 5 && connection.toLowerCase() === 'close'
}

/** uWebSockets.js gives methods in lower case. */
function upperCase(method: string): string {
  return method === 'get' ? 'GET' : method.toUpperCase()
}

const MAX_QUOTED = 100

function quote(path: string): string {
  return JSON.stringify(path.length > MAX_QUOTED ? `${path.slice(0, MAX_QUOTED)}…` : path)
}
