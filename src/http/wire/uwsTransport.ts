import { createServer } from 'node:net'
import { listenFailure } from '../../errors/listenFailure.js'
import { Listener } from './listener.js'
import {
  LISTEN_EXCLUSIVE_PORT,
  LISTEN_SHARED_PORT,
  type ListenSocket,
  type UwsApp,
  type UwsCore,
  type UwsRequest,
  type UwsResponse,
  uwsMethods,
} from './uws.js'
import { EndedSockets, takeSockets } from './uwsSocket.js'
import type { OpenOptions, OpenPort, RequestHandler, Transport, Wire } from './wire.js'

/** Size of the buffer in which uWebSockets.js collects what a handler writes. */
const CORK_BYTES = 16_384

/** A build of uWebSockets.js as a transport. Its own response and request objects are `Wire` and `WireRequest`. */
export function uwsTransport(core: UwsCore): Transport {
  return {
    name: core.name,
    version: core.version,
    closesBodiless: core.closesBodiless,
    noticesBodiless: false,
    keepsUnsent: false,
    // Elsewhere the kernel gives every connection to one of the threads.
    sharesPorts: process.platform === 'linux',
    endAndClose,
    open: (options) => open(core, options),
  }
}

async function open(
  core: UwsCore,
  { host, port, cells, onRequest, onGet, socketPaths, turn, connections, otherFiles }: OpenOptions,
): Promise<OpenPort> {
  const app = core.createApp()
  const bounded = (handler: RequestHandler) => (response: UwsResponse, request: UwsRequest) => {
    // The router goes on with the next handler that matches, at last with that of `any`.
    if (turn.takesAsProbe(response)) request.setYield(true)
    else handler(response, request)
  }
  const ended = new EndedSockets(connections)
  for (const path of socketPaths)
    takeSockets(
      app,
      path,
      (response, request, accept) => {
        // The router would give a request that is yielded to a handler without `accept`.
        turn.takesUnprobed()
        onRequest(response, request, accept)
      },
      // A filter is not told of the end of a connection that has become a WebSocket.
      (isGone) => {
        if (app.filter === undefined) return
        if (isGone) connections.leave()
        else ended.add()
      },
    )
  for (const [path, handler] of onGet) app.get(path, bounded(handler))
  for (const method of uwsMethods) app[method]('/*', bounded(onRequest))
  app.any('/*', (response, request) => {
    turn.takesUnprobed()
    onRequest(response, request)
  })
  const options = cells > 1 ? LISTEN_SHARED_PORT : LISTEN_EXCLUSIVE_PORT
  const track = (response: UwsResponse, change: number): void => {
    if (change < 0) connections.leave()
    else if (!connections.arrive(response)) response.close()
  }
  app.filter?.(track)
  const socket = await listen(app, host, port, options)
  const opened = core.portOf(socket)
  const listener = new Listener(socket, {
    close: (open) => core.closeListenSocket(open),
    open: () => listenAgain(app, host, opened, options),
    connections,
    cells,
    otherFiles,
  })
  return {
    port: opened,
    look: app.filter === undefined ? () => listener.look() : () => false,
    stopListening: () => listener.stop(),
    close: () => {
      listener.stop()
      app.close()
    },
  }
}

/** @returns undefined where the port can't be had. uWebSockets.js calls back before it returns. */
function listenAgain(app: UwsApp, host: string, port: number, options: number): ListenSocket | undefined {
  let opened: ListenSocket | undefined
  app.listen(host, port, options, (socket) => {
    if (socket !== false) opened = socket
  })
  return opened
}

/**
 * `close` is the only call that closes at once, and it drops what is still in the buffer of uWebSockets.js. So the answer is padded
 * with blanks to more than the buffer's size: then all of it is written before `close`.
 */
function endAndClose(wire: Wire, status: string, head: string, body: string, isHead: boolean): void {
  const padded = body.padEnd(CORK_BYTES)
  // `writeHeader` adds a line break. In an answer to HEAD that line break ends the head; in any other answer it becomes the last
  // two bytes of the body. For HEAD the padding stands in front of a header's value, where clients ignore blanks.
  const size = padded.length + 2
  const rest = isHead
    ? `\r\nContent-Length:${' '.repeat(CORK_BYTES)}${size}\r\n`
    : `\r\nContent-Length: ${size}\r\n\r\n${padded}`
  wire.writeStatus(status)
  wire.writeHeader('Cache-Control', head + rest)
  wire.close()
}

function listen(app: UwsApp, host: string, port: number, options: number): Promise<ListenSocket> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, options, (socket) => {
      if (socket !== false) resolve(socket)
      else whyNotListening(host, port).then((error) => reject(listenFailure(host, port, error)))
    })
  })
}

/** Finds out why the port can't be had: uWebSockets.js does not say, so node's own server tries the same. */
function whyNotListening(host: string, port: number): Promise<NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', resolve)
    probe.listen({ host, port, exclusive: true }, () =>
      probe.close(() => resolve(new Error('the port was taken'))),
    )
  })
}
