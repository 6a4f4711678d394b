import { RetryableError } from '../../errors/chainErrors.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'
import type { AuditMismatch } from './contradictions.js'

/**
 * Between two of them at least; doubled each time, up to an hour: where the log lies is not known, so that only reading
 * everything shows that it came back, and the network stands still until then anyway.
 */
const SHORTEST_PERIOD_MS = 10 * 60_000
const LONGEST_PERIOD_MS = 60 * 60_000
/** After so long without need the next one is a first one again. */
const FORGOTTEN_MS = 24 * 60 * 60_000

/** What a comparison at the checkpoint found. `untold`: no endpoint can tell. `unproven`: two looks, two answers. */
export type StoredState = 'same' | 'untold' | 'unproven' | AuditMismatch

export interface StartOverOptions {
  readonly writer: Pick<
    ShardWriter,
    | 'checkpoint'
    | 'headerAtOrBelow'
    | 'oldestAncestor'
    | 'revertTo'
    | 'startOver'
    | 'startOvers'
    | 'noteStartOvers'
    | 'noteCatchingUp'
  >
  readonly clock: Clock
  readonly report: SyncReport
  /** Compares all that is stored with the contracts, by the word of two looks, at the checkpoint. */
  readonly compare: () => Promise<StoredState>
  readonly finalizedBlock: () => Promise<number>
}

/**
 * The last resort against a log that every endpoint left out of history which undo no longer reaches: the shard is emptied
 * and read again from the first block. Only after the contract has denied what is stored at a final block, and at the oldest
 * one that can be gone back to: then nothing that could be taken back mends it.
 *
 * A provider may go on hiding the log. So there is one in ten minutes at most, then in twenty, up to an hour; the time runs
 * from when it was known what the last one was good for, over restarts too.
 */
export class StartOver {
  readonly #options: StartOverOptions
  /** After a comparison that proved nothing. */
  #notBeforeMs = Number.NEGATIVE_INFINITY

  constructor(options: StartOverOptions) {
    this.#options = options
  }

  /**
   * Contradicting data were read again from as far below as undo reaches, and contradict still.
   * @returns whether the shard was emptied. If not, blocks may have been taken back.
   */
  async attempt(signal: AbortSignal): Promise<boolean> {
    const { clock, writer } = this.#options
    if (writer.checkpoint() === undefined || !this.#isDue()) return false
    try {
      return await this.#attempt(signal)
    } catch (failure) {
      // An endpoint that does not answer says nothing against what is stored.
      if (!(failure instanceof RetryableError)) throw failure
      return false
    } finally {
      this.#notBeforeMs = clock.now() + SHORTEST_PERIOD_MS
    }
  }

  /** The contracts agree: whatever the last one was for is over. */
  audited(): void {
    this.#settle()
  }

  #isDue(): boolean {
    const { clock, writer } = this.#options
    if (clock.now() < this.#notBeforeMs) return false
    this.#settle()
    const { count, notBeforeMs } = writer.startOvers() ?? { count: 0, notBeforeMs: 0 }
    const waitMs = (notBeforeMs ?? 0) - clock.epochMs()
    // A clock that was wrong once must not hold it up for longer than that.
    return waitMs <= 0 || waitMs > periodMs(count)
  }

  /** Everything was read again: from now on the next period runs. */
  #settle(): void {
    const { clock, writer } = this.#options
    const last = writer.startOvers()
    if (last === undefined || last.notBeforeMs !== undefined) return
    writer.noteStartOvers({ count: last.count, notBeforeMs: clock.epochMs() + periodMs(last.count) })
  }

  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { clock, writer, report, compare, finalizedBlock } = this.#options
    const final = writer.headerAtOrBelow(asBlockNumber(await finalizedBlock()))
    if (!this.#goBack(final)) return false
    // A branch may still go; and what holds there is no reason to read what is below.
    const denied = await compare()
    if (!(denied instanceof Error)) return false
    this.#goBack(writer.oldestAncestor())
    const checkpoint = writer.checkpoint()!
    const below = await compare()
    // Where the endpoints keep no state that old, the newer block's has to do.
    if (below !== 'untold' && !(below instanceof Error)) return false
    signal.throwIfAborted()
    const last = writer.startOvers()
    const isForgotten = last?.notBeforeMs !== undefined && clock.epochMs() - last.notBeforeMs > FORGOTTEN_MS
    const count = last === undefined || isForgotten ? 1 : last.count + 1
    writer.startOver({ count, notBeforeMs: undefined })
    report.startedOver(denied, checkpoint, count)
    return true
  }

  /** @returns false when undo does not reach the block. */
  #goBack(ancestor: BlockHeader | undefined): boolean {
    const { writer, report } = this.#options
    const checkpoint = writer.checkpoint()
    if (ancestor === undefined || checkpoint === undefined) return false
    if (ancestor.number >= checkpoint.number) return true
    if (ancestor.number < (writer.oldestAncestor()?.number ?? Number.POSITIVE_INFINITY)) return false
    // The halt does not outlive a restart, and claims that the chain still has are taken back.
    writer.noteCatchingUp(true)
    writer.revertTo(ancestor.number)
    report.rewound(checkpoint, ancestor)
    return true
  }
}

function periodMs(count: number): number {
  return Math.min(LONGEST_PERIOD_MS, SHORTEST_PERIOD_MS * 2 ** Math.min(count - 1, 20))
}
