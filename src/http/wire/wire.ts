import type { Turn } from './turn.js'

/**
 * One answer on its way to its client. The methods are those of uWebSockets.js' response, which serves as a `Wire` as it is: a
 * wrapper would be one more object per request.
 *
 * A status, then headers, then one of `end`, `tryEnd`, `endWithoutBody` and, any number of times before `end`, `write`. Once the answer is out, or `onAborted` was called,
 * nothing may be called any more.
 */
export interface Wire extends Peer {
  /** @param line `404 Not Found`. Without this call it is `200 OK`. */
  writeStatus(line: string): unknown
  /** @param value of the header and, behind it, any number of further header lines (`headerLines`). It may be overwritten afterwards. */
  writeHeader(name: Uint8Array | string, value: Uint8Array | string): unknown
  /** @param close adds `Connection: close`, and ends the connection when all is sent. */
  end(body: Uint8Array | string, close: boolean): unknown
  /**
   * Sends as much as the client takes now. Where that is not all, `onWritable` follows, and the answer goes on with what is left.
   * Where it is all, but not the end of the body, the next part may follow at any time.
   * @param size bytes of the whole body.
   */
  tryEnd(body: Uint8Array | string, size: number): [isTaken: boolean, isOut: boolean]
  /** @param size the `Content-Length` of an answer to HEAD. @param close only where `WireTraits.closesBodiless`. */
  endWithoutBody(size?: number, close?: boolean): unknown
  /**
   * Sends a part of a body whose size is not known, which is not empty; `end` ends it.
   * @returns false when the client does not take all of it now: then `onWritable` follows.
   */
  write(body: Uint8Array | string): boolean
  /** Called when the client takes more. @param handler gets the bytes of the body that were taken so far, and returns false if it has tried to send more in vain. */
  onWritable(handler: (offset: number) => boolean): unknown
  /** Called when the connection ends before the answer is out. */
  onAborted(handler: () => void): unknown
  /** Sends what `write` writes in one piece. Needed outside of the request's handler. */
  cork(write: () => void): unknown
  /** Ends the connection at once, also in the middle of an answer. */
  close(): unknown
}

/** The other end of a connection. */
export interface Peer {
  /** 4 or 16 bytes, or text. */
  getRemoteAddress(): ArrayBuffer | string
}

/** The head of one request. It may be read only until its handler returns. */
export interface WireRequest {
  /** In any letter case. */
  getMethod(): string
  /** What stands in front of the `?`. */
  getUrl(): string
  /** What stands behind it; undefined without a `?`. */
  getQuery(): string | undefined
  /** The first header of this name, '' for none. @param name in small letters. */
  getHeader(name: string): string
  /** All headers in order, their names in small letters. */
  forEach(visit: (name: string, value: string) => void): void
}

/**
 * It must not throw: an error that reaches uWebSockets.js ends the process.
 * @param accept there where the request may become a WebSocket.
 */
export type RequestHandler = (wire: Wire, request: WireRequest, accept?: AcceptSocket) => void

/**
 * Makes the connection of a request a WebSocket, in the place of an answer: within the request's handler, and only of a request in which
 * `handshakeFault` finds none. The request's `Wire` is no more then.
 */
export type AcceptSocket = (listener: SocketListener) => WireSocket

/** A WebSocket to a client. Nothing may be called any more once it has ended. */
export interface WireSocket {
  /** Sends one message. @returns false when the client does not take all of it now: then `onDrained` follows. */
  send(text: string): boolean
  /** Tells the client why, and ends the connection. Calls `onGone`. */
  end(code: number, reason: string): void
  /** Ends the connection at once, without a word. Calls `onGone`. */
  close(): void
}

/** What a transport tells of a WebSocket. It must not throw. */
export interface SocketListener {
  /** The client has taken all that it was sent. */
  onDrained(): void
  /** The client has sent something, which nobody reads: a message, or a ping or a pong, which the transport has answered. */
  onReceived(kind: 'message' | 'control'): void
  /** The connection has ended. Called once. */
  onGone(): void
}

/** Longest message of a client that is taken at all, in bytes: one that sends more loses its connection. */
export const MAX_RECEIVED_BYTES = 1_024
/** A WebSocket whose client is silent for this long, and answers no ping, is ended. */
export const SOCKET_IDLE_SEC = 60

/** What an exchange must know of its transport. */
export interface WireTraits {
  /** Whether `endWithoutBody` can end the connection. */
  readonly closesBodiless: boolean
  /** Whether a client that reads nothing is noticed also while its answers have no body. */
  readonly noticesBodiless: boolean
  /** Whether it keeps what a client does not take, so that what `tryEnd` is given must not be overwritten. */
  readonly keepsUnsent: boolean
  /**
   * Answers from within the handler, and ends the connection before the bytes behind the head are read as another request.
   * @param head value of `Cache-Control` and all header lines but `Content-Length`.
   */
  endAndClose(wire: Wire, status: string, head: string, body: string, isHead: boolean): void
}

export interface OpenOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** Threads of this process that open the same port. More than 1 only where `Transport.sharesPorts`. */
  readonly cells: number
  /** Any method and path. */
  readonly onRequest: RequestHandler
  /** Handlers of GET by path. A transport without a router of its own gives these requests to `onRequest`, too. */
  readonly onGet: ReadonlyMap<string, RequestHandler>
  /** Where `onRequest` is given `accept`. A transport without a router of its own does so everywhere. */
  readonly socketPaths: readonly string[]
  /** What bounds the requests of a connection that are answered at once. */
  readonly turn: Turn
  readonly connections: ConnectionWatch
  /** Descriptors of the process before any of its ports had connections. */
  readonly otherFiles: number | undefined
}

/** What a transport tells of its clients' connections. */
export interface ConnectionWatch {
  /** Most connections that there may be; `Infinity` = no limit. */
  readonly max: number
  /** Counts a new connection. @returns false: the transport ends it at once. */
  arrive(peer: Peer): boolean
  /** Called once for each call of `arrive`, when the connection has ended. */
  leave(): void
  /** In place of these two: how many there are now. */
  recount(open: number): void
  /** Connections can't be taken: there are `max`. */
  refuse(): void
}

/** A port that takes requests. */
export interface OpenPort {
  readonly port: number
  /**
   * To be called ten times a second: for a transport that is not told of connections.
   * @returns false when the next call may wait for the next turn of the event loop.
   */
  look(): boolean
  /** Takes no new connections; those that are open go on. Call it once. */
  stopListening(): void
  /** Ends every connection. */
  close(): void
}

/** What speaks HTTP with clients: a build of uWebSockets.js, or node:http. */
export interface Transport extends WireTraits {
  /** For logs, metrics and `doctor`. */
  readonly name: string
  readonly version: string
  /** Whether several threads can open one port, so that the kernel deals out the connections. */
  readonly sharesPorts: boolean
  /** @throws OperatorError when the port can't be had. */
  open(options: OpenOptions): Promise<OpenPort>
}
