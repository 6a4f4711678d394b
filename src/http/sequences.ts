import { splitQueryString } from '../api/parse/queryString.js'
import { type StatusBoardHandle, statusRow } from '../board/statusBoard.js'
import type { VersionNow } from '../board/version.js'
import { type Failure, failure } from '../query/answers.js'
import { networkDiverged, networkNotServed } from '../query/refusals.js'
import { clientName } from './limits/client.js'
import type { TrustedProxies } from './limits/trustedProxies.js'
import { readDecimal } from './wire/decimal.js'
import type { Exchange } from './wire/exchange.js'
import type { WireRequest } from './wire/wire.js'

const NAME = 'min_sequence'
const LOOK_EVERY_MS = 5
/** Of the deadline that a request may wait for a log: the rest is for its answer. */
const WAIT_SHARE = 0.8
/** Requests of a front thread that wait for a log. Each one holds its connection. */
const MOST_WAITING = 1_000
/** Those of one client while more than half of all wait. */
const MOST_OF_CLIENT = 100
const RETRY_SEC = 1
/** Longest text: one item for each network that an instance may serve. */
const MAX_LISTED = 53
const COMMA = 0x2c
const MAX_NETWORK_DIGITS = 10
const MAX_SEQUENCE_DIGITS = 15

interface Wanted {
  readonly networkId: number
  readonly sequence: number
}

interface Waiting {
  /** What is not stored yet. It is looked at one by one: a thousand requests with 53 items each would take half of the thread's time. */
  readonly wanted: Wanted[]
  readonly exchange: Exchange
  readonly client: string
  readonly untilMs: number
  readonly answer: () => void
}

/** How far the logs are stored in this instance of a cluster, for requests that ask for a place in one, and for the header of answers. */
export class Sequences {
  readonly #rows: ReadonlyMap<number, ReturnType<typeof statusRow>>
  readonly #readVersion: () => VersionNow
  readonly #longestMs: number
  readonly #proxies: Pick<TrustedProxies, 'clientOf'>
  #waiting: Waiting[] = []
  readonly #waitingOf = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #version: VersionNow | undefined
  #line = ''
  #divergedVersion: VersionNow | undefined
  #diverged: number | undefined

  readonly #now: () => number

  /** @param deadlineMs of a request. */
  constructor(
    status: StatusBoardHandle,
    readVersion: () => VersionNow,
    deadlineMs: number,
    proxies: Pick<TrustedProxies, 'clientOf'>,
    now: () => number = () => performance.now(),
  ) {
    this.#now = now
    this.#rows = new Map(status.networkIds.map((networkId) => [networkId, statusRow(status, networkId)]))
    this.#readVersion = readVersion
    this.#longestMs = WAIT_SHARE * deadlineMs
    this.#proxies = proxies
  }

  /**
   * Calls `answer` once this instance has stored every log up to where the query asks for: at once, or later while the exchange is held. Or
   * refuses the request: 400 for what is no place, 503 when the time is over.
   */
  whenStored(rawQuery: string, exchange: Exchange, request: WireRequest, answer: () => void): void {
    const wanted = wantedBy(rawQuery)
    if ('ok' in wanted) {
      exchange.refuse(wanted)
      return
    }
    const stranger = wanted.find(({ networkId }) => !this.#rows.has(networkId))
    if (stranger !== undefined) {
      exchange.refuse(networkNotServed(stranger.networkId))
      return
    }
    if (this.#missing(wanted) === undefined) {
      answer()
      return
    }
    const client = clientName(this.#proxies.clientOf(exchange.peerAddress(), request))
    const ofClient = this.#waitingOf.get(client) ?? 0
    const { length } = this.#waiting
    if (length >= MOST_WAITING || (length >= MOST_WAITING / 2 && ofClient >= MOST_OF_CLIENT)) {
      exchange.refuse(failure('SERVICE_UNAVAILABLE', 'too many requests wait for a log', RETRY_SEC))
      return
    }
    exchange.hold()
    this.#waitingOf.set(client, ofClient + 1)
    this.#waiting.push({ wanted, exchange, client, untilMs: this.#now() + this.#longestMs, answer })
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

  /** The refusal of every query while what a network has stored here differs from its log; other instances answer. */
  refusal(): Failure | undefined {
    const version = this.#readVersion()
    if (version !== this.#divergedVersion) {
      this.#divergedVersion = version
      this.#diverged = [...this.#rows].find(([, row]) => row.haltReason() === 'diverged')?.[0]
    }
    return this.#diverged === undefined ? undefined : networkDiverged(this.#diverged)
  }

  #look(): void {
    this.#timer = undefined
    const nowMs = this.#now()
    const waiting = this.#waiting
    this.#waiting = []
    for (const each of waiting) if (!this.#isOver(each, nowMs)) this.#waiting.push(each)
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS)
  }

  /** Answers a request that waits, where it is time. @returns whether it waits no more. */
  #isOver({ exchange, client, wanted, untilMs, answer }: Waiting, nowMs: number): boolean {
    const missing = exchange.isWaiting ? this.#missing(wanted) : undefined
    if (missing !== undefined && nowMs < untilMs) return false
    const left = this.#waitingOf.get(client)! - 1
    if (left > 0) this.#waitingOf.set(client, left)
    else this.#waitingOf.delete(client)
    if (!exchange.isWaiting) return true
    try {
      if (missing === undefined) answer()
      else exchange.refuse(notStored(missing, this.#storedOf(missing.networkId)))
    } catch (error) {
      exchange.fail(error)
    }
    return true
  }

  /** Drops from the end of a list what is stored. @returns the first that is not. */
  #missing(wanted: Wanted[]): Wanted | undefined {
    for (let last = wanted.at(-1); last !== undefined; last = wanted.at(-1)) {
      if (this.#storedOf(last.networkId) < last.sequence) return last
      wanted.pop()
    }
    return undefined
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
  const values = rawQuery.includes('%') ? decodedValues(rawQuery) : plainValues(rawQuery)
  // Counted before they are taken apart: a URL has room for hundreds.
  const count = values.reduce((sum, value) => sum + countItems(value), 0)
  if (count > MAX_LISTED)
    return failure('INVALID_PARAMETER', `${NAME} has ${count} items, at most ${MAX_LISTED} are allowed`)
  const wanted: Wanted[] = []
  for (const value of values)
    for (let from = 0, to = 0; to < value.length || from === 0; from = to + 1) {
      to = value.indexOf(',', from)
      if (to < 0) to = value.length
      const colon = value.indexOf(':', from)
      const networkId = readDecimal(value, from, colon, MAX_NETWORK_DIGITS)
      const sequence = readDecimal(value, colon + 1, to, MAX_SEQUENCE_DIGITS)
      if (networkId < 0 || sequence < 0)
        return failure(
          'INVALID_PARAMETER',
          `${NAME} ${JSON.stringify(value.slice(from, Math.min(to, from + 60)))} is not network:sequence`,
        )
      wanted.push({ networkId, sequence })
    }
  return wanted
}

function decodedValues(rawQuery: string): string[] {
  const pieces = splitQueryString(rawQuery)
  return Array.isArray(pieces) ? pieces.filter(({ name }) => name === NAME).map(({ value }) => value) : []
}

/** The values in a query without escapes, which need not be taken apart for that: the parser does it once more. */
function plainValues(rawQuery: string): string[] {
  const values: string[] = []
  for (let at = rawQuery.indexOf(NAME); at >= 0; at = rawQuery.indexOf(NAME, at + 1)) {
    if (at > 0 && rawQuery[at - 1] !== '&') continue
    const nameEnd = at + NAME.length
    const end = rawQuery.indexOf('&', nameEnd)
    const piece = rawQuery.slice(nameEnd, end < 0 ? undefined : end)
    if (piece === '' || piece[0] === '=') values.push(piece.slice(1))
  }
  return values
}

/** How many texts a value is that has commas between. */
function countItems(value: string): number {
  let count = 1
  for (let at = 0; at < value.length; at++) if (value.charCodeAt(at) === COMMA) count++
  return count
}

function notStored({ networkId, sequence }: Wanted, stored: number): Failure {
  return failure(
    'SERVICE_UNAVAILABLE',
    `the log of network ${networkId} is stored up to ${stored} here, ${NAME} asks for ${sequence}`,
    RETRY_SEC,
  )
}
