import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenExclusively } from '../errors/listenFailure.js'
import type { HealthSource } from '../health/healthSource.types.js'

export interface OpsServerOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly health: HealthSource
  /** All metrics, in the text format of Prometheus. */
  metrics(): Promise<string>
}

export interface OpsServer {
  readonly port: number
  /** Takes no more connections and closes those that are open. */
  close(): Promise<void>
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Route = (request: IncomingMessage) => Reply | Promise<Reply>

/** Enough for scrapes and probes; more would take descriptors away from clients. */
const MAX_CONNECTIONS = 64

const METHODS = 'GET, HEAD, OPTIONS'

/**
 * The operations port: metrics and probes on plain `node:http`, because balancers still probe with HTTP/1.0, which the
 * API's server does not speak, and because metrics must be readable while the API is overloaded.
 * @throws OperatorError when the port can't be opened.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const routes = routesOf(options)
  const server = createServer((request, response) => {
    answer(routes, request).then(
      (reply) => send(response, request, reply),
      // Only rendering the metrics can fail; a scrape that fails must not end the process.
      () => send(response, request, failure(500, 'INTERNAL_ERROR', 'the answer could not be made')),
    )
  })
  server.maxConnections = MAX_CONNECTIONS
  await listenExclusively(server, options.host, options.port)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function routesOf({ health, metrics }: OpsServerOptions): ReadonlyMap<string, Route> {
  return new Map<string, Route>([
    ['/metrics', async ({ headers }) => exposition(await metrics(), headers.accept)],
    ['/livez', () => json(200, { status: 'alive' })],
    ['/readyz', () => readiness(health)],
    [
      '/',
      () => {
        const { httpStatus, record } = health.health()
        return json(httpStatus, record)
      },
    ],
  ])
}

const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** @param accept what the client can read: OpenMetrics only if it says so. */
function exposition(text: string, accept = ''): Reply {
  const wantsOpen = accept
    .split(',')
    .some(
      (range) => /^\s*application\/openmetrics-text\b/i.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range),
    )
  const headers = { Vary: 'Accept' }
  if (!wantsOpen) return { status: 200, type: TEXT_TYPE, body: text, headers }
  // A counter has `_total` in its samples alone, no line is empty, and the last one says that it is the last.
  const body = text.replace(/^(# (?:HELP|TYPE) \S+?)_total(?= )/gm, '$1').replace(/\n{2,}/g, '\n')
  return { status: 200, type: OPEN_METRICS_TYPE, body: `${body}# EOF\n`, headers }
}

function readiness(health: HealthSource): Reply {
  const { ready, reason, lagBlocks } = health.readiness()
  const headers = { 'X-Data-Lag-Blocks': String(lagBlocks) }
  return ready
    ? { ...json(200, { status: 'ready' }), headers }
    : { ...failure(503, 'SERVICE_UNAVAILABLE', `not ready: ${reason}`), headers }
}

async function answer(routes: ReadonlyMap<string, Route>, request: IncomingMessage): Promise<Reply> {
  if (mayHaveBody(request))
    return {
      ...failure(
        400,
        'INVALID_PARAMETER',
        'a request must have no body: no Transfer-Encoding, and no Content-Length except a single 0',
      ),
      headers: { Connection: 'close' },
    }
  const path = (request.url ?? '/').split('?')[0]!
  const route = routes.get(path)
  if (route === undefined) return failure(404, 'NOT_FOUND', 'unknown route')
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return route(request)
    case 'OPTIONS': {
      // HAProxy's default check is `OPTIONS / HTTP/1.0`: it must fail when the instance drains.
      const reply = path === '/metrics' ? undefined : await route(request)
      const seen: Reply = reply === undefined || reply.status < 400 ? { status: 204, body: '' } : reply
      return { ...seen, headers: { ...seen.headers, Allow: METHODS } }
    }
    default:
      return {
        ...failure(405, 'METHOD_NOT_ALLOWED', `${request.method} is not one of ${METHODS}`),
        headers: { Allow: METHODS },
      }
  }
}

/** The same rule as on the API. Node itself refuses ambiguous lengths, but would read any other body, however long. */
function mayHaveBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

function send(response: ServerResponse, request: IncomingMessage, reply: Reply): void {
  response.writeHead(reply.status, {
    'Cache-Control': 'no-store',
    ...(reply.type === undefined ? {} : { 'Content-Type': reply.type }),
    ...(reply.status === 204 ? {} : { 'Content-Length': Buffer.byteLength(reply.body) }),
    ...reply.headers,
  })
  response.end(request.method === 'HEAD' ? undefined : reply.body)
}

function json(status: number, value: unknown): Reply {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(value) }
}

function failure(status: number, code: string, message: string): Reply {
  return json(status, { error: { code, message } })
}
