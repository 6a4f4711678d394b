import { errorTable } from '../api/errorTable.js'
import { type AnswerCode, type Failure, failure } from '../errors/answers.js'
import type { Logger } from '../telemetry/logger.js'
import type { HttpMetrics } from '../telemetry/metrics.js'
import { type CorsHeaders, type HeaderList, JSON_TYPE, METHODS, statusLine } from './headers.js'
import { makeRequestId } from './requestId.js'
import type { HttpResponse } from './uws.js'

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly cors: CorsHeaders
  readonly logger: Logger
  readonly metrics: HttpMetrics
  /** Exchanges whose answer is not there yet, oldest first. */
  readonly pending: Set<Exchange>
  /** True once the server wants its connections to end. */
  isClosing: boolean
  /** When the newest request came. */
  lastRequestAtMs: number
}

/** An answer, ready to be written. */
export interface Outgoing {
  readonly status: number
  readonly body: Uint8Array | string
  readonly contentType: string
  readonly cacheControl: string
  /** Seconds; 0 = no header. */
  readonly retryAfterSec: number
  readonly headers: HeaderList
}

const NO_HEADERS: HeaderList = []

/** Nothing that we refuse or fail at is worth keeping by a cache on the way. */
const NO_STORE = 'no-store'

/**
 * One request and its one answer: the only owner of uWebSockets.js' `res`. It knows whether the client is gone, answers at
 * most once, writes everything inside one cork, and never lets an error out (one that reaches uWebSockets.js ends the
 * process).
 */
export class Exchange {
  /** Operation id, or the name of the refusal: label of metrics and logs. */
  route = 'unknown'
  readonly startedAtMs = performance.now()
  private readonly context: ExchangeContext
  private readonly res: HttpResponse
  private readonly isHead: boolean
  private readonly method: string
  private requestId: string
  private isDone = false
  private isHeld = false

  /** @param requestId the client's, checked, or ''. */
  constructor(context: ExchangeContext, res: HttpResponse, method: string, requestId: string) {
    this.context = context
    this.res = res
    this.method = method
    this.isHead = method === 'HEAD'
    this.requestId = requestId
    context.lastRequestAtMs = this.startedAtMs
  }

  /** Keeps the request open after its handler returns. From here on only this object may touch `res`. */
  hold(): void {
    this.isHeld = true
    this.context.pending.add(this)
    this.res.onAborted(() => {
      if (this.isDone) return
      this.isDone = true
      this.context.pending.delete(this)
      this.context.metrics.requestAborted(this.route)
    })
  }

  send(answer: Outgoing): void {
    if (this.isDone) return
    this.isDone = true
    this.context.pending.delete(this)
    try {
      // Inside its handler uWebSockets.js has corked already.
      if (this.isHeld) this.res.cork(() => this.write(answer))
      else this.write(answer)
    } catch (error) {
      this.context.logger.error('answer not written', { route: this.route, error })
      this.cut()
    }
    this.context.metrics.requestFinished(
      this.route,
      this.method,
      answer.status,
      (performance.now() - this.startedAtMs) / 1000,
    )
  }

  /** Answers with an error of the table. */
  refuse({ code, message, retryAfterSec }: Failure, headers: HeaderList = NO_HEADERS): void {
    this.send({
      status: errorTable[code].status,
      body: JSON.stringify({ error: { code, message } }),
      contentType: JSON_TYPE,
      cacheControl: NO_STORE,
      retryAfterSec: retryAfterSec ?? 0,
      headers,
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
    this.isDone = true
    this.res.writeStatus(statusLine(204)).writeHeader('Allow', METHODS)
    this.writeHeaders(always)
    this.writeHeaders(preflight)
    this.writeRequestIdAndClose()
    // A 204 has no Content-Length, which plain `end` would add.
    this.res.endWithoutBody()
    this.context.metrics.requestFinished(this.route, this.method, 204, 0)
  }

  /** Half an answer may be out: only an end of the connection tells the client. */
  private cut(): void {
    try {
      this.res.close()
    } catch {
      // The connection has ended already.
    }
  }

  private write(answer: Outgoing): void {
    const { res } = this
    if (answer.status !== 200) res.writeStatus(statusLine(answer.status))
    res.writeHeader('Content-Type', answer.contentType)
    res.writeHeader('Cache-Control', answer.cacheControl)
    if (answer.retryAfterSec > 0) res.writeHeader('Retry-After', String(answer.retryAfterSec))
    this.writeHeaders(answer.headers)
    this.writeHeaders(this.context.cors.always)
    if (!this.isHead) {
      if (this.requestId !== '') res.writeHeader('X-Request-Id', this.requestId)
      res.end(answer.body, this.context.isClosing)
      return
    }
    this.writeRequestIdAndClose()
    // `end` would send the body, and `endWithoutBody(length)` on HEAD ends the process on the old core.
    res.writeHeader('Content-Length', String(byteLength(answer.body)))
    res.endWithoutBody()
  }

  private writeHeaders(headers: HeaderList): void {
    for (const [name, value] of headers) this.res.writeHeader(name, value)
  }

  private writeRequestIdAndClose(): void {
    if (this.requestId !== '') this.res.writeHeader('X-Request-Id', this.requestId)
    if (this.context.isClosing) this.res.writeHeader('Connection', 'close')
  }
}

function byteLength(body: Uint8Array | string): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}
