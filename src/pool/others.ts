/**
 * Pause between two slices of a large answer while others ask: as short as a timer can be. On few cores all threads share the
 * processor, and what a slice leaves of it the others need.
 */
export const REST_MS = 1

/**
 * So long after an answer to somebody else large ones still give way. Where processors are few, a large answer that stopped giving way
 * would keep those who ask from asking: requests for one record beside readers of pages of 1,000 then had a p99 of three times that alone.
 */
const LINGER_MS = 5

/** Tells who makes or sends large answers whether others ask. */
export class Others {
  private readonly countAnswers: () => number
  private readonly now: () => number
  private seen = 0
  private seenAtMs = Number.NEGATIVE_INFINITY

  /** @param countAnswers how many answers others have had. @param now milliseconds; tests pass another clock. */
  constructor(countAnswers: () => number, now = (): number => performance.now()) {
    this.countAnswers = countAnswers
    this.now = now
  }

  /** Whether others have had an answer since the last call, or a little before it. */
  doAsk(): boolean {
    const count = this.countAnswers()
    const now = this.now()
    if (count !== this.seen) {
      this.seen = count
      this.seenAtMs = now
    }
    return now - this.seenAtMs < LINGER_MS
  }
}
