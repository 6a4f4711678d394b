import type { ChainClient } from '../chain/chainClient.types.js'
import type { Clock } from '../chain/clock.js'
import { ChainDataError } from '../errors/chainDataError.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import { equalHashes } from './localChain.js'
import type { SyncReport } from './syncReport.js'

const AUDIT_EVERY_MS = 120_000
/** In backfill one window in so many is compared with the contract. */
const WINDOWS_PER_AUDIT = 16

/** The contract counts other deposits than we do. */
export class AuditMismatch extends ChainDataError {}

/**
 * Asks the bridge itself how many deposits it has and compares: the last net under what bloom, contiguous counts and
 * roots let through, for example a hidden log after which nothing happened. Few calls, and silent where the node keeps no
 * old state.
 */
export class Auditor {
  readonly #client: Pick<ChainClient, 'getContractDepositCount' | 'getHeader'>
  readonly #writer: Pick<ShardWriter, 'counts'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #report: SyncReport
  #lastAuditMs = Number.NEGATIVE_INFINITY
  #windows = 0

  constructor(options: {
    readonly client: Pick<ChainClient, 'getContractDepositCount' | 'getHeader'>
    readonly writer: Pick<ShardWriter, 'counts'>
    readonly clock: Pick<Clock, 'now'>
    readonly report: SyncReport
  }) {
    this.#client = options.client
    this.#writer = options.writer
    this.#clock = options.clock
    this.#report = options.report
  }

  /**
   * After a commit in backfill: one window in so many is compared.
   * @throws AuditMismatch when the contract has another number of deposits.
   */
  async afterWindow(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    this.#windows++
    if (this.#windows % WINDOWS_PER_AUDIT === 0) await this.#compare(checkpoint, signal)
  }

  /**
   * When there is nothing else to do at the tip.
   * @returns true when a comparison was made and held.
   * @throws AuditMismatch as above.
   */
  async atTip(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    if (this.#clock.now() - this.#lastAuditMs < AUDIT_EVERY_MS) return false
    this.#lastAuditMs = this.#clock.now()
    return this.#compare(checkpoint, signal)
  }

  /** No block may be stored or taken back meanwhile. @returns false where the node can't tell, or told of another chain. */
  async #compare(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { deposits } = this.#writer.counts()
    const count = await this.#client.getContractDepositCount(checkpoint.number, signal)
    if (count === undefined) return false
    this.#report.contractDepositCount(count)
    if (count === deposits) return true
    // A reorg, or a node of another branch, would look the same: two equal answers beside our own block count.
    const again = await this.#client.getContractDepositCount(checkpoint.number, signal)
    const block = await this.#client.getHeader(checkpoint.number, signal)
    if (again !== count || block === undefined || !equalHashes(block.hash, checkpoint.hash)) return false
    // Compared again as soon as everything was read anew.
    this.#lastAuditMs = Number.NEGATIVE_INFINITY
    throw new AuditMismatch(
      'missing_log',
      `the bridge has ${count} deposits at block ${checkpoint.number}, ${deposits} are indexed`,
    )
  }
}
