import type { UwsApp, UwsRequest, UwsResponse, UwsSocketContext, UwsWebSocket } from './uws.js'
import {
  type AcceptSocket,
  MAX_RECEIVED_BYTES,
  SOCKET_IDLE_SEC,
  type SocketListener,
  type WireSocket,
} from './wire.js'

/** What a socket of uWebSockets.js carries. */
interface SocketData {
  readonly socket: UwsSocket
}

/** Beyond so much that waits, uWebSockets.js drops messages. Whoever sends them has a bound of his own, and never comes near it. */
const NEVER_DROPPED_BYTES = 1024 ** 3

/** What `WebSocket.send` says of a message that the kernel has taken whole. */
const SENT = 1

/**
 * Has requests for a WebSocket come with `accept`. Requests without a key for one go to the other handlers.
 * @param onClosed called for each WebSocket that has ended.
 */
export function takeSockets(
  app: UwsApp,
  path: string,
  onUpgrade: (response: UwsResponse, request: UwsRequest, accept: AcceptSocket) => void,
  onClosed: () => void,
): void {
  app.ws<SocketData>(path, {
    maxPayloadLength: MAX_RECEIVED_BYTES,
    maxBackpressure: NEVER_DROPPED_BYTES,
    idleTimeout: SOCKET_IDLE_SEC,
    sendPingsAutomatically: true,
    upgrade: (response, request, context) =>
      onUpgrade(response, request, (listener) => accept(response, request, context, listener)),
    open: (opened) => opened.getUserData().socket.open(opened),
    message: (opened) => opened.getUserData().socket.listener.onReceived('message'),
    ping: (opened) => opened.getUserData().socket.listener.onReceived('control'),
    pong: (opened) => opened.getUserData().socket.listener.onReceived('control'),
    drain: (opened) => {
      if (opened.getBufferedAmount() === 0) opened.getUserData().socket.listener.onDrained()
    },
    close: (opened) => {
      opened.getUserData().socket.listener.onGone()
      onClosed()
    },
  })
}

function accept(
  response: UwsResponse,
  request: UwsRequest,
  context: UwsSocketContext,
  listener: SocketListener,
): WireSocket {
  const socket = new UwsSocket(listener)
  // No subprotocol and no extension: one that compresses would take memory for each client. It calls `open` before it returns.
  response.upgrade<SocketData>({ socket }, request.getHeader('sec-websocket-key'), '', '', context)
  return socket
}

class UwsSocket implements WireSocket {
  readonly listener: SocketListener
  #opened: UwsWebSocket<SocketData> | undefined

  constructor(listener: SocketListener) {
    this.listener = listener
  }

  open(opened: UwsWebSocket<SocketData>): void {
    this.#opened = opened
  }

  send(text: string): boolean {
    return this.#opened!.send(text) === SENT
  }

  end(code: number, reason: string): void {
    this.#opened!.end(code, reason)
  }

  close(): void {
    this.#opened!.close()
  }
}
