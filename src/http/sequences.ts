import { splitQueryString } from '../api/parse/queryString.js'
import { type StatusBoardHandle, statusRow } from '../board/statusBoard.js'
import type { VersionNow } from '../board/version.js'
import { type Failure, failure } from '../query/answers.js'
import { networkNotServed } from '../query/refusals.js'
import type { Exchange } from './wire/exchange.js'

const NAME = 'min_sequence'
const LOOK_EVERY_MS = 5
/** Of the deadline that a request may wait for a log: the rest is for its answer. */
const WAIT_SHARE = 0.8
/** Requests of a front thread that wait for a log. Each one holds its connection. */
const MOST_WAITING = 1_000
const RETRY_SEC = 1
/** Longest text: one item for each network that an instance may serve. */
const MAX_LISTED = 53

interface Wanted {
  readonly networkId: number
  readonly sequence: number
}

interface Waiting {
  readonly wanted: readonly Wanted[]
  readonly exchange: Exchange
  readonly untilMs: number
  readonly answer: () => void
}

/** How far the logs are stored in this instance of a cluster, for requests that ask for a place in one, and for the header of answers. */
export class Sequences {
  readonly #rows: ReadonlyMap<number, ReturnType<typeof statusRow>>
  readonly #readVersion: () => VersionNow
  readonly #longestMs: number
  #waiting: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  #version: VersionNow | undefined
  #line = ''

  readonly #now: () => number

  /** @param deadlineMs of a request. */
  constructor(
    status: StatusBoardHandle,
    readVersion: () => VersionNow,
    deadlineMs: number,
    now: () => number = () => performance.now(),
  ) {
    this.#now = now
    this.#rows = new Map(status.networkIds.map((networkId) => [networkId, statusRow(status, networkId)]))
    this.#readVersion = readVersion
    this.#longestMs = WAIT_SHARE * deadlineMs
  }

  /**
   * Calls `answer` once this instance has stored every log up to where the query asks for: at once, or later while the exchange is held. Or
   * refuses the request: 400 for what is no place, 503 when the time is over.
   */
  whenStored(rawQuery: string, exchange: Exchange, answer: () => void): void {
    const wanted = wantedBy(rawQuery)
    if ('ok' in wanted) {
      exchange.refuse(wanted)
      return
    }
    const refusal = this.#refusalOf(wanted)
    if (refusal !== undefined) {
      exchange.refuse(refusal)
      return
    }
    if (this.#missing(wanted) === undefined) {
      answer()
      return
    }
    exchange.hold()
    this.#waiting.push({ wanted, exchange, untilMs: this.#now() + this.#longestMs, answer })
    this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS)
  }

  /** `X-Data-Block: 0=123, 1=45`: newest stored block of each network; what is answered afterwards is of these blocks or newer. A header line. */
  blocksLine(): string {
    const version = this.#readVersion()
    if (version === this.#version) return this.#line
    const blocks = [...this.#rows].flatMap(([networkId, row]) => {
      const block = row.get('syncedBlock')
      return block === undefined ? [] : [`${networkId}=${block}`]
    })
    this.#version = version
    this.#line = blocks.length === 0 ? '' : `\r\nX-Data-Block: ${blocks.join(', ')}`
    return this.#line
  }

  #refusalOf(wanted: readonly Wanted[]): Failure | undefined {
    const stranger = wanted.find(({ networkId }) => !this.#rows.has(networkId))
    if (stranger !== undefined) return networkNotServed(stranger.networkId)
    if (this.#missing(wanted) === undefined || this.#waiting.length < MOST_WAITING) return undefined
    return failure('SERVICE_UNAVAILABLE', 'too many requests wait for a log', RETRY_SEC)
  }

  #look(): void {
    this.#timer = undefined
    const nowMs = this.#now()
    const waiting = this.#waiting
    this.#waiting = []
    for (const each of waiting) {
      const { exchange, wanted, untilMs, answer } = each
      if (!exchange.isWaiting) continue
      const missing = this.#missing(wanted)
      try {
        if (missing === undefined) answer()
        else if (nowMs < untilMs) this.#waiting.push(each)
        else exchange.refuse(notStored(missing, this.#storedOf(missing.networkId)))
      } catch (error) {
        exchange.fail(error)
      }
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS)
  }

  #missing(wanted: readonly Wanted[]): Wanted | undefined {
    return wanted.find(({ networkId, sequence }) => this.#storedOf(networkId) < sequence)
  }

  #storedOf(networkId: number): number {
    return this.#rows.get(networkId)?.get('logSequence') ?? 0
  }
}

/** Whether the query may ask for a place in a log. */
export function asksForSequence(rawQuery: string): boolean {
  return rawQuery.includes(NAME)
}

/** The refusal of a service that is alone; undefined where the query asks for no place after all. */
export function refuseAlone(rawQuery: string): Failure | undefined {
  const wanted = wantedBy(rawQuery)
  if ('ok' in wanted) return wanted
  if (wanted.length === 0) return undefined
  return failure('INVALID_PARAMETER', `${NAME} is for services of a cluster, and this one has no log`)
}

/** Every `min_sequence=network:sequence`, repeated or with commas between. What else is wrong with the query is the parser's to say. */
function wantedBy(rawQuery: string): Wanted[] | Failure {
  const pieces = splitQueryString(rawQuery)
  if (!Array.isArray(pieces)) return []
  const items = pieces.filter(({ name }) => name === NAME).flatMap(({ value }) => value.split(','))
  if (items.length > MAX_LISTED)
    return failure(
      'INVALID_PARAMETER',
      `${NAME} has ${items.length} items, at most ${MAX_LISTED} are allowed`,
    )
  const wanted: Wanted[] = []
  for (const item of items) {
    const [, network, sequence] = /^(0|[1-9]\d{0,9}):(0|[1-9]\d{0,14})$/.exec(item) ?? []
    if (network === undefined)
      return failure(
        'INVALID_PARAMETER',
        `${NAME} ${JSON.stringify(item.slice(0, 60))} is not network:sequence`,
      )
    wanted.push({ networkId: Number(network), sequence: Number(sequence) })
  }
  return wanted
}

function notStored({ networkId, sequence }: Wanted, stored: number): Failure {
  return failure(
    'SERVICE_UNAVAILABLE',
    `the log of network ${networkId} is stored up to ${stored} here, ${NAME} asks for ${sequence}`,
    RETRY_SEC,
  )
}
