import type { UwsApp, UwsRequest, UwsResponse, UwsSocketContext, UwsWebSocket } from './uws.js'
import {
  type AcceptSocket,
  type ConnectionWatch,
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

/** The code with which a connection is closed that had not been ended: it is no more. */
const ABNORMAL = 1006

/** Longest time for which uWebSockets.js waits for a client's FIN once it has ended a WebSocket: the margin of its pings, and a tick. */
const FIN_WAIT_MS = 20_000
const BATCH_MS = 1_000
/** Most ended WebSockets of a port that are not counted as connections, and the part of all connections that they are at most. */
const MOST_UNCOUNTED = 256
const UNCOUNTED_SHARE = 16

/**
 * WebSockets that have ended, but perhaps not their connections: uWebSockets.js tells of no client's FIN. A few are no longer counted;
 * those beyond stay counted for as long as their connections may last, or who never closes his side would have any number of them.
 */
export class EndedSockets {
  readonly #connections: Pick<ConnectionWatch, 'leave'>
  readonly #mostUncounted: number
  #waiting = 0
  /** Those that have ended within the last `BATCH_MS`, which share a timer. */
  #batch: { count: number; readonly beganAtMs: number } | undefined

  constructor(connections: Pick<ConnectionWatch, 'leave' | 'max'>) {
    this.#connections = connections
    this.#mostUncounted = Math.min(MOST_UNCOUNTED, Math.floor(connections.max / UNCOUNTED_SHARE))
  }

  /** One has ended. */
  add(): void {
    const nowMs = performance.now()
    if (this.#batch === undefined || nowMs - this.#batch.beganAtMs >= BATCH_MS) {
      const batch = { count: 0, beganAtMs: nowMs }
      this.#batch = batch
      setTimeout(() => this.#forget(batch.count), FIN_WAIT_MS + BATCH_MS).unref()
    }
    this.#batch.count++
    this.#waiting++
    if (this.#waiting <= this.#mostUncounted) this.#connections.leave()
  }

  #forget(count: number): void {
    for (; count > 0; count--) {
      if (this.#waiting > this.#mostUncounted) this.#connections.leave()
      this.#waiting--
    }
  }
}

/**
 * Has requests for a WebSocket come with `accept`. Requests without a key for one go to the other handlers.
 * @param onClosed called for each WebSocket that has ended; `isGone`: its connection is no more, either.
 */
export function takeSockets(
  app: UwsApp,
  path: string,
  onUpgrade: (response: UwsResponse, request: UwsRequest, accept: AcceptSocket) => void,
  onClosed: (isGone: boolean) => void,
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
    close: (opened, code) => {
      opened.getUserData().socket.listener.onGone()
      onClosed(code === ABNORMAL)
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
