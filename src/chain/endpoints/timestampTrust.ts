/** After PROBATION comparisons that agreed, only one window in SPOT_CHECK_EVERY is checked. */
const PROBATION = 4
const SPOT_CHECK_EVERY = 16

/**
 * Whether an endpoint's `blockTimestamp` in logs can be used, so that no header need be read for the time. Nodes have sent
 * "0x0", numbers, or a wrong time there. So it is compared with headers, and one wrong time ends its use for good.
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

  /** Compares a block's time in its logs with the time in its header. */
  compare(inLogs: number | undefined, inHeader: number): void {
    if (inLogs === undefined) return
    if (inLogs === inHeader) this.#agreed++
    else this.#broken = true
  }

  distrust(): void {
    this.#broken = true
  }
}
