import type { Refusal } from '../../api/dialects/frame/dialect.js'
import { errorTable } from '../../api/errorTable.js'
import type { ContentCoding } from '../../pool/contentCoding.js'
import { isLarge } from '../../pool/estimates.js'
import { type AnswerCode, type Failure, failure } from '../../query/answers.js'
import type { HttpMetrics } from '../../telemetry/frontCounts.js'
import type { Logger } from '../../telemetry/logger.js'
import { ArrivalList, type Listed } from './arrivalList.js'
import { copyOf, hold, letGo } from './bodyMemory.js'
import { isForSharedCaches, NO_STORE, ofOneClient } from './cacheControl.js'
import {
  ANY_TAG,
  type CorsHeaders,
  type HeaderList,
  headerLines,
  JSON_LINES,
  METHODS,
  namesTag,
  statusLine,
} from './headers.js'
import { LongBodies, LongBody } from './longBody.js'
import { makeRequestId } from './requestHead.js'
import { SlowAnswers } from './slowAnswers.js'
import { Turn } from './turn.js'
import type { Wire, WireTraits } from './wire.js'

/** A request that has ended, for the lines about requests. */
export interface EndedRequest {
  /** '' where it has none. */
  readonly requestId: string
  readonly method: string
  readonly route: string
  /** Undefined when the client went away before the answer. */
  readonly status: number | undefined
  readonly durationMs: number
  readonly client: string
}

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly cors: CorsHeaders
  readonly logger: Logger
  readonly metrics: HttpMetrics
  /** Takes each request that has a `client`. */
  readonly logRequest: (request: EndedRequest) => void
  /** 0 ≤ value < 1. */
  readonly random: () => number
  readonly traits: WireTraits
  readonly turn: Turn
  /** Exchanges that wait for their answer. */
  readonly pending: ArrivalList<Exchange>
  /** Exchanges whose answer is not out yet, because it is long or the client is slow to take it. */
  readonly sending: SlowAnswers<Exchange>
  readonly longBodies: LongBodies
  /** True once each connection is to end with its next answer. */
  isClosing: boolean
  /** When the newest request came. */
  lastRequestAtMs: number
  /** How many answers were begun. */
  answers: number
}

/** What the exchanges of a new server share. */
export function createExchangeContext(
  options: Pick<ExchangeContext, 'cors' | 'logger' | 'metrics' | 'logRequest' | 'random' | 'traits'>,
): ExchangeContext {
  const { metrics } = options
  const context: ExchangeContext = {
    ...options,
    turn: new Turn(() => metrics.connectionCut()),
    pending: new ArrivalList(),
    sending: new SlowAnswers((limit) => metrics.slowReaderCut(limit)),
    longBodies: new LongBodies(() => context.answers),
    isClosing: false,
    lastRequestAtMs: 0,
    answers: 0,
  }
  return context
}

/** An answer, ready to be written. */
export interface Outgoing {
  readonly status: number
  readonly body: Uint8Array | string
  /** True when `body` is good only until `send` returns. */
  readonly isLent?: boolean
  /** True when `body` is empty because the request needs none (`Exchange.needsNoBody`): its length is not known. */
  readonly isBodiless?: boolean
  readonly cacheControl: string
  /** Header lines that a 304 carries too. */
  readonly lines: string
  /** Header lines that describe the body; a 304 does not have them. */
  readonly bodyLines: string
  /** '' where the answer has none. */
  readonly etag: string
  /** The whole head as the value of one header. Made when the answer is first sent, and turned into bytes when it is sent again. */
  head?: string | Uint8Array
}

/**
 * uWebSockets.js does not report that a client reads nothing while answers have no body: 400,000 pipelined requests with
 * `If-None-Match`, whose answers were never read, left 139 MB of 304s in memory. So one in this many bodiless answers, at
 * random, is sent in a way that notices such a client or ends the connection. Then a client fills 1 MB on average.
 */
const BODILESS_PER_CHECK = 4_096

/** Longest body that `end` may copy for a client that takes nothing of it: the system's own buffer holds about as much. */
const MAX_LAST_BYTES = 16_384

const CLOSE_LINE = '\r\nConnection: close'

const CACHE_CONTROL = Buffer.from('Cache-Control')

/**
 * One request and its answer, and the only owner of its `Wire`, but for a stream's. It knows whether the client is gone, answers at most once, writes
 * everything inside one cork, and never throws: an error that reaches uWebSockets.js ends the process.
 */
export class Exchange implements Listed<Exchange> {
  /** Name of the route, `unknown` until it is found: a label of metrics and logs. */
  route = 'unknown'
  /** How an error is spelled where the path is not our own API's. */
  spellRefusal: ((failed: Failure) => Refusal) | undefined = undefined
  /** Header lines about this client, which any answer to it gets but those that shared caches keep. */
  moreLines = ''
  /** A header line about the data that are answered, which shared caches keep with them. */
  dataLine = ''
  /** The client's `If-None-Match`: tags of answers that it has already. */
  ifNoneMatch = ''
  /** Address of the client, where the request gets a line of the log; else ''. */
  client = ''
  /** Whether the server ends the connection with this answer. One with a long body goes on: it could not be sent in pieces. */
  isEnding = false
  /** When the request came; for an answer that is not out at once, when it was ready. */
  startedAtMs = performance.now()
  /** Neighbours in `pending`. */
  before: Exchange | undefined = undefined
  after: Exchange | undefined = undefined
  private readonly context: ExchangeContext
  private readonly wire: Wire
  private readonly method: string
  private readonly isLast: boolean
  private requestId: string
  private isDone = false
  private isHeld = false
  private isPutOff = false
  private isGone = false
  private isChecked: boolean | undefined
  private longBody: LongBody | undefined

  /**
   * @param requestId the client's, checked, or ''.
   * @param isLast whether the client wants the connection to end with this answer. uWebSockets.js then ends it, but sends no
   * `Connection: close`.
   */
  constructor(context: ExchangeContext, wire: Wire, method: string, requestId: string, isLast: boolean) {
    this.context = context
    this.wire = wire
    this.method = method
    this.requestId = requestId
    this.isLast = isLast
    context.lastRequestAtMs = this.startedAtMs
  }

  /** Keeps the request open after its handler returns. A second call changes nothing. */
  hold(): void {
    if (this.isHeld) return
    this.isHeld = true
    this.context.turn.endRun()
    this.context.pending.add(this)
    this.watch()
  }

  /** The connection's other end. Call it only before the answer. */
  peerAddress(): ArrayBuffer | string {
    return this.wire.getRemoteAddress()
  }

  /** Whether a success needs no header line for this request alone, so that it can be sent with a shared head (`ReadyHeads`). */
  isPlain(cacheControl: string): boolean {
    return this.ifNoneMatch === '' && this.method === 'GET' && this.ownLines(cacheControl) === ''
  }

  /** Whether somebody still waits for the answer. */
  get isWaiting(): boolean {
    return !this.isDone
  }

  /**
   * Whether a success goes out without its body: as a 304 whatever it says, or to HEAD. To HEAD without a coding it does not count, since
   * the length of the body is known at no cost.
   */
  needsNoBody(coding: ContentCoding): boolean {
    const isNeedless = this.ifNoneMatch === ANY_TAG || (this.method === 'HEAD' && coding !== 'identity')
    return isNeedless && !this.isCheckDue()
  }

  /** Whether a success can go out with nothing that depends on its body: as a 304 whatever it says, or to HEAD without tags. */
  needsNoTag(): boolean {
    const isNeedless = this.ifNoneMatch === ANY_TAG || (this.method === 'HEAD' && this.ifNoneMatch === '')
    return isNeedless && !this.isCheckDue()
  }

  /** @param isRefusal whether the request is at fault. */
  send(answer: Outgoing, isRefusal = false): void {
    if (this.isDone) return
    if (!this.isHeld && this.context.turn.mustWait(isRefusal)) {
      const { body, isLent } = answer
      if (typeof body === 'string') {
        this.putOff(() => this.send(answer))
        return
      }
      if (isLent !== true) hold(body)
      const kept = isLent === true ? copyOf(body) : body
      this.putOff(() => {
        this.send({ ...answer, body: kept, isLent: false })
        letGo(kept)
      })
      return
    }
    const isKnown =
      this.ifNoneMatch !== '' &&
      (answer.etag === ''
        ? answer.isBodiless === true && this.ifNoneMatch === ANY_TAG
        : namesTag(this.ifNoneMatch, answer.etag)) &&
      // When the check is due, the answer goes out with its body, though the client has it.
      !this.isCheckDue()
    this.finish(isKnown ? 304 : answer.status, () => this.write(answer, isKnown))
  }

  /**
   * Sends a success to a plain request (`isPlain`).
   * @param head value of `Cache-Control` and all header lines behind it.
   * Both arguments may be overwritten once this has returned.
   */
  sendReady(head: Uint8Array, body: Uint8Array): void {
    if (this.isDone) return
    this.finish(200, () => {
      this.wire.writeHeader(CACHE_CONTROL, head)
      this.end(body, true)
    })
  }

  private finish(status: number, write: () => void): void {
    const { startedAtMs } = this
    this.isDone = true
    this.context.answers++
    try {
      if (this.isHeld) {
        this.context.pending.remove(this)
        this.wire.cork(write)
      } // uWebSockets.js itself corks what is written inside the handler.
      else write()
    } catch (error) {
      this.context.logger.error('answer not written', { route: this.route, error })
      this.cut()
    }
    const durationMs = performance.now() - startedAtMs
    this.context.metrics.requestFinished(this.route, this.method, status, durationMs / 1000)
    if (this.client !== '') this.log(status, durationMs)
  }

  /** Answers with an error of `errorTable`. */
  refuse(failed: Failure, headers: HeaderList = []): void {
    const spelled = this.spellRefusal?.(failed)
    const answer =
      spelled === undefined
        ? refusal(failed, errorBody(failed), headers)
        : spelledRefusal(failed, spelled, headers)
    this.send(answer, answer.status < 500)
  }

  /**
   * Answers with an error and closes the connection before the bytes behind the head are read as another request. Call it only
   * inside the handler.
   */
  refuseAndClose(failed: Failure): void {
    const body = errorBody(failed)
    const answer = refusal(failed, body)
    const { traits } = this.context
    this.finish(answer.status, () => {
      const head =
        this.headText(answer) + this.ownLines(answer.cacheControl) + (this.isLast ? '' : CLOSE_LINE)
      traits.endAndClose(this.wire, statusLine(answer.status), head, body, this.method === 'HEAD')
    })
  }

  /** Answers 500, and logs the error with the request id that the answer names. */
  fail(error: unknown): void {
    if (this.isDone) return
    this.requestId ||= makeRequestId()
    const fields = { requestId: this.requestId, route: this.route, error }
    this.context.logger.error('request failed', fields)
    this.refuse(
      failure('INTERNAL_ERROR' satisfies AnswerCode, `internal error, request id ${this.requestId}`),
    )
  }

  /**
   * Begins an answer that has no end of its own, with status 200. Call it only inside the handler.
   * @param bodyLines header lines that describe it. @param first its first part, not empty.
   * @param onGone called when the connection has ended.
   * @returns the wire, which the caller owns from here on.
   */
  stream(bodyLines: string, first: string, onGone: () => void): Wire {
    const { wire, context } = this
    context.turn.endRun()
    wire.onAborted(onGone)
    this.finish(200, () => {
      wire.writeHeader(CACHE_CONTROL, NO_STORE + context.cors.always + bodyLines + this.ownLines(NO_STORE))
      wire.write(first)
    })
    return wire
  }

  /** Makes the connection a WebSocket. Call it only inside the handler, and do not touch the exchange afterwards. */
  upgrade(accept: () => void): void {
    this.context.turn.endRun()
    this.finish(101, accept)
  }

  /** The answer to OPTIONS. */
  sendOptions(): void {
    if (this.isDone) return
    if (!this.isHeld && this.context.turn.mustWait(false)) {
      this.putOff(() => this.sendOptions())
      return
    }
    const { always, preflight } = this.context.cors
    const status = this.isCheckDue() ? 200 : 204
    this.finish(status, () => {
      this.wire.writeStatus(statusLine(status))
      const lines = METHODS + always + preflight + this.ownLines('')
      if (status === 200) {
        this.wire.writeHeader('Allow', lines)
        this.end(METHODS, false)
        return
      }
      this.wire.writeHeader('Allow', lines + this.closeLine())
      // A 204 has no Content-Length, which plain `end` would add.
      this.wire.endWithoutBody()
      this.context.turn.sentWithoutBody()
    })
  }

  /** Closes the connection. A client that has half an answer learns of a fault only by that. */
  cut(): void {
    this.context.sending.delete(this)
    this.longBody?.end()
    if (this.isGone) return
    try {
      this.wire.close()
    } catch {
      // The connection has ended already.
    }
  }

  private write(answer: Outgoing, isKnown: boolean): void {
    const { wire } = this
    const { status, body } = answer
    const ownLines = this.ownLines(answer.cacheControl)
    if (isKnown) {
      wire.writeStatus(statusLine(304))
      wire.writeHeader('Cache-Control', this.lastingHead(answer) + ownLines + this.closeLine())
      wire.endWithoutBody()
      this.context.turn.sentWithoutBody()
      return
    }
    if (status !== 200) wire.writeStatus(statusLine(status))
    if (this.method !== 'HEAD') {
      wire.writeHeader(
        CACHE_CONTROL,
        ownLines === '' ? this.usualHead(answer) : this.headText(answer) + ownLines,
      )
      this.end(body, answer.isLent === true)
      return
    }
    const head = this.headText(answer) + ownLines
    if (answer.isBodiless === true) {
      wire.writeHeader(CACHE_CONTROL, head + this.closeLine())
      wire.endWithoutBody()
      this.context.turn.sentWithoutBody()
      return
    }
    const size = Buffer.byteLength(body)
    if (this.isCheckDue()) {
      if (this.context.traits.closesBodiless) {
        // This call writes `Connection: close` by itself.
        wire.writeHeader(CACHE_CONTROL, head)
        wire.endWithoutBody(size, true)
        return
      }
      wire.writeHeader(CACHE_CONTROL, this.isLast ? head : head + CLOSE_LINE)
      wire.tryEnd('', size)
      if (!this.isHeld) this.watch()
      // Cut only after the head has gone out. One more request before that also ends the connection, since this answer is open.
      setImmediate(() => this.cut())
      return
    }
    // `end` would send the body, and `endWithoutBody(length)` on HEAD ends the process with the old build.
    wire.writeHeader(CACHE_CONTROL, `${head}${this.closeLine()}\r\nContent-Length: ${size}`)
    wire.endWithoutBody()
    this.context.turn.sentWithoutBody()
  }

  /** Whether this bodiless answer is one of those that must notice a client that reads nothing. */
  private isCheckDue(): boolean {
    // Of bodiless answers only those that notice such a client can end the connection.
    if (this.isEnding) return true
    const { traits, random } = this.context
    this.isChecked ??= !traits.noticesBodiless && random() * BODILESS_PER_CHECK < 1
    return this.isChecked
  }

  private headText(answer: Outgoing): string {
    return this.lastingHead(answer) + answer.bodyLines
  }

  private usualHead(answer: Outgoing): string | Uint8Array {
    if (typeof answer.head === 'string') answer.head = Buffer.from(answer.head)
    else answer.head ??= this.headText(answer)
    return answer.head
  }

  /** The part of the head that a 304 has too: the value of `Cache-Control`, and header lines behind it. */
  private lastingHead({ cacheControl, lines, etag }: Outgoing): string {
    const caching = this.clientLines(cacheControl) === '' ? cacheControl : ofOneClient(cacheControl)
    const common = caching + lines + this.context.cors.always
    return etag === '' ? common : `${common}\r\nETag: ${etag}`
  }

  /**
   * Writes as much as the socket takes now, and the rest when it takes more. All readers of a cached answer share one body.
   * `wire.end` would copy it into a buffer, which a client that pipelines and never reads would make grow without bound. Here the
   * answer stays open, and the next request of such a client ends the connection.
   */
  private end(body: Uint8Array | string, isLent: boolean): void {
    const { wire, context } = this
    const size = Buffer.byteLength(body)
    if (context.isClosing || (this.isEnding && size <= MAX_LAST_BYTES)) {
      wire.end(body, true)
      return
    }
    const { longBodies, sending, traits } = context
    if (isLent && traits.keepsUnsent && typeof body !== 'string') {
      const kept = copyOf(body)
      this.end(kept, false)
      letGo(kept)
      return
    }
    // A transport that keeps all that it is given gets a long body in slices, or it would not tell how far the client is.
    const isInSlices = isLarge(size) && (longBodies.begin() || traits.keepsUnsent)
    if (!isInSlices && wire.tryEnd(body, size)[1]) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : isLent ? copyOf(body) : body
    this.beginSending(bytes)
    // The answer that is on its way is the only holder of a copy.
    if (isLent) letGo(bytes)
    if (isLarge(size)) {
      const progress = (): void => sending.progress(this)
      this.longBody = new LongBody(longBodies, wire, bytes, progress, () => sending.delete(this))
      if (isInSlices) this.longBody.sendFirst()
      return
    }
    wire.onWritable((offset) => {
      sending.progress(this)
      const [isTaken, isOut] = wire.tryEnd(bytes.subarray(offset), size)
      if (isOut) sending.delete(this)
      return isTaken
    })
  }

  /** Answers in the next turn of the event loop, unless the connection has ended by then. */
  private putOff(send: () => void): void {
    this.isPutOff = true
    this.hold()
    setImmediate(send)
  }

  /** @param body memory that is kept until the answer is out. */
  private beginSending(body: Uint8Array): void {
    this.startedAtMs = performance.now()
    this.context.sending.add(this, body)
    if (!this.isHeld) this.watch()
  }

  private watch(): void {
    this.wire.onAborted(() => {
      this.isGone = true
      this.longBody?.end()
      this.context.sending.delete(this)
      if (this.isDone) return
      this.isDone = true
      this.context.pending.remove(this)
      this.context.metrics.requestAborted(this.route)
      if (this.client !== '') this.log(undefined, performance.now() - this.startedAtMs)
      if (this.isPutOff) this.context.turn.cut()
    })
  }

  private log(status: number | undefined, durationMs: number): void {
    const { requestId, method, route, client } = this
    this.context.logRequest({ requestId, method, route, status, durationMs, client })
  }

  /** Header lines that only this exchange has. */
  private ownLines(cacheControl: string): string {
    const lines = this.clientLines(cacheControl) + this.dataLine
    return this.isLast ? lines + CLOSE_LINE : lines
  }

  /** Those about the client. A shared cache would hand them to other clients. */
  private clientLines(cacheControl: string): string {
    const { moreLines, requestId } = this
    const lines = requestId === '' ? moreLines : `${moreLines}\r\nX-Request-Id: ${requestId}`
    return lines !== '' && isForSharedCaches(cacheControl) ? '' : lines
  }

  /** The line `Connection: close` while the server closes; for answers that `end`, which adds it, does not write. */
  private closeLine(): string {
    return this.context.isClosing && !this.isLast ? CLOSE_LINE : ''
  }
}

function errorBody({ code, message }: Failure): string {
  return JSON.stringify({ error: { code, message } })
}

function refusal({ code, retryAfterSec }: Failure, body: string, headers: HeaderList = []): Outgoing {
  return {
    status: errorTable[code].status,
    body,
    cacheControl: NO_STORE,
    lines: headerLines(headers) + retryAfterLine(retryAfterSec ?? 0),
    bodyLines: JSON_LINES,
    etag: '',
  }
}

function spelledRefusal(
  failed: Failure,
  { status, body, contentType }: Refusal,
  headers: HeaderList,
): Outgoing {
  return {
    ...refusal(failed, body, headers),
    status,
    bodyLines: headerLines([['Content-Type', contentType]]),
  }
}

/** @returns '' when waiting does not help. */
export function retryAfterLine(seconds: number): string {
  return seconds > 0 ? `\r\nRetry-After: ${seconds}` : ''
}
