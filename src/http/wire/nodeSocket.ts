import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { MAX_RECEIVED_BYTES, SOCKET_IDLE_SEC, type SocketListener, type WireSocket } from './wire.js'

/** Above so much that waits for a client its pings are not answered: it does not take the answers. */
const MOST_UNSENT_BYTES = 16_384

/** WebSockets of a server of node:http, by the package `ws`. */
export class NodeSockets {
  readonly #open = new Set<NodeSocket>()
  readonly #looking: NodeJS.Timeout
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Would take memory for each client.
    perMessageDeflate: false,
    maxPayload: MAX_RECEIVED_BYTES,
    autoPong: false,
  })

  constructor() {
    this.#looking = setInterval(() => this.#look(), (1_000 * SOCKET_IDLE_SEC) / 2).unref()
  }

  /** @param head what came behind the request. @returns undefined where `ws` has refused it, and ended the connection. */
  accept(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    listener: SocketListener,
  ): WireSocket | undefined {
    // None is spoken. `ws` would refuse a malformed one, and nobody else.
    delete request.headers['sec-websocket-protocol']
    let accepted: NodeSocket | undefined
    // It calls back before it returns.
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const own = new NodeSocket(opened, socket, listener)
      this.#open.add(own)
      opened.on('close', () => this.#open.delete(own))
      accepted = own
    })
    return accepted
  }

  /** Ends all at once. */
  close(): void {
    clearInterval(this.#looking)
    for (const each of this.#open) each.close()
  }

  #look(): void {
    for (const each of this.#open) each.look()
  }
}

/** What a client may still send after its connection was ended, before it has read so. */
const MOST_LATE = 16

class NodeSocket implements WireSocket {
  readonly #opened: WebSocket
  readonly #connection: Socket
  readonly #listener: SocketListener
  #isFull = false
  #isGone = false
  /** Whether its client has sent something since the last look. */
  #isAlive = true
  #late = 0

  constructor(opened: WebSocket, connection: Socket, listener: SocketListener) {
    this.#opened = opened
    this.#connection = connection
    this.#listener = listener
    opened.on('message', () => this.#received('message'))
    opened.on('ping', (data) => {
      if (opened.bufferedAmount <= MOST_UNSENT_BYTES) opened.pong(data)
      this.#received('control')
    })
    opened.on('pong', () => this.#received('control'))
    // Follows each error, which has no other meaning.
    opened.on('close', () => this.#gone())
    opened.on('error', () => undefined)
  }

  send(text: string): boolean {
    this.#opened.send(text, () => {
      if (!this.#isFull || this.#opened.bufferedAmount > 0) return
      this.#isFull = false
      if (!this.#isGone) this.#listener.onDrained()
    })
    this.#isFull = this.#opened.bufferedAmount > 0
    return !this.#isFull
  }

  end(code: number, reason: string): void {
    this.#opened.close(code, reason)
    // `ws` would wait 30 s for a client that does not say goodbye. uWebSockets.js ends its side at once, too.
    this.#connection.end()
    this.#gone()
  }

  close(): void {
    this.#opened.terminate()
    this.#gone()
  }

  /** Ends a connection whose client has answered no ping since the last call. */
  look(): void {
    if (!this.#isAlive) {
      this.close()
      return
    }
    this.#isAlive = false
    this.#opened.ping()
  }

  #received(kind: 'message' | 'control'): void {
    this.#isAlive = true
    if (!this.#isGone) this.#listener.onReceived(kind)
    else if (++this.#late > MOST_LATE) this.#opened.terminate()
  }

  #gone(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#listener.onGone()
  }
}
