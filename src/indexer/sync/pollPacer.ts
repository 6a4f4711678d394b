import type { BlockHeader } from '../../protocol/chainEvent.js'
import type { Clock } from '../../telemetry/clocks.js'

const REMEMBERED_BLOCKS = 8
const LONGEST_WAIT_IN_POLLS = 6

interface Interval {
  /** Between the looks that found the blocks. */
  readonly seenMs: number
  /** Per block, by the blocks' own times. */
  readonly toldMs: number
}

/**
 * When to look at the head again. After a new block the next one is not due before the chain's shortest interval has
 * passed, so there is nothing to ask; from then on each poll interval. A chain that mines every 12 s costs about one look
 * per block instead of six, one that mines in bursts is followed as closely as the poll interval allows.
 *
 * The chain's own times are exact where they follow the clock. Where blocks come much faster than they say (a replayed
 * chain, a chain that mines on demand), what was seen counts.
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
      const toldMs = (1000 * seconds) / (head.number - before.head.number)
      this.#intervals.push({ seenMs: atMs - before.atMs, toldMs })
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
    const told = Math.min(...this.#intervals.map(({ toldMs }) => toldMs))
    const seen = Math.min(...this.#intervals.map(({ seenMs }) => seenMs))
    const due = seen < told / 2 ? seen : told
    return Math.min(LONGEST_WAIT_IN_POLLS * this.#pollIntervalMs, Math.max(this.#pollIntervalMs, due))
  }
}
