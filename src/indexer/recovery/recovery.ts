import type { ChainClient } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { FatalError, RetryableError } from '../../errors/chainErrors.js'
import { asBlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { Backoff } from '../backoff.js'
import type { SyncReport } from '../syncReport.js'
import { AuditMismatch } from './contradictions.js'
import { haltReasonOf } from './haltReasonOf.js'
import type { StartOver } from './startOver.js'

/** A halted network looks again this often at the latest, so that it heals within a minute of the chain. */
const LONGEST_WAIT_MS = 15_000
/** Tries with contradicting data before the network halts. */
const TRIES_BEFORE_HALT = 5
/**
 * How many blocks are taken back before the n-th try: the fault may lie before the place where it shows (a deposit that
 * was hidden at the end of a stretch shows when the next deposit comes).
 */
const REWIND_BLOCKS = [0, 0, 1, 64, Number.POSITIVE_INFINITY]
/** After the halt a try begins far below again at this many tries, and each time when they have doubled. */
const FIRST_DEEP_REWIND_AGAIN = 8

/** Where contradicting data was met. */
interface Stuck {
  /** The checkpoint then. */
  readonly at: number
  /** How far the stretch may reach that does not fit. */
  readonly to: number
  /** Everything fits, but the contract counts otherwise: only another comparison shows that it is over. */
  readonly isAudit: boolean
  tries: number
}

export interface RecoveryOptions {
  readonly client: Pick<ChainClient, 'isDown' | 'readCarefully'>
  readonly writer: Pick<ShardWriter, 'checkpoint' | 'headerAtOrBelow' | 'revertTo' | 'noteCatchingUp'>
  readonly clock: Clock
  readonly report: SyncReport
  readonly startOver: Pick<StartOver, 'attempt' | 'audited'>
  /** Blocks below the checkpoint that undo may reach at most. */
  readonly deepestRewind: number
  /** Widest stretch that one read may cover. */
  readonly windowBlocks: number
}

/**
 * What happens after a failure: wait and try again, read again from further below, or halt under a name and go on trying.
 * Nothing here gives up: every halt heals by itself when its cause is gone.
 */
export class Recovery {
  readonly #options: RecoveryOptions
  readonly #backoff: Backoff
  #stuck: Stuck | undefined
  /** What only the contracts can tell is not told: over when a rest at the tip went well. */
  #lacksState = false

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.clock, { baseMs: 250, capMs: LONGEST_WAIT_MS })
  }

  /** A batch was stored up to `block`. */
  progressed(block: number): void {
    if (this.#stuck !== undefined && (this.#stuck.isAudit || block <= this.#stuck.at)) return
    this.#stuck = undefined
    // Blocks come without the contracts' word, too.
    if (this.#lacksState) return
    this.#backoff.reset()
    this.#options.report.resumed()
  }

  /** The contract's own count agreed with ours. */
  audited(): void {
    this.#stuck = undefined
    this.#lacksState = false
    this.#options.startOver.audited()
    this.#options.report.resumed()
  }

  /** Nothing was left to do: whatever halted us, unless it was contradicting data, is over. */
  idled(): void {
    if (this.#stuck !== undefined) return
    this.#lacksState = false
    this.#backoff.reset()
    this.#options.report.resumed()
  }

  /** Names the failure, prepares the next try and waits for its time. */
  async failed(error: unknown, signal: AbortSignal): Promise<void> {
    const { client, clock, report } = this.#options
    if (error instanceof ChainDataError) await this.#contradicted(error, signal)
    else if (!(error instanceof RetryableError)) {
      this.#lacksState = error instanceof FatalError && error.reason === 'state_unavailable'
      report.halted(haltReasonOf(error), error)
    }
    report.rpcDown(client.isDown())
    const waitMs = this.#backoff.nextMs()
    report.troubled(error, this.#backoff.failures, waitMs)
    await clock.sleep(waitMs, signal)
  }

  async #contradicted(error: ChainDataError, signal: AbortSignal): Promise<void> {
    const { client, writer, report, windowBlocks } = this.#options
    const checkpoint = writer.checkpoint()?.number ?? -1
    if (this.#stuck === undefined || checkpoint > this.#stuck.at) {
      const isAudit = error instanceof AuditMismatch
      // Behind a comparison that failed there is nothing to read again: the fault is in what is stored.
      const tries = this.#stuck?.tries ?? (isAudit ? REWIND_BLOCKS.indexOf(1) : 0)
      this.#stuck = { at: checkpoint, to: checkpoint + 2 * windowBlocks, isAudit, tries }
    }
    const { at, to, tries } = this.#stuck
    this.#stuck.tries++
    // What a contract denies is being served already: nobody may rely on it while it is read again.
    if (error instanceof AuditMismatch || this.#stuck.tries > TRIES_BEFORE_HALT)
      report.halted(error.reason, error)
    if (tries >= REWIND_BLOCKS.length && (await this.#options.startOver.attempt(signal)))
      return this.#startedOver()
    const isDeepAgain = tries >= FIRST_DEEP_REWIND_AGAIN && Number.isInteger(Math.log2(tries))
    const rewind = isDeepAgain ? Number.POSITIVE_INFINITY : (REWIND_BLOCKS[tries] ?? 0)
    const from = this.#rewind(Math.min(rewind, this.#options.deepestRewind), at)
    // All headers of a deep stretch are many calls: the first time another endpoint's word is enough.
    const isPlain = tries === REWIND_BLOCKS.length - 1
    client.readCarefully(asBlockNumber(from), asBlockNumber(isPlain ? from : Math.max(from, to)))
  }

  /** Everything is read again, by the word of another endpoint. The halt stays until the contract agrees. */
  #startedOver(): void {
    this.#stuck = { at: -1, to: -1, isAudit: true, tries: 0 }
    this.#backoff.reset()
    this.#options.client.readCarefully(asBlockNumber(0), asBlockNumber(0))
  }

  /** Takes up to `blocks` blocks below `at` back, as far as undo reaches. @returns the first block to read again. */
  #rewind(blocks: number, at: number): number {
    const { writer, report } = this.#options
    const checkpoint = writer.checkpoint()
    if (checkpoint === undefined) return 0
    for (let distance = blocks; distance >= 1; distance = Math.floor(distance / 2)) {
      const ancestor = writer.headerAtOrBelow(asBlockNumber(Math.max(0, at - distance)))
      if (ancestor === undefined || ancestor.number >= checkpoint.number) continue
      try {
        // Claims go with their blocks, which the chain still has.
        writer.noteCatchingUp(true)
        writer.revertTo(ancestor.number)
        report.rewound(checkpoint, ancestor)
        return ancestor.number + 1
      } catch (error) {
        // Undo does not reach so far: half of it may be better than nothing.
        if (!(error instanceof FatalError)) throw error
      }
    }
    return checkpoint.number + 1
  }
}
