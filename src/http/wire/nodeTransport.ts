import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { listenExclusively } from '../../errors/listenFailure.js'
import { NO_STORE } from './cacheControl.js'
import { headerLines, JSON_TYPE, statusLine } from './headers.js'
import { NodeSockets } from './nodeSocket.js'
import { NodeConnection } from './nodeWire.js'
import type { OpenOptions, OpenPort, Transport, Wire } from './wire.js'

/** An idle connection is closed after this long. Balancers are told 10 s, and get a second more. */
const IDLE_MS = 11_000
/** A head that is not complete by then ends the connection. */
const HEAD_MS = 10_000
const LOOK_EVERY_MS = 1_000

const MAX_HEADERS = 100

/** node:http as a transport, for machines on which no native build of uWebSockets.js loads. */
export const nodeTransport: Transport = {
  name: 'node:http',
  version: process.versions.node,
  closesBodiless: true,
  noticesBodiless: true,
  keepsUnsent: true,
  // Node 20 has no such option of `listen`.
  sharesPorts: false,
  endAndClose,
  open,
}

async function open({ host, port, onRequest, turn, connections: watch }: OpenOptions): Promise<OpenPort> {
  const connections = new WeakMap<Socket, NodeConnection>()
  const sockets = new NodeSockets()
  const server = createServer({
    insecureHTTPParser: false,
    // Refused below, with a body.
    requireHostHeader: false,
    keepAliveTimeout: IDLE_MS,
    headersTimeout: HEAD_MS,
    requestTimeout: HEAD_MS,
    connectionsCheckingInterval: LOOK_EVERY_MS,
  })
  // By default node:http leaves out the headers beyond the 2,000th without a word.
  server.maxHeadersCount = 0
  if (Number.isFinite(watch.max)) server.maxConnections = watch.max
  server.on('drop', () => watch.refuse())
  server.on('connection', (socket) => {
    connections.set(socket, new NodeConnection(socket, onRequest, turn))
    socket.once('close', () => watch.leave())
    if (!watch.arrive({ getRemoteAddress: () => socket.remoteAddress ?? '' })) socket.destroy()
  })
  const take = (request: IncomingMessage, response: ServerResponse, head?: Buffer): void => {
    const { socket } = request
    const connection = connections.get(socket)!
    const refusal = refusalOf(request)
    if (refusal !== undefined) connection.refuse(refusal)
    else if (head === undefined) connection.take(request, response)
    else connection.takeUpgrade(request, response, (to) => sockets.accept(request, socket, head, to))
  }
  server.on('request', (request, response) => take(request, response))
  // Without listeners of their own node:http answers these by itself, with 100 and 417.
  server.on('checkContinue', (request, response) => take(request, response))
  server.on('checkExpectation', (request, response) => take(request, response))
  // Whatever it is to become: from here on node:http has nothing to do with the connection.
  server.on('upgrade', (request, socket, head) => {
    for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())
    take(request, new ServerResponse(request), head)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.destroyed) return
    connections.get(socket as Socket)?.refuse(refusalFor(error))
  })
  await listenExclusively(server, host, port)
  return {
    port: (server.address() as AddressInfo).port,
    look: () => false,
    stopListening: () => stopListening(server),
    close: () => {
      server.closeAllConnections()
      sockets.close()
      // Ends the looks for late heads, too.
      server.close()
    },
  }
}

/** The server's own `close` cuts off idle connections at once, on which a request may be on its way. */
function stopListening(server: Server): void {
  NetServer.prototype.close.call(server)
}

function endAndClose(wire: Wire, status: string, head: string, body: string): void {
  wire.writeStatus(status)
  wire.writeHeader('Cache-Control', head)
  wire.end(body, true)
}

/** Why a request is none that the service takes; undefined for one that it does. */
function refusalOf({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1') return refusal(505, 'only HTTP/1.1 is served')
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && rawHeaders[at]!.toLowerCase() === 'host') hosts++
  if (hosts !== 1) return refusal(400, 'a request must have one header Host')
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return refusal(431, `a request may have at most ${MAX_HEADERS} headers`)
  return undefined
}

/** What bytes that are no request are answered; '' for none. */
function refusalFor({ code }: NodeJS.ErrnoException): string {
  if (code === 'HPE_HEADER_OVERFLOW') return refusal(431, 'URL and headers are too long')
  // Bytes behind a request with `Connection: close`.
  if (code === 'HPE_CLOSED_CONNECTION') return ''
  return code?.startsWith('HPE_') === true ? refusal(400, 'not a well-formed HTTP request') : ''
}

/** A whole answer for a connection that ends with it. Its code tells that the request was at fault: no other one is for the head. */
function refusal(status: number, message: string): string {
  const body = JSON.stringify({ error: { code: 'INVALID_PARAMETER', message } })
  const lines = headerLines([
    ['Cache-Control', NO_STORE],
    ['Content-Type', JSON_TYPE],
    ['Content-Length', String(body.length)],
    ['Connection', 'close'],
  ])
  return `HTTP/1.1 ${statusLine(status)}${lines}\r\n\r\n${body}`
}
