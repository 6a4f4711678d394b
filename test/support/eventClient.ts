import { get, type IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { until } from './until.js'

/** One event of a stream, as a reader by the standard sees it. */
export interface ReadEvent {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A client that keeps what it is told. */
abstract class ReadingClient {
  readonly events: ReadEvent[] = []
  /** Where it goes on when it comes again. */
  lastEventId = ''
  /** How often it was told that the connection lives. */
  signs = 0
  isEnded = false

  abstract close(): void
  /** Takes nothing more. */
  abstract pause(): void

  /** Waits for so many events in all. */
  async hasRead(count: number): Promise<readonly ReadEvent[]> {
    await until(
      () => this.events.length,
      (length) => length >= count,
      `${count} events`,
    )
    return this.events
  }

  /** Waits until it is at this place. */
  async isAt(ids: string): Promise<void> {
    await until(
      () => this.lastEventId,
      (id) => id === ids,
      `at ${ids}`,
    )
  }

  async hasEnded(): Promise<void> {
    await until(
      () => this.isEnded,
      (isEnded) => isEnded,
      'the end',
    )
  }
}

/** Reads Server-Sent Events as the standard says. */
export class EventClient extends ReadingClient {
  retryMs: number | undefined
  readonly response: IncomingMessage
  #rest = ''

  private constructor(response: IncomingMessage) {
    super()
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#take(text))
    response.on('close', () => {
      this.isEnded = true
    })
    response.on('error', () => undefined)
  }

  /** @param query behind the path. @param from another one's place. */
  static open(port: number, query = '', lastEventId = ''): Promise<EventClient> {
    const headers = lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId }
    return new Promise((resolve, reject) => {
      get({ port, host: '127.0.0.1', path: `/bridge/v1/events${query}`, headers, agent: false }, (response) =>
        resolve(new EventClient(response)),
      ).on('error', reject)
    })
  }

  close(): void {
    this.response.destroy()
  }

  pause(): void {
    this.response.pause()
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop()!
    for (const block of blocks) {
      let type = 'message'
      let data: string | undefined
      for (const line of block.split('\n')) {
        const colon = line.indexOf(':')
        const [field, value] = [line.slice(0, colon), line.slice(colon + 1).trimStart()]
        if (field === 'id') this.lastEventId = value
        else if (field === 'event') type = value
        else if (field === 'data') data = value
        else if (field === 'retry') this.retryMs = Number(value)
        else if (field === '') this.signs++
      }
      if (data !== undefined)
        this.events.push({
          id: this.lastEventId,
          type,
          data: JSON.parse(data) as Readonly<Record<string, unknown>>,
        })
    }
  }
}

/** Reads events over WebSocket. */
export class SocketClient extends ReadingClient {
  closeCode: number | undefined
  closeReason = ''
  readonly socket: WebSocket

  private constructor(socket: WebSocket) {
    super()
    this.socket = socket
    socket.on('message', (data) => this.#take(String(data)))
    socket.on('close', (code, reason) => {
      this.closeCode = code
      this.closeReason = String(reason)
      this.isEnded = true
    })
    socket.on('error', () => undefined)
  }

  /** @param query behind the path. @param from another one's place. */
  static open(port: number, query = '', after = ''): Promise<SocketClient> {
    const place = after === '' ? query : `${query}${query === '' ? '?' : '&'}after=${after}`
    const socket = new WebSocket(`ws://127.0.0.1:${port}/bridge/v1/events/ws${place}`)
    const client = new SocketClient(socket)
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(client))
      socket.once('error', reject)
    })
  }

  close(): void {
    this.socket.terminate()
  }

  pause(): void {
    this.socket.pause()
  }

  #take(text: string): void {
    const { position, event } = JSON.parse(text) as {
      readonly position: string
      readonly event?: ReadEvent['data']
    }
    this.lastEventId = position
    if (event === undefined) this.signs++
    else this.events.push({ id: position, type: String(event.type), data: event })
  }
}
