import { errorTable } from '../../api/errorTable.js'
import { type AnswerCode, type Failure, failure } from '../../query/answers.js'
import type { Logger } from '../../telemetry/logger.js'
import type { HttpMetrics } from '../../telemetry/metrics.js'
import type { ArrivalList, Listed } from './arrivalList.js'
import { NO_STORE } from './cacheControl.js'
import { namesTag } from './etag.js'
import { type CorsHeaders, type HeaderList, headerLines, JSON_LINES, METHODS, statusLine } from './headers.js'
import { makeRequestId } from './requestHead.js'
import type { HttpResponse } from './uws.js'

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly cors: CorsHeaders
  readonly logger: Logger
  readonly metrics: HttpMetrics
  /** From 0 up to 1. */
  readonly random: () => number
  /** Exchanges whose answer is not there yet. */
  readonly pending: ArrivalList<Exchange>
  /** Exchanges whose answer the client is slow to take, oldest first. */
  readonly sending: Set<Exchange>
  /** True once the server wants its connections to end. */
  isClosing: boolean
  /** When the newest request came. */
  lastRequestAtMs: number
}

/** An answer, ready to be written. */
export interface Outgoing {
  readonly status: number
  readonly body: Uint8Array | string
  /** True when `body` is good only until `send` returns. */
  readonly isLent?: boolean
  readonly cacheControl: string
  /** Header lines that a 304 carries too. */
  readonly lines: string
  /** Header lines that tell of the body, so that a 304 has them not. */
  readonly bodyLines: string
  /** '' where the answer has none. */
  readonly etag: string
  /** All of this as the value of one header. An answer that is given again finds it here, from the third time on as bytes. */
  head?: string | Uint8Array
}

/**
 * uWebSockets.js does not tell that a client takes nothing as long as answers have no body: 400,000 requests with
 * `If-None-Match`, pipelined and never read, left 139 MB of 304s. So one of so many, by chance, is answered in a way that
 * does tell or ends the connection, as other servers do after a thousand requests: a client leaves 1 MB on average.
 */
const BODILESS_IN_A_ROW = 4_096

/** Size of the buffer in which uWebSockets.js collects what a handler writes. */
const CORK_BYTES = 16_384

const CLOSE_LINE = '\r\nConnection: close'

const CACHE_CONTROL = Buffer.from('Cache-Control')

/**
 * One request and its one answer: the only owner of uWebSockets.js' `res`. It knows whether the client is gone, answers at
 * most once, writes everything inside one cork, and never lets an error out (one that reaches uWebSockets.js ends the
 * process).
 */
export class Exchange implements Listed<Exchange> {
  /** Operation id, or the name of the refusal: label of metrics and logs. */
  route = 'unknown'
  /** Header lines on whatever the answer will be. */
  moreLines = ''
  /** Tags that the client has already, as it wrote them. */
  ifNoneMatch = ''
  /** When the request came; when the answer was ready, once the client is slow to take it. */
  startedAtMs = performance.now()
  /** Neighbours in `pending`. */
  before: Exchange | undefined = undefined
  after: Exchange | undefined = undefined
  private readonly context: ExchangeContext
  private readonly res: HttpResponse
  private readonly method: string
  private readonly isLast: boolean
  private requestId: string
  private isDone = false
  private isHeld = false
  private isGone = false

  /**
   * @param requestId the client's, checked, or ''.
   * @param isLast whether the client wants the connection to end with this answer: uWebSockets.js ends it then, but does not
   * say so.
   */
  constructor(
    context: ExchangeContext,
    res: HttpResponse,
    method: string,
    requestId: string,
    isLast: boolean,
  ) {
    this.context = context
    this.res = res
    this.method = method
    this.requestId = requestId
    this.isLast = isLast
    context.lastRequestAtMs = this.startedAtMs
  }

  /** Keeps the request open after its handler returns. From here on only this object may touch `res`. */
  hold(): void {
    this.isHeld = true
    this.context.pending.add(this)
    this.watch()
  }

  /** Binary address of the connection's other end. Only before the answer. */
  peerAddress(): ArrayBuffer {
    return this.res.getRemoteAddress()
  }

  /** Whether a success goes out with the same head as everybody's. */
  isPlain(): boolean {
    return this.ifNoneMatch === '' && this.method === 'GET' && this.ownLines() === ''
  }

  send(answer: Outgoing): void {
    if (this.isDone) return
    const isKnown =
      answer.etag !== '' &&
      this.ifNoneMatch !== '' &&
      namesTag(this.ifNoneMatch, answer.etag) &&
      // A client that has the answer may be sent it all the same.
      !this.isDrawn()
    this.finish(isKnown ? 304 : answer.status, () => this.write(answer, isKnown))
  }

  /**
   * Sends a success that a plain request has waited for.
   * @param head value of `Cache-Control` and all other lines behind it. Both are lent until this returns.
   */
  sendReady(head: Uint8Array, body: Uint8Array): void {
    if (this.isDone) return
    this.finish(200, () => {
      this.res.writeHeader(CACHE_CONTROL, head)
      this.end(body, true)
    })
  }

  private finish(status: number, write: () => void): void {
    this.isDone = true
    try {
      if (this.isHeld) {
        this.context.pending.remove(this)
        this.res.cork(write)
      } // Inside its handler uWebSockets.js has corked already.
      else write()
    } catch (error) {
      this.context.logger.error('answer not written', { route: this.route, error })
      this.cut()
    }
    this.context.metrics.requestFinished(
      this.route,
      this.method,
      status,
      (performance.now() - this.startedAtMs) / 1000,
    )
  }

  /** Answers with an error of the table. */
  refuse(failed: Failure, headers: HeaderList = []): void {
    this.send(refusal(failed, errorBody(failed), headers))
  }

  /**
   * Answers with an error and closes the connection before uWebSockets.js reads the bytes behind the head as a next request.
   * Only inside the handler. `close` is the only call that closes at once, and it drops what is still in uWebSockets.js' buffer.
   * So the answer is padded with blanks beyond the buffer's size: then it is written to its last byte before `close`.
   */
  refuseAndClose(failed: Failure): void {
    const body = errorBody(failed).padEnd(CORK_BYTES)
    const answer = refusal(failed, body)
    this.finish(answer.status, () => {
      const lines = this.headText(answer) + this.ownLines() + (this.isLast ? '' : CLOSE_LINE)
      // `writeHeader` puts a line's end behind the value: it ends the head, or is the last blank of the body. Blanks in front
      // of a header's value are no part of it.
      const size = body.length + 2
      const rest =
        this.method === 'HEAD'
          ? `\r\nContent-Length:${' '.repeat(CORK_BYTES)}${size}\r\n`
          : `\r\nContent-Length: ${size}\r\n\r\n${body}`
      this.res.writeStatus(statusLine(answer.status))
      this.res.writeHeader('Cache-Control', lines + rest)
      this.res.close()
    })
  }

  /** Answers 500 and logs what happened under the id that the client gets. */
  fail(error: unknown): void {
    if (this.isDone) return
    this.requestId ||= makeRequestId()
    const fields = { requestId: this.requestId, route: this.route, error }
    this.context.logger.error('request failed', fields)
    this.refuse(
      failure('INTERNAL_ERROR' satisfies AnswerCode, `internal error, request id ${this.requestId}`),
    )
  }

  /** The answer to OPTIONS. */
  sendOptions(): void {
    const { always, preflight } = this.context.cors
    const status = this.isDrawn() ? 200 : 204
    this.finish(status, () => {
      this.res.writeStatus(statusLine(status))
      const lines = METHODS + always + preflight + this.ownLines()
      if (status === 200) {
        this.res.writeHeader('Allow', lines)
        this.end(METHODS, false)
        return
      }
      this.res.writeHeader('Allow', lines + this.closeLine())
      // A 204 has no Content-Length, which plain `end` would add.
      this.res.endWithoutBody()
    })
  }

  /** Half an answer may be out: only an end of the connection tells the client. */
  cut(): void {
    this.context.sending.delete(this)
    if (this.isGone) return
    try {
      this.res.close()
    } catch {
      // The connection has ended already.
    }
  }

  private write(answer: Outgoing, isKnown: boolean): void {
    const { res } = this
    const { status, body } = answer
    const ownLines = this.ownLines()
    if (isKnown) {
      res.writeStatus(statusLine(304))
      res.writeHeader('Cache-Control', this.lastingHead(answer) + ownLines + this.closeLine())
      res.endWithoutBody()
      return
    }
    if (status !== 200) res.writeStatus(statusLine(status))
    if (this.method !== 'HEAD') {
      res.writeHeader(
        CACHE_CONTROL,
        ownLines === '' ? this.usualHead(answer) : this.headText(answer) + ownLines,
      )
      this.end(body, answer.isLent === true)
      return
    }
    const head = this.headText(answer) + ownLines
    const size = Buffer.byteLength(body)
    if (this.isDrawn()) {
      res.writeHeader(CACHE_CONTROL, this.isLast ? head : head + CLOSE_LINE)
      res.tryEnd('', size)
      if (!this.isHeld) this.watch()
      // Once the head is out. As long as this answer is open, a request behind it ends the connection as well.
      setImmediate(() => this.cut())
      return
    }
    // `end` would send the body, and `endWithoutBody(length)` on HEAD ends the process on the old core.
    res.writeHeader(CACHE_CONTROL, `${head}${this.closeLine()}\r\nContent-Length: ${size}`)
    res.endWithoutBody()
  }

  private isDrawn(): boolean {
    return this.context.random() * BODILESS_IN_A_ROW < 1
  }

  private headText(answer: Outgoing): string {
    return this.lastingHead(answer) + answer.bodyLines
  }

  private usualHead(answer: Outgoing): string | Uint8Array {
    if (typeof answer.head === 'string') answer.head = Buffer.from(answer.head)
    else answer.head ??= this.headText(answer)
    return answer.head
  }

  /** What a 304 has as well: `Cache-Control`'s value, and behind it the other lines. */
  private lastingHead({ cacheControl, lines, etag }: Outgoing): string {
    const common = cacheControl + lines + this.context.cors.always
    return etag === '' ? common : `${common}\r\nETag: ${etag}`
  }

  /**
   * Gives the socket what it takes now and the rest when it takes more, from the one body that all readers of a cached
   * answer share. `res.end` would keep a copy per answer: a client that pipelines and never reads makes that grow without
   * bound, while with an open answer its next request ends the connection.
   */
  private end(body: Uint8Array | string, isLent: boolean): void {
    const { res, context } = this
    const size = Buffer.byteLength(body)
    if (context.isClosing) {
      res.end(body, true)
      return
    }
    if (res.tryEnd(body, size)[1]) return
    const bytes = typeof body === 'string' ? Buffer.from(body) : isLent ? body.slice() : body
    this.startedAtMs = performance.now()
    context.sending.add(this)
    if (!this.isHeld) this.watch()
    res.onWritable((offset) => {
      const [isTaken, isOut] = res.tryEnd(bytes.subarray(offset), size)
      if (isOut) context.sending.delete(this)
      return isTaken
    })
  }

  private watch(): void {
    this.res.onAborted(() => {
      this.isGone = true
      this.context.sending.delete(this)
      if (this.isDone) return
      this.isDone = true
      this.context.pending.remove(this)
      this.context.metrics.requestAborted(this.route)
    })
  }

  /** Lines that this exchange has and others have not. */
  private ownLines(): string {
    const { moreLines, requestId } = this
    const lines = requestId === '' ? moreLines : `${moreLines}\r\nX-Request-Id: ${requestId}`
    return this.isLast ? lines + CLOSE_LINE : lines
  }

  /** Where `end` does not write its own. */
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

/** '' when waiting does not help. */
export function retryAfterLine(seconds: number): string {
  return seconds > 0 ? `\r\nRetry-After: ${seconds}` : ''
}
