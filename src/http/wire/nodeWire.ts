import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { MAX_PER_TURN, type Turn } from './turn.js'
import type { AcceptSocket, RequestHandler, SocketListener, Wire, WireRequest, WireSocket } from './wire.js'

/** A client that takes nothing of its answer for this long is cut off, as by uWebSockets.js. */
const SILENT_MS = 10_000

type TakenAndOut = [isTaken: boolean, isOut: boolean]

/** What node:http has its parser call with each head. No documentation has it, so it may be missing one day. */
interface ParsedSocket {
  readonly parser?: { onIncoming?: TakeHead | null } | null
}
type TakeHead = (request: IncomingMessage, keepAlive: boolean) => number | undefined

/** The parser takes what follows for another protocol, and stops. */
const STOP = 2

/** A request, or the text of a refusal for bytes that are none. */
type Arrival = NodeWire | string

/**
 * One client's connection, which answers one request at a time and in order. node:http itself would answer any number of
 * pipelined requests and keep their answers in memory. Here a request that comes before the answer to an earlier one is out ends
 * the connection, as with uWebSockets.js.
 */
export class NodeConnection {
  private readonly socket: Socket
  private readonly onRequest: RequestHandler
  private readonly turn: Turn
  private current: NodeWire | undefined
  /** What came in one piece with `current`, whose answer is out but for node:http's next tick. */
  private readonly waiting: Arrival[] = []
  private isEnding = false

  constructor(socket: Socket, onRequest: RequestHandler, turn: Turn) {
    this.socket = socket
    this.onRequest = onRequest
    this.turn = turn
    socket.on('close', () => this.current?.abort())
    this.stopAtEnd(socket as ParsedSocket)
  }

  /**
   * The parser makes requests of all that one read of the socket has brought, 2,000 in 64 KiB, also once the connection is closed. So from the
   * first one that nobody takes on it stops.
   */
  private stopAtEnd({ parser }: ParsedSocket): void {
    const take = parser?.onIncoming
    if (parser && take) parser.onIncoming = (...head) => (this.isEnding ? STOP : take(...head))
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    this.arrive(new NodeWire(this, this.socket, request, response))
  }

  /**
   * Takes a request that node:http has let go of, with its connection, since it asks for another protocol.
   * @param response its connection ends with it. @param accept makes the connection a WebSocket in its place; undefined where that failed.
   */
  takeUpgrade(
    request: IncomingMessage,
    response: ServerResponse,
    accept: (listener: SocketListener) => WireSocket | undefined,
  ): void {
    this.arrive(new NodeWire(this, this.socket, request, response, accept))
  }

  /** The connection is a WebSocket now. */
  becameSocket(): void {
    this.isEnding = true
    this.current = undefined
  }

  /** @param refusal an answer as text, after which the connection ends; '' for none. */
  refuse(refusal: string): void {
    this.arrive(refusal)
  }

  /** Drops what comes behind the current answer, which has `Connection: close`. */
  endWithAnswer(): void {
    this.isEnding = true
  }

  /** Ends the connection at once. */
  cut(): void {
    this.isEnding = true
    this.socket.destroy()
    // Not only when the socket reports it: an answer that was put off would go to nobody before that, and count as sent.
    this.current?.abort()
  }

  /** Called when the kernel has all of the current answer. */
  answerIsOut(): void {
    this.current = undefined
    const next = this.waiting.shift()
    if (next === undefined || this.isEnding) return
    this.begin(next)
    if (this.waiting.length > 0 && this.isBehind()) this.cut()
  }

  private arrive(arrival: Arrival): void {
    if (this.isEnding) return
    if (this.current === undefined) this.begin(arrival)
    else if (this.isBehind()) this.cut()
    else if (this.waiting.length < MAX_PER_TURN - 1) this.waiting.push(arrival)
    else {
      this.turn.cut()
      this.cut()
    }
  }

  private begin(arrival: Arrival): void {
    if (typeof arrival !== 'string') {
      this.current = arrival
      this.onRequest(arrival, arrival, arrival.accept)
      return
    }
    this.isEnding = true
    if (arrival !== '') this.socket.write(arrival)
    this.socket.destroySoon()
  }

  /** Whether the current answer waits: for a query thread, or for the client to read. */
  private isBehind(): boolean {
    return this.current !== undefined && (!this.current.isAnswered || this.socket.writableLength > 0)
  }
}

/** A request of node:http and its answer. */
export class NodeWire implements Wire, WireRequest {
  /** Whether all of the answer was given to node:http. */
  isAnswered = false
  private readonly connection: NodeConnection
  private readonly socket: Socket
  private readonly request: IncomingMessage
  private readonly response: ServerResponse
  private readonly queryAt: number
  /** There where the request may become a WebSocket. */
  readonly accept: AcceptSocket | undefined
  private status = 200
  private reason = 'OK'
  private readonly headers: string[] = []
  private isBegun = false
  /** Whether the last `write` was not taken whole. */
  private isFull = false
  /** Bytes of the body that `tryEnd` was given. */
  private given = 0
  private onWritten: ((offset: number) => boolean) | undefined
  private onGone: (() => void) | undefined

  constructor(
    connection: NodeConnection,
    socket: Socket,
    request: IncomingMessage,
    response: ServerResponse,
    upgrade?: (listener: SocketListener) => WireSocket | undefined,
  ) {
    this.connection = connection
    this.accept =
      upgrade &&
      ((listener) => {
        connection.becameSocket()
        const socket = upgrade(listener)
        if (socket === undefined) throw new TypeError('a request for a WebSocket was refused by the library')
        return socket
      })
    this.socket = socket
    this.request = request
    this.response = response
    this.queryAt = this.url().indexOf('?')
  }

  getMethod(): string {
    return this.request.method ?? ''
  }

  getUrl(): string {
    return this.queryAt < 0 ? this.url() : this.url().slice(0, this.queryAt)
  }

  getQuery(): string | undefined {
    return this.queryAt < 0 ? undefined : this.url().slice(this.queryAt + 1)
  }

  getHeader(name: string): string {
    const { rawHeaders } = this.request
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]!.toLowerCase() === name) return rawHeaders[at + 1]!
    return ''
  }

  forEach(visit: (name: string, value: string) => void): void {
    const { rawHeaders } = this.request
    for (let at = 0; at < rawHeaders.length; at += 2)
      visit(rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!)
  }

  getRemoteAddress(): string {
    return this.socket.remoteAddress ?? ''
  }

  writeStatus(line: string): void {
    this.status = Number(line.slice(0, 3))
    this.reason = line.slice(4)
  }

  writeHeader(name: Uint8Array | string, value: Uint8Array | string): void {
    const [first = '', ...lines] = latin1(value).split('\r\n')
    this.headers.push(latin1(name), first)
    for (const line of lines) {
      const colon = line.indexOf(':')
      this.headers.push(line.slice(0, colon), line.slice(colon + 1).trimStart())
    }
  }

  end(body: Uint8Array | string, close: boolean): void {
    this.headers.push('Content-Length', String(Buffer.byteLength(body)))
    this.answer(typeof body === 'string' ? body : Buffer.from(body), close)
  }

  /** node:http takes all that it is given and holds what the client does not take, so that `onWritable` finds nothing of it left. */
  tryEnd(body: Uint8Array | string, size: number): TakenAndOut {
    if (this.isAnswered) return [true, true]
    if (!this.isBegun) this.headers.push('Content-Length', String(size))
    this.given += Buffer.byteLength(body)
    if (this.given >= size) {
      this.answer(body, false)
      const isOut = this.socket.writableLength === 0
      return [isOut, isOut]
    }
    this.begin(false)
    this.response.write(body, () => this.onWritten?.(this.given))
    this.limitSilence()
    return [false, false]
  }

  write(body: Uint8Array | string): boolean {
    this.begin(false)
    // node:http holds back what is written until the next tick, so what waits tells nothing here.
    this.isFull = !this.response.write(body, () => {
      if (this.isAnswered || this.socket.writableLength > 0) return
      this.socket.setTimeout(0)
      const wasFull = this.isFull
      this.isFull = false
      if (wasFull) this.onWritten?.(this.given)
    })
    this.limitSilence()
    return !this.isFull
  }

  endWithoutBody(size?: number, close = false): void {
    if (size !== undefined) this.headers.push('Content-Length', String(size))
    this.answer('', close)
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.onWritten = handler
  }

  onAborted(handler: () => void): void {
    this.onGone = handler
  }

  /** node:http sends an answer in one piece by itself. */
  cork(write: () => void): void {
    write()
  }

  close(): void {
    this.connection.cut()
  }

  /** Called when the connection has ended before the answer was out. */
  abort(): void {
    this.onGone?.()
  }

  private answer(body: Uint8Array | string, close: boolean): void {
    this.isAnswered = true
    this.begin(close)
    this.response.end(body, () => {
      this.onWritten?.(this.given)
      this.connection.answerIsOut()
    })
    this.limitSilence()
  }

  private begin(close: boolean): void {
    if (this.isBegun) {
      if (close) this.connection.endWithAnswer()
      return
    }
    this.isBegun = true
    const { response, headers, socket } = this
    if (this.accept !== undefined) {
      response.assignSocket(socket)
      response.once('finish', () => socket.destroySoon())
      // Nobody reads it any more, and its end would not be noticed.
      socket.resume()
    }
    const isLast = close || this.accept !== undefined
    const at = headers.lastIndexOf('Connection')
    // Else node:http adds `Connection: keep-alive`, which uWebSockets.js does not.
    if (at < 0 && !isLast) response.removeHeader('Connection')
    else if (at < 0) headers.push('Connection', 'close')
    else if (isLast && headers[at + 1] !== 'close') headers[at + 1] = `${headers[at + 1]}, close`
    if (isLast || (at >= 0 && headers[at + 1] === 'close')) this.connection.endWithAnswer()
    response.writeHead(this.status, this.reason, headers)
  }

  private limitSilence(): void {
    if (this.socket.writableLength > 0) this.socket.setTimeout(SILENT_MS)
  }

  private url(): string {
    return this.request.url ?? ''
  }
}

function latin1(text: Uint8Array | string): string {
  return typeof text === 'string'
    ? text
    : Buffer.from(text.buffer, text.byteOffset, text.length).toString('latin1')
}
