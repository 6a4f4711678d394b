import type { ChainClient } from '../chain/chainClient.types.js'
import type { Clock } from '../chain/clock.js'
import { ChainDataError } from '../errors/chainDataError.js'
import type { HaltReason } from '../errors/haltReason.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import { encodeHex } from '../protocol/hex.js'
import { L1_NETWORK_ID } from '../protocol/networks.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import { equalHashes } from './localChain.js'
import type { SyncReport } from './syncReport.js'

const AUDIT_EVERY_MS = 120_000
/** In backfill one window in so many is compared with the contract. */
const WINDOWS_PER_AUDIT = 16

/** The contracts say otherwise than we do. */
export class AuditMismatch extends ChainDataError {}

export interface AuditorOptions {
  readonly networkId: number
  readonly client: Pick<
    ChainClient,
    'getContractDepositCount' | 'getContractLocalExitRoot' | 'getContractL1InfoLeafCount' | 'getHeader'
  >
  readonly writer: Pick<ShardWriter, 'counts' | 'localExitRoot'>
  readonly clock: Pick<Clock, 'now'>
  readonly report: SyncReport
}

/** One thing that a contract says and we have as well. */
interface Comparison {
  readonly what: string
  readonly reason: HaltReason
  readonly ours: number | string
  readonly ask: () => Promise<number | string | undefined>
}

/**
 * Asks the contracts themselves and compares: the last net under what blooms, contiguous counts and roots let through, for
 * example a hidden log after which nothing happened. Few calls, and silent where the node keeps no old state.
 */
export class Auditor {
  readonly #options: AuditorOptions
  #lastAuditMs = Number.NEGATIVE_INFINITY
  #windows = 0

  constructor(options: AuditorOptions) {
    this.#options = options
  }

  /**
   * After a commit in backfill: one window in so many is compared.
   * @throws AuditMismatch when a contract says otherwise.
   */
  async afterWindow(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    this.#windows++
    if (this.#windows % WINDOWS_PER_AUDIT === 0) await this.compare(checkpoint, signal)
  }

  /**
   * When there is nothing else to do at the tip.
   * @returns true when something was compared, and held.
   * @throws AuditMismatch as above.
   */
  async atTip(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options
    if (clock.now() - this.#lastAuditMs < AUDIT_EVERY_MS) return false
    this.#lastAuditMs = clock.now()
    return this.compare(checkpoint, signal)
  }

  /**
   * Compares now. No block may be stored or taken back meanwhile.
   * @returns false where the node can't tell, or told of another chain.
   * @throws AuditMismatch as above.
   */
  async compare(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    let isCompared = false
    for (const comparison of this.#comparisons(checkpoint, signal)) {
      const theirs = await comparison.ask()
      if (theirs === undefined) continue
      if (theirs !== comparison.ours && !(await this.#isOurBlock(comparison, theirs, checkpoint, signal)))
        return false
      if (theirs !== comparison.ours) throw this.#mismatch(comparison, theirs, checkpoint)
      isCompared = true
    }
    return isCompared
  }

  #comparisons(checkpoint: BlockHeader, signal: AbortSignal): Comparison[] {
    const { networkId, client, writer, report } = this.#options
    const { deposits, l1InfoLeaves } = writer.counts()
    const deposit: Comparison = {
      what: 'deposits',
      reason: 'missing_log',
      ours: deposits,
      ask: async () => {
        const count = await client.getContractDepositCount(checkpoint.number, signal)
        if (count !== undefined) report.contractDepositCount(count)
        return count
      },
    }
    // Each leaf of the L1 info tree has its mainnet exit root checked already; an L2's roots are told by nobody.
    if (networkId !== L1_NETWORK_ID) {
      const ask = async () => {
        const root = await client.getContractLocalExitRoot(checkpoint.number, signal)
        return root && encodeHex(root)
      }
      const ours = encodeHex(writer.localExitRoot())
      return [deposit, { what: 'local exit root', reason: 'exit_root_mismatch', ours, ask }]
    }
    const ask = () => client.getContractL1InfoLeafCount(checkpoint.number, signal)
    return [deposit, { what: 'L1 info leaves', reason: 'missing_log', ours: l1InfoLeaves, ask }]
  }

  /** A reorg, or a node of another branch, would look the same: the same answer again, beside our own block, counts. */
  async #isOurBlock(
    { ask }: Comparison,
    theirs: number | string,
    checkpoint: BlockHeader,
    signal: AbortSignal,
  ): Promise<boolean> {
    if ((await ask()) !== theirs) return false
    const block = await this.#options.client.getHeader(checkpoint.number, signal)
    return block !== undefined && equalHashes(block.hash, checkpoint.hash)
  }

  #mismatch({ what, reason, ours }: Comparison, theirs: number | string, { number }: BlockHeader): Error {
    // Compared again as soon as everything was read anew.
    this.#lastAuditMs = Number.NEGATIVE_INFINITY
    return new AuditMismatch(
      reason,
      `${what} at block ${number}: the contract has ${theirs}, indexed ${ours}`,
    )
  }
}
