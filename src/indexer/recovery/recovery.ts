import type { ChainClient } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { FatalError, RetryableError } from '../../errors/chainErrors.js'
import { asBlockNumber } from '../../protocol/units.js'
import { applyOrThrow, throwRefused } from '../../shard/applyOrThrow.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { Backoff } from '../backoff.js'
import type { SyncReport } from '../syncReport.js'
import { AuditMismatch } from './contradictions.js'
import { haltReasonOf } from './haltReasonOf.js'
import type { StartOver } from './startOver.js'

/** Longest wait before the next try: so a halted network heals within a minute once its cause is gone. */
const LONGEST_WAIT_MS = 15_000
/** So many tries with contradicting data are made before the network halts. */
const TRIES_BEFORE_HALT = 5
/**
 * How many blocks are taken back before the n-th try. The fault may lie before the place where it shows: a deposit that is
 * missing at the end of a range shows when the next deposit comes.
 */
const REWIND_BLOCKS = [0, 0, 1, 64, Number.POSITIVE_INFINITY]
/** Tries of this number, of twice this number, four times, and so on take back all blocks that undo reaches. */
const FIRST_DEEP_REWIND_AGAIN = 8

/** The place where contradicting data was met. */
interface Stuck {
  /** The checkpoint at that time. */
  readonly at: number
  /** The last block that may belong to the range that does not fit. */
  readonly to: number
  /** The blocks fit, but the contract contradicts them: only another comparison can show that it is over. */
  readonly isAudit: boolean
  tries: number
}

export interface RecoveryOptions {
  readonly client: Pick<ChainClient, 'isDown' | 'readCarefully'>
  readonly writer: Pick<ShardWriter, 'apply' | 'checkpoint' | 'headerAtOrBelow'>
  readonly clock: Clock
  readonly report: SyncReport
  readonly startOver: Pick<StartOver, 'attempt' | 'audited'>
  /** How many blocks undo can reach back at most. */
  readonly deepestRewind: number
  /** How many blocks one read may cover. */
  readonly windowBlocks: number
}

/**
 * What happens after a failure: wait and try again, take blocks back and read them again, or halt under a reason and go on
 * trying. Nothing here gives up: every halt ends by itself when its cause is gone.
 */
export class Recovery {
  readonly #options: RecoveryOptions
  readonly #backoff: Backoff
  #stuck: Stuck | undefined
  /** Halted with `state_unavailable`. New blocks do not end that; doing everything at the tip without a failure does. */
  #lacksState = false

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.clock, { baseMs: 250, capMs: LONGEST_WAIT_MS })
  }

  /** A batch was stored up to `block`. */
  progressed(block: number): void {
    if (this.#stuck !== undefined && (this.#stuck.isAudit || block <= this.#stuck.at)) return
    this.#stuck = undefined
    // Blocks can be read also while no endpoint answers contract calls.
    if (this.#lacksState) return
    this.#backoff.reset()
    this.#options.report.resumed()
  }

  /** What is stored was compared with the contracts, and agrees. */
  audited(): void {
    this.#stuck = undefined
    this.#lacksState = false
    this.#options.startOver.audited()
    this.#options.report.resumed()
  }

  /** Everything was done at the tip without a failure: any halt is over, unless its reason was contradicting data. */
  idled(): void {
    if (this.#stuck !== undefined) return
    this.#lacksState = false
    this.#backoff.reset()
    this.#options.report.resumed()
  }

  /** Reports the failure, prepares the next try, and waits until it is due. */
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
      // After a failed comparison reading on does not help, since the fault is in what is stored: blocks are taken back at once.
      const tries = this.#stuck?.tries ?? (isAudit ? REWIND_BLOCKS.indexOf(1) : 0)
      this.#stuck = { at: checkpoint, to: checkpoint + 2 * windowBlocks, isAudit, tries }
    }
    const { at, to, tries } = this.#stuck
    this.#stuck.tries++
    // What a contract contradicts is being served already: the network must halt while it is read again.
    if (error instanceof AuditMismatch || this.#stuck.tries > TRIES_BEFORE_HALT)
      report.halted(error.reason, error)
    if (tries >= REWIND_BLOCKS.length && (await this.#options.startOver.attempt(signal)))
      return this.#startedOver()
    const isDeepAgain = tries >= FIRST_DEEP_REWIND_AGAIN && Number.isInteger(Math.log2(tries))
    const rewind = isDeepAgain ? Number.POSITIVE_INFINITY : (REWIND_BLOCKS[tries] ?? 0)
    const from = this.#rewind(Math.min(rewind, this.#options.deepestRewind), at)
    // Reading all headers of a deep range takes many calls: the first time another endpoint, without that, may be enough.
    const isPlain = tries === REWIND_BLOCKS.length - 1
    client.readCarefully(asBlockNumber(from), asBlockNumber(isPlain ? from : Math.max(from, to)))
  }

  /** Everything is read again, from another endpoint. The halt stays until the contract agrees. */
  #startedOver(): void {
    this.#stuck = { at: -1, to: -1, isAudit: true, tries: 0 }
    this.#backoff.reset()
    this.#options.client.readCarefully(asBlockNumber(0), asBlockNumber(0))
  }

  /** Takes back the blocks above `at - blocks`, or as many as undo allows. @returns the first block to read again. */
  #rewind(blocks: number, at: number): number {
    const { writer, report } = this.#options
    const checkpoint = writer.checkpoint()
    if (checkpoint === undefined) return 0
    for (let distance = blocks; distance >= 1; distance = Math.floor(distance / 2)) {
      const ancestor = writer.headerAtOrBelow(asBlockNumber(Math.max(0, at - distance)))
      if (ancestor === undefined || ancestor.number >= checkpoint.number) continue
      // Claims are taken back with their blocks, but the chain still has them: so nothing may be ready meanwhile.
      applyOrThrow(writer, { type: 'noteCatchingUp', isCatchingUp: true })
      const outcome = writer.apply({ type: 'revertTo', ancestor: ancestor.number })
      // Undo does not reach so far. Try half of it.
      if (outcome.type === 'refused' && outcome.reason === 'reorg_too_deep') continue
      throwRefused(outcome)
      report.rewound(checkpoint, ancestor)
      return ancestor.number + 1
    }
    return checkpoint.number + 1
  }
}
