import type { ChainClient, ContractReads, StateWitness } from '../chain/chainClient.types.js'
import type { Clock } from '../chain/clock.js'
import { ChainDataError } from '../errors/chainDataError.js'
import type { HaltReason } from '../errors/haltReason.js'
import type { BlockHeader } from '../protocol/chainEvent.js'
import { encodeHex } from '../protocol/hex.js'
import { L1_NETWORK_ID } from '../protocol/networks.js'
import { asBlockNumber } from '../protocol/units.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import type { ClaimAudit } from './claimAudit.js'
import type { InjectionAudit } from './injectionAudit.js'
import { equalHashes } from './localChain.js'
import type { StoredState } from './startOver.js'
import type { SyncReport } from './syncReport.js'
import type { TokenMappingAudit } from './tokenMappingAudit.js'

const AUDIT_EVERY_MS = 120_000
/** After events, and after so many blocks, the next comparison comes sooner: where blooms are empty nothing else may show a loss. */
const AUDIT_SOON_MS = 40_000
const BLOCKS_PER_AUDIT = 20
/** One comparison in so many at the tip asks for what hardly ever changes, too. */
const AUDITS_PER_WHOLE = 5
/** Words of claims per new block since the last comparison: an idle tip costs at most three calls per block, all in all. */
const WORDS_PER_BLOCK = 0.1
/** In backfill one window in so many is compared with the contract. */
const WINDOWS_PER_AUDIT = 16

/** `untold`: the node can't tell. `elsewhere`: it told of another chain. */
type TreeComparison = 'same' | 'untold' | 'elsewhere'

/** The contracts say otherwise than we do. */
export class AuditMismatch extends ChainDataError {}

export interface AuditorOptions {
  readonly networkId: number
  readonly client: ContractReads & Pick<ChainClient, 'getHeader' | 'distrust' | 'askWitness'>
  readonly writer: Pick<ShardWriter, 'counts' | 'localExitRoot' | 'contractState' | 'origin'>
  readonly claims: ClaimAudit
  readonly mappings: TokenMappingAudit
  /** Absent where nothing is injected, and where roots are asked for instead. */
  readonly injections?: InjectionAudit | undefined
  readonly clock: Pick<Clock, 'now'>
  readonly report: SyncReport
}

/** One thing that a contract says and we have as well. */
export interface Difference {
  readonly what: string
  readonly reason: HaltReason
  readonly ours: number | string
  /** @param reads any endpoint's word, or a witness's. */
  readonly ask: (reads: ContractReads) => Promise<number | string | undefined>
}

/**
 * Asks the contracts themselves and compares: the last net under what blooms, contiguous counts and roots let through, for
 * example a hidden log after which nothing happened. Few calls, and silent where the node keeps no old state.
 */
export class Auditor {
  readonly #options: AuditorOptions
  #lastAuditMs = Number.NEGATIVE_INFINITY
  #lastAuditBlock: number | undefined
  #audits = 0
  #hadEvents = false
  #windows = 0
  /** Something differed at the last look: looked at again at once, until it does not. */
  #isDiffering = false

  constructor(options: AuditorOptions) {
    this.#options = options
  }

  /**
   * After a commit in backfill: one window in so many is compared.
   * @throws AuditMismatch when a contract says otherwise.
   */
  async afterWindow(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    this.#windows++
    if (this.#windows % WINDOWS_PER_AUDIT === 0) await this.#compareTrees(checkpoint, signal)
  }

  /**
   * At the end of a backfill: everything, while history can still be taken back.
   * @throws AuditMismatch as above.
   */
  async afterBackfill(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    const trees = await this.#compareTrees(checkpoint, signal)
    if (trees === 'elsewhere' || !(await this.#compareStanding(checkpoint, signal))) return
    const { difference, isCompared } = await this.#options.claims.compareAll(checkpoint, signal)
    this.#options.report.contractsCompared(trees === 'same' || isCompared)
    if (difference !== undefined) await this.#assertSame(difference, checkpoint, signal)
  }

  /** Everything, at a block of the past: what differs there is wrong in what is stored up to it. */
  async compareStored(checkpoint: BlockHeader, signal: AbortSignal): Promise<StoredState> {
    try {
      const trees = await this.#compareTrees(checkpoint, signal)
      if (trees === 'elsewhere' || !(await this.#compareStanding(checkpoint, signal))) return 'unproven'
      const { difference, isCompared } = await this.#options.claims.compareAll(checkpoint, signal)
      if (difference !== undefined && !(await this.#assertSame(difference, checkpoint, signal)))
        return 'unproven'
      return trees === 'same' || isCompared ? 'same' : 'untold'
    } catch (error) {
      if (error instanceof AuditMismatch) return error
      throw error
    }
  }

  /**
   * When there is nothing else to do at the tip. No block may be stored or taken back meanwhile.
   * @returns true when something was compared, and all of it held.
   * @throws AuditMismatch as above.
   */
  async atTip(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { clock, claims, report } = this.#options
    const isDue = this.#isDiffering || clock.now() - this.#lastAuditMs >= this.#intervalMs(checkpoint)
    if (!isDue && !claims.hasFresh()) return false
    let trees: TreeComparison = 'untold'
    if (isDue) {
      this.#lastAuditMs = clock.now()
      this.#hadEvents = false
      trees = await this.#compareTrees(checkpoint, signal)
      if (trees === 'elsewhere') return false
      const isWhole = this.#isDiffering || this.#audits++ % AUDITS_PER_WHOLE === 0
      if (isWhole && !(await this.#compareStanding(checkpoint, signal))) return false
    }
    const blocks = this.#blocksSince(checkpoint)
    this.#lastAuditBlock = checkpoint.number
    const step = await claims.compareSome(checkpoint, blocks * WORDS_PER_BLOCK, signal)
    if (step.difference !== undefined && !(await this.#assertSame(step.difference, checkpoint, signal)))
      return false
    if (!isDue) return false
    const isTold = trees !== 'untold' || step.isCompared
    report.contractsCompared(isTold)
    if (!isTold) return false
    this.#isDiffering = false
    return true
  }

  /** Blocks with events were stored at the tip. */
  sawEvents(): void {
    this.#hadEvents = true
  }

  #intervalMs(checkpoint: BlockHeader): number {
    const isSoon = this.#hadEvents || this.#blocksSince(checkpoint) >= BLOCKS_PER_AUDIT
    return isSoon ? AUDIT_SOON_MS : AUDIT_EVERY_MS
  }

  #blocksSince({ number }: BlockHeader): number {
    return number - (this.#lastAuditBlock ?? number)
  }

  /** True when every claim was compared at least once since the start, or no endpoint can tell. */
  hasComparedAll(): boolean {
    return !this.#options.claims.hasFresh()
  }

  /** @throws AuditMismatch */
  async #compareTrees(checkpoint: BlockHeader, signal: AbortSignal): Promise<TreeComparison> {
    const { networkId, client, writer, report } = this.#options
    const { deposits, l1InfoLeaves } = writer.counts()
    const count = this.#depositCount(deposits, checkpoint, signal)
    // Each leaf of the L1 info tree has its mainnet exit root checked already; an L2's roots are told by nobody.
    if (networkId === L1_NETWORK_ID) {
      const leaves: Difference = {
        what: 'L1 info leaves',
        reason: 'missing_log',
        ours: l1InfoLeaves,
        ask: (reads) => reads.getContractL1InfoLeafCount(checkpoint.number, signal),
      }
      return this.#compareAll([count, leaves], checkpoint, signal)
    }
    const root = this.#localExitRoot(checkpoint, signal)
    const theirs = await root.ask(client)
    if (theirs !== root.ours) return this.#compareAll([count, root], checkpoint, signal)
    // The root is one over all deposits: nothing more to ask.
    report.contractDepositCount(deposits)
    return 'same'
  }

  /** What decides over readiness beside trees and claims. @returns false when the node told of another chain. @throws AuditMismatch */
  async #compareStanding(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { writer, mappings, injections } = this.#options
    const emergency: Difference = {
      what: 'emergency state',
      reason: 'missing_log',
      ours: String(writer.contractState.isEmergency()),
      ask: async (reads) => {
        const isEmergency = await reads.getEmergencyState(checkpoint.number, signal)
        return isEmergency === undefined ? undefined : String(isEmergency)
      },
    }
    if ((await this.#compareAll([emergency], checkpoint, signal)) === 'elsewhere') return false
    for (const audit of [injections, mappings]) {
      const difference = await audit?.compare(checkpoint, signal)
      if (difference !== undefined && !(await this.#assertSame(difference, checkpoint, signal))) return false
    }
    return true
  }

  /** @throws AuditMismatch */
  async #compareAll(
    getters: readonly Difference[],
    checkpoint: BlockHeader,
    signal: AbortSignal,
  ): Promise<TreeComparison> {
    let isCompared = false
    for (const getter of getters) {
      const theirs = await getter.ask(this.#options.client)
      if (theirs === undefined) continue
      if (theirs !== getter.ours && !(await this.#assertSame(getter, checkpoint, signal))) return 'elsewhere'
      isCompared = true
    }
    return isCompared ? 'same' : 'untold'
  }

  #depositCount(deposits: number, { number }: BlockHeader, signal: AbortSignal): Difference {
    const { report } = this.#options
    const ask = async (reads: ContractReads) => {
      const count = await reads.getContractDepositCount(number, signal)
      if (count !== undefined) report.contractDepositCount(count)
      return count
    }
    return { what: 'deposits', reason: 'missing_log', ours: deposits, ask }
  }

  #localExitRoot({ number }: BlockHeader, signal: AbortSignal): Difference {
    const { writer } = this.#options
    const ask = async (reads: ContractReads) => {
      const root = await reads.getContractLocalExitRoot(number, signal)
      return root && encodeHex(root)
    }
    const ours = encodeHex(writer.localExitRoot())
    return { what: 'local exit root', reason: 'exit_root_mismatch', ours, ask }
  }

  /**
   * A reorg, or a node of another branch, would look the same; an endpoint may lie, or tell another block's state than it
   * was asked for. What counts is the word of one that has just shown that it tells blocks apart, beside our own block.
   * @returns false when nothing is proven. @throws AuditMismatch
   */
  async #assertSame(
    { what, reason, ours, ask }: Difference,
    checkpoint: BlockHeader,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client } = this.#options
    const { number, hash } = checkpoint
    client.distrust()
    const theirs = await client.askWitness(this.#witness(checkpoint), ask, signal)
    if (theirs === undefined || theirs === ours) return false
    const block = await client.getHeader(number, signal)
    if (block === undefined || !equalHashes(block.hash, hash)) return false
    this.#isDiffering = true
    throw new AuditMismatch(reason, `${what} at block ${number}: the contract has ${theirs}, indexed ${ours}`)
  }

  #witness(block: BlockHeader): StateWitness {
    const { writer } = this.#options
    const last = writer.contractState.lastRootChange()
    if (last === undefined || last === 0) return { block, before: writer.origin()?.number, isChanged: false }
    return { block, before: asBlockNumber(last - 1), isChanged: true }
  }
}
