import { Others, REST_MS } from '../../pool/others.js'
import type { Wire } from './wire.js'

/** Bytes that the kernel is given in one go, which takes some 20 µs; a page of 1,000 rows as a whole takes hundreds. */
const SLICE_BYTES = 64 * 1024
/**
 * One slice is sent per turn while no more bodies than this wait for theirs; of more, one for each so many. Else they would pile up
 * in memory where pages are made faster than one slice per turn.
 */
const BODIES_PER_SLICE = 4

/**
 * Long bodies on their way out. One that comes while nobody else asks is sent as a whole, as fast as the client takes it. While others
 * ask, each turn of the event loop sends a slice of one of them, in rotation, so that requests for little wait for no more than that.
 */
export class LongBodies {
  private readonly ready: LongBody[] = []
  private readonly others: Others
  private longAnswers = 0
  private isScheduled = false
  private readonly turn = (): void => {
    this.isScheduled = false
    const now = this.ready.splice(0, Math.ceil(this.ready.length / BODIES_PER_SLICE))
    for (const body of now) body.sendSlice()
    if (this.ready.length > 0) this.schedule()
  }

  /** @param countAnswers how many answers the server has begun, long and others. @param now as of `Others`. */
  constructor(countAnswers: () => number, now?: () => number) {
    this.others = new Others(() => countAnswers() - this.longAnswers, now)
  }

  /** Call it once for each long answer, when that begins. @returns whether others ask, so that it must be sent in slices. */
  begin(): boolean {
    this.longAnswers++
    return this.others.doAsk()
  }

  /** Has the next slice of a body sent when it is its turn. */
  add(body: LongBody): void {
    this.ready.push(body)
    this.schedule()
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    if (this.others.doAsk()) setTimeout(this.turn, REST_MS)
    else setImmediate(this.turn)
  }
}

/** One body that is sent in slices, from its beginning or from where a client stopped taking it. */
export class LongBody {
  private readonly bodies: LongBodies
  private readonly wire: Wire
  private readonly bytes: Uint8Array
  private readonly size: number
  private readonly onProgress: () => void
  private readonly onEnd: () => void
  private sent = 0
  private isOver = false
  private readonly write = (): void => {
    const slice = this.bytes.subarray(this.sent, Math.min(this.sent + SLICE_BYTES, this.size))
    const [isTaken, isOut] = this.wire.tryEnd(slice, this.size)
    if (isOut) this.end()
    else if (isTaken) {
      this.sent += slice.length
      this.onProgress()
      this.bodies.add(this)
    }
    // Else `onWritable` follows.
  }

  /**
   * Goes on with the body when the client takes more, or `sendFirst` is called.
   * @param bytes must stay as they are until `onEnd`.
   * @param onProgress called when the client has taken some of it.
   * @param onEnd called when all is out, or when `end` is called, once.
   */
  constructor(bodies: LongBodies, wire: Wire, bytes: Uint8Array, onProgress: () => void, onEnd: () => void) {
    this.bodies = bodies
    this.wire = wire
    this.size = bytes.length
    this.bytes = bytes
    this.onProgress = onProgress
    this.onEnd = onEnd
    wire.onWritable((offset) => {
      this.sent = offset
      onProgress()
      this.bodies.add(this)
      return true
    })
  }

  /** Sends the first slice. Call it in the handler or inside a cork, when the head is written. */
  sendFirst(): void {
    this.write()
  }

  sendSlice(): void {
    if (!this.isOver) this.wire.cork(this.write)
  }

  /** Ends it, also in the middle: the connection is gone. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.onEnd()
  }
}
