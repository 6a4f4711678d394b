import type { BlockHeader } from '../../protocol/chainEvent.js'
import type { Clock } from '../../telemetry/clocks.js'

const REMEMBERED_BLOCKS = 8
const LONGEST_WAIT_IN_POLLS = 6

interface Interval {
  /** Time between the looks that found the two heads. */
  readonly seenMs: number
  /** Time per block by the blocks' own timestamps. */
  readonly stampedMs: number
}

/**
 * Decides when to look at the head again. After a new block there is nothing to look for until the chain's shortest interval has
 * passed; from then on it looks at each poll interval. So a chain with a block every 12 s costs about one look per block instead
 * of six, and one that makes blocks in bursts is followed as closely as the poll interval allows.
 *
 * The blocks' timestamps are exact if they follow the clock. If blocks come much faster than by their timestamps (a replayed
 * chain, a chain that mines on demand), the times between the looks count.
 */
export class PollPacer {
  readonly #clock: Pick<Clock, 'now'>
  readonly #pollIntervalMs: number
  readonly #intervals: Interval[] = []
  #newest: { readonly head: BlockHeader; readonly atMs: number } | undefined
  #isNew = false

  constructor(clock: Pick<Clock, 'now'>, pollIntervalMs: number) {
    this.#clock = clock
    this.#pollIntervalMs = pollIntervalMs
  }

  /** A look at the head showed `head`. */
  saw(head: BlockHeader): void {
    const before = this.#newest
    if (before !== undefined && head.number <= before.head.number) return
    const atMs = this.#clock.now()
    if (before !== undefined) {
      const seconds = head.timestampSec - before.head.timestampSec
      const stampedMs = (1000 * seconds) / (head.number - before.head.number)
      this.#intervals.push({ seenMs: atMs - before.atMs, stampedMs })
      if (this.#intervals.length > REMEMBERED_BLOCKS) this.#intervals.shift()
    }
    this.#newest = { head, atMs }
    this.#isNew = true
  }

  /** @returns milliseconds until the next look. */
  nextWaitMs(): number {
    const wasNew = this.#isNew
    this.#isNew = false
    if (!wasNew || this.#intervals.length < REMEMBERED_BLOCKS) return this.#pollIntervalMs
    const stamped = Math.min(...this.#intervals.map(({ stampedMs }) => stampedMs))
    const seen = Math.min(...this.#intervals.map(({ seenMs }) => seenMs))
    const due = seen < stamped / 2 ? seen : stamped
    return Math.min(LONGEST_WAIT_IN_POLLS * this.#pollIntervalMs, Math.max(this.#pollIntervalMs, due))
  }
}
