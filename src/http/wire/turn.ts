/** Most requests of one connection that are answered in one turn of the event loop. Clients that pipeline send up to 16 at once. */
export const MAX_PER_TURN = 32

/** Requests between two looks at whether they are all of one connection. */
const STRIDE = MAX_PER_TURN / 2
/** A turn is noticed with its eighth answer at the latest: a callback at the end of each turn would cost more than the counting. */
const NOTICE_EVERY = 8
/** Most answers of one turn: those of 256 connections that pipeline 16. They take some 25 ms. */
const MAX_ANSWERS = 4_096
/** Most of them without a body: these do not tell whether the next request is of the same connection. */
const MAX_BODILESS = 512
/** Most refusals in a row in one turn. Nobody means to pipeline requests that are malformed. */
const MAX_REFUSALS = 8

/** A second response object for a request that was answered. */
export interface Probe {
  /** Bytes of the body that were sent. The next request of the same connection sets it to 0. */
  getWriteOffset(): number
}

/**
 * Bounds what is answered in one turn of the event loop, so that nobody's pipelined requests hold up the others: one read may bring
 * 15,000 of them. An answer beyond a bound waits for the next turn. A client that sends one request at a time notices nothing; a
 * connection on which further requests have come already is closed, since one request at a time is served.
 *
 * uWebSockets.js does not tell which connection a request came on. It gives a request that a handler yields to the next handler a second
 * response object; the first one stays usable as a `Probe`. Sockets that were closed are freed at the end of the turn, when the probe is
 * forgotten.
 */
export class Turn {
  private readonly onCut: () => void
  private isNoticed = false
  private unnoticed = 0
  private answers = 0
  private bodiless = 0
  private refusals = 0
  private probe: Probe | undefined
  /** Whether the probe is of the request that is being handled. */
  private isProbeNew = false
  /** Whether the request that was yielded comes again next. */
  private isYielded = false
  /** Requests since the probe was taken, or since a request that certainly was the last of its connection in this turn. */
  private since = 0
  private isTooMany = false
  private readonly end = (): void => {
    this.isNoticed = false
    this.isTooMany = false
    this.probe = undefined
  }

  /** @param onCut called for each connection that is closed for its pipelined requests. */
  constructor(onCut: () => void) {
    this.onCut = onCut
  }

  /** Counts a request of a transport without identities of connections. @returns whether to yield it: `response` is a probe now. */
  takesAsProbe(response: Probe): boolean {
    if (!this.isStrideOver()) return false
    this.isTooMany = this.probe?.getWriteOffset() === 0
    this.probe = this.isTooMany ? undefined : response
    this.isProbeNew = this.probe !== undefined
    this.isYielded = this.isProbeNew
    return this.isProbeNew
  }

  /** Counts a request that no other handler could take. */
  takesUnprobed(): void {
    if (this.isStrideOver()) this.isTooMany = true
  }

  /**
   * Counts an answer that is ready within its request's handler.
   * @param isRefusal whether the request is at fault.
   * @returns whether it is to be sent in the next turn.
   */
  mustWait(isRefusal: boolean): boolean {
    if (!this.isNoticed) {
      if (++this.unnoticed >= NOTICE_EVERY) this.begin()
      return false
    }
    this.refusals = isRefusal ? this.refusals + 1 : 0
    return (
      this.isTooMany ||
      this.refusals > MAX_REFUSALS ||
      ++this.answers > MAX_ANSWERS ||
      this.bodiless > MAX_BODILESS
    )
  }

  /** An answer went out without a body, so the probe would say that the next request is of the same connection. */
  sentWithoutBody(): void {
    this.bodiless++
    if (!this.isProbeNew) return
    this.probe = undefined
    this.since = STRIDE - 1
  }

  /** A request waits for its answer, so no other one of its connection is served in this turn. */
  endRun(): void {
    this.since = 0
    this.isTooMany = false
    this.probe = undefined
  }

  /** A connection was closed for its pipelined requests. */
  cut(): void {
    this.onCut()
  }

  private isStrideOver(): boolean {
    if (this.isYielded) {
      this.isYielded = false
      return false
    }
    this.isTooMany = false
    this.isProbeNew = false
    if (!this.isNoticed || ++this.since < STRIDE) return false
    this.since = 0
    return true
  }

  private begin(): void {
    this.isNoticed = true
    this.unnoticed = 0
    this.answers = 0
    this.bodiless = 0
    this.refusals = 0
    this.since = NOTICE_EVERY
    setImmediate(this.end)
  }
}
