/** Comparisons with headers that earn full trust; then one in so many windows is enough. */
const PROBATION = 4
const SPOT_CHECK_EVERY = 16

/**
 * Whether the `blockTimestamp` that an endpoint puts into logs may replace a header. Nodes have sent "0x0", numbers,
 * or a wrong time there, so the field earns trust by agreeing with headers, and loses it for good when it does not.
 */
export class TimestampTrust {
  #agreed = 0
  #windows = 0
  #broken = false

  /** False once a time was wrong. */
  get isUsable(): boolean {
    return !this.#broken
  }

  /** True when this window should compare one block with its header. */
  wantsCheck(): boolean {
    return this.#agreed < PROBATION || ++this.#windows % SPOT_CHECK_EVERY === 0
  }

  /** A block's time in its logs beside the time in its header. */
  compare(inLogs: number | undefined, inHeader: number): void {
    if (inLogs === undefined) return
    if (inLogs === inHeader) this.#agreed++
    else this.#broken = true
  }

  distrust(): void {
    this.#broken = true
  }
}
