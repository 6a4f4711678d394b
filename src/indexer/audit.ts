import type { ChainClient } from '../chain/chainClient.types.js'
import type { Clock } from '../chain/clock.js'
import { ChainDataError } from '../errors/chainDataError.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import type { SyncReport } from './syncReport.js'

const AUDIT_EVERY_MS = 120_000
/** In backfill one window in so many is compared with the contract. */
const WINDOWS_PER_AUDIT = 16

/** The contract counts other deposits than we do. */
export class AuditMismatch extends ChainDataError {}

interface AuditPoint {
  readonly header: BlockHeader
  readonly deposits: number
}

/**
 * Asks the bridge itself how many deposits it has and compares: the last net under what bloom, contiguous counts and
 * roots let through, for example a hidden log after which nothing happened. Few calls, at blocks that are final, and
 * silent where the node keeps no old state.
 */
export class Auditor {
  readonly #client: Pick<ChainClient, 'getContractDepositCount'>
  readonly #writer: Pick<ShardWriter, 'counts' | 'headerAtOrBelow'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #report: SyncReport
  #point: AuditPoint | undefined
  #lastAuditMs = Number.NEGATIVE_INFINITY
  #windows = 0

  constructor(options: {
    readonly client: Pick<ChainClient, 'getContractDepositCount'>
    readonly writer: Pick<ShardWriter, 'counts' | 'headerAtOrBelow'>
    readonly clock: Pick<Clock, 'now'>
    readonly report: SyncReport
  }) {
    this.#client = options.client
    this.#writer = options.writer
    this.#clock = options.clock
    this.#report = options.report
  }

  /** Blocks were taken back: what was to be compared may be gone. */
  forget(): void {
    this.#point = undefined
  }

  /**
   * After a commit in backfill.
   * @throws AuditMismatch when the contract has another number of deposits.
   */
  async afterWindow(head: BlockHeader, signal: AbortSignal): Promise<void> {
    this.#windows++
    if (this.#windows % WINDOWS_PER_AUDIT === 0) await this.#compare(this.#take(head), signal)
  }

  /**
   * When there is nothing else to do at the tip: remembers the checkpoint, and compares it once it is final. What the
   * contract says at the checkpoint goes to the status board at once.
   * @returns true when a comparison was made and held.
   * @throws AuditMismatch as above.
   */
  async atTip(checkpoint: BlockHeader, finalizedBlock: number, signal: AbortSignal): Promise<boolean> {
    if (this.#point !== undefined) {
      if (this.#point.header.number > finalizedBlock) return false
      const point = this.#point
      this.#point = undefined
      return this.#compare(point, signal)
    }
    if (this.#clock.now() - this.#lastAuditMs < AUDIT_EVERY_MS) return false
    this.#lastAuditMs = this.#clock.now()
    const point = this.#take(checkpoint)
    if (checkpoint.number <= finalizedBlock) return this.#compare(point, signal)
    this.#point = point
    await this.#read(point, signal)
    return false
  }

  #take(header: BlockHeader): AuditPoint {
    return { header, deposits: this.#writer.counts().deposits }
  }

  /** @returns undefined where the node can't tell. */
  async #read({ header }: AuditPoint, signal: AbortSignal): Promise<number | undefined> {
    const count = await this.#client.getContractDepositCount(header.number, signal)
    if (count !== undefined) this.#report.contractDepositCount(count)
    return count
  }

  async #compare(point: AuditPoint, signal: AbortSignal): Promise<boolean> {
    const { header, deposits } = point
    const first = await this.#read(point, signal)
    if (first === undefined || first === deposits) return first !== undefined
    // One endpoint may have answered for another block: two equal answers in a row count.
    const second = await this.#read(point, signal)
    const stored = this.#writer.headerAtOrBelow(header.number)
    const isStillOurs = stored !== undefined && Buffer.compare(stored.hash, header.hash) === 0
    if (second !== first || !isStillOurs) return false
    // Compared again as soon as everything was read anew.
    this.#lastAuditMs = Number.NEGATIVE_INFINITY
    throw new AuditMismatch(
      'missing_log',
      `the bridge has ${first} deposits at block ${header.number}, ${deposits} are indexed`,
    )
  }
}
