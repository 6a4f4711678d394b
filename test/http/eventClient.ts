import { get, type IncomingMessage } from 'node:http'
import { until } from '../support/until.js'

/** One event of a stream, as a reader by the standard sees it. */
export interface ReadEvent {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Reads Server-Sent Events as the standard says, and keeps what came. */
export class EventClient {
  readonly events: ReadEvent[] = []
  /** What a reader sends when it comes again. */
  lastEventId = ''
  retryMs: number | undefined
  comments = 0
  isEnded = false
  readonly response: IncomingMessage
  #rest = ''

  private constructor(response: IncomingMessage) {
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

  close(): void {
    this.response.destroy()
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
        else if (field === '') this.comments++
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
