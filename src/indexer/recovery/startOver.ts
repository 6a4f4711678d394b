import { RetryableError } from '../../errors/chainErrors.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber } from '../../protocol/units.js'
import { applyOrThrow } from '../../shard/applyOrThrow.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'
import type { AuditMismatch } from './contradictions.js'

/**
 * The shortest time between two starts over; it doubles each time, up to LONGEST_PERIOD_MS. It is not known where the missing log
 * is, so that only reading everything can show that it is no longer missing. The network stands still until then anyway.
 */
const SHORTEST_PERIOD_MS = 10 * 60_000
const LONGEST_PERIOD_MS = 60 * 60_000
/** After so long without a start over, the next one counts as the first. */
const FORGOTTEN_MS = 24 * 60 * 60_000

/** What a comparison at the checkpoint found. `unanswered`: no endpoint answers. `unproven`: a contradiction stayed open. */
export type StoredState = 'same' | 'unanswered' | 'unproven' | AuditMismatch

export interface StartOverOptions {
  readonly writer: Pick<
    ShardWriter,
    'apply' | 'checkpoint' | 'headerAtOrBelow' | 'oldestAncestor' | 'startOvers'
  >
  readonly clock: Clock
  readonly report: SyncReport
  /** Compares everything that is stored with the contracts, at the checkpoint. */
  readonly compare: () => Promise<StoredState>
  readonly finalizedBlock: () => Promise<number>
}

/**
 * The last resort when a log is missing in history that undo no longer reaches: the shard is emptied, and read again from its first
 * block. It is done only after the contract contradicted what is stored at a final block, and again at the oldest block that undo
 * reaches: then taking blocks back can't mend it.
 *
 * The provider may still leave the log out. So ten minutes lie between two starts over at least, then twenty, up to an hour. The
 * time runs from when the outcome of the last one was known, and across restarts.
 */
export class StartOver {
  readonly #options: StartOverOptions
  /** No further attempt is made before this time. */
  #notBeforeMs = Number.NEGATIVE_INFINITY

  constructor(options: StartOverOptions) {
    this.#options = options
  }

  /**
   * To be called when data still contradict after all blocks that undo reaches were read again.
   * @returns whether the shard was emptied. If not, blocks may have been taken back.
   */
  async attempt(signal: AbortSignal): Promise<boolean> {
    const { clock, writer } = this.#options
    if (writer.checkpoint() === undefined || !this.#isDue()) return false
    try {
      return await this.#attempt(signal)
    } catch (failure) {
      // That an endpoint does not answer proves nothing against what is stored.
      if (!(failure instanceof RetryableError)) throw failure
      return false
    } finally {
      this.#notBeforeMs = clock.now() + SHORTEST_PERIOD_MS
    }
  }

  /** The contracts agree with what is stored: the last start over has done its work. */
  audited(): void {
    this.#beginWait()
  }

  #isDue(): boolean {
    const { clock, writer } = this.#options
    if (clock.now() < this.#notBeforeMs) return false
    this.#beginWait()
    const { count, notBeforeMs } = writer.startOvers() ?? { count: 0, notBeforeMs: 0 }
    const waitMs = (notBeforeMs ?? 0) - clock.epochMs()
    // A longer wait than the period means that the clock was wrong once: it must not hold this up.
    return waitMs <= 0 || waitMs > periodMs(count)
  }

  /** It is known now whether the last start over has helped: the wait until the next one begins, if it has not begun. */
  #beginWait(): void {
    const { clock, writer } = this.#options
    const last = writer.startOvers()
    if (last === undefined || last.notBeforeMs !== undefined) return
    const startOvers = { count: last.count, notBeforeMs: clock.epochMs() + periodMs(last.count) }
    applyOrThrow(writer, { type: 'noteStartOvers', startOvers })
  }

  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { clock, writer, report, compare, finalizedBlock } = this.#options
    const final = writer.headerAtOrBelow(asBlockNumber(await finalizedBlock()))
    if (!this.#goBack(final)) return false
    // At a final block: no reorg can mend it any more. If it agrees there, history below is not to blame.
    const mismatch = await compare()
    if (!(mismatch instanceof Error)) return false
    this.#goBack(writer.oldestAncestor())
    const checkpoint = writer.checkpoint()!
    const below = await compare()
    // If no endpoint keeps state that old, the mismatch at the newer block has to do.
    if (below !== 'unanswered' && !(below instanceof Error)) return false
    signal.throwIfAborted()
    const last = writer.startOvers()
    const isForgotten = last?.notBeforeMs !== undefined && clock.epochMs() - last.notBeforeMs > FORGOTTEN_MS
    const count = last === undefined || isForgotten ? 1 : last.count + 1
    applyOrThrow(writer, { type: 'startOver', startOvers: { count, notBeforeMs: undefined } })
    report.startedOver(mismatch, checkpoint, count)
    return true
  }

  /** @returns false when undo does not reach the block. */
  #goBack(ancestor: BlockHeader | undefined): boolean {
    const { writer, report } = this.#options
    const checkpoint = writer.checkpoint()
    if (ancestor === undefined || checkpoint === undefined) return false
    if (ancestor.number >= checkpoint.number) return true
    if (ancestor.number < (writer.oldestAncestor()?.number ?? Number.POSITIVE_INFINITY)) return false
    // Claims are taken back that the chain still has, and the halt does not outlive a restart: nothing may be ready meanwhile.
    applyOrThrow(writer, { type: 'noteCatchingUp', isCatchingUp: true })
    applyOrThrow(writer, { type: 'revertTo', ancestor: ancestor.number })
    report.rewound(checkpoint, ancestor)
    return true
  }
}

function periodMs(count: number): number {
  return Math.min(LONGEST_PERIOD_MS, SHORTEST_PERIOD_MS * 2 ** Math.min(count - 1, 20))
}
