import type { ChainClient, ContractReads } from '../../chain/chainClient.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import type { ContractState } from '../../shard/contractState.types.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { AuditMismatch, type ComparedValue, Contradictions } from '../recovery/contradictions.js'
import type { StoredState } from '../recovery/startOver.js'
import type { SyncReport } from '../syncReport.js'
import type { ClaimAudit } from './claimAudit.js'
import type { InjectionAudit } from './injectionAudit.js'
import type { TokenMappingAudit } from './tokenMappingAudit.js'

const AUDIT_EVERY_MS = 120_000
/** After events, or BLOCKS_PER_AUDIT blocks, the next comparison comes sooner: without blooms nothing else may show a missing log. */
const AUDIT_SOON_MS = 40_000
const BLOCKS_PER_AUDIT = 20
/** One comparison in so many at the tip also compares what hardly ever changes. */
const AUDITS_PER_WHOLE = 5
/** Words of claims to compare per new block: then an idle tip costs at most three calls per block in all. */
const WORDS_PER_BLOCK = 0.1
/** In backfill, one window in so many is compared with the contract. */
const WINDOWS_PER_AUDIT = 16

/** `unanswered`: no endpoint answers. `open`: an endpoint contradicts what is stored, and no other one can settle it. */
type TreeComparison = 'same' | 'unanswered' | 'open'

export interface AuditorOptions {
  readonly networkId: number
  readonly client: ContractReads & Pick<ChainClient, 'getHeader' | 'distrust' | 'checkContradiction'>
  readonly writer: Pick<ShardWriter, 'counts' | 'localExitRoot' | 'contractState' | 'origin'>
  readonly claims: ClaimAudit
  readonly mappings: TokenMappingAudit
  /** Absent on the L1, where nothing is injected, and where injections are found by polling. */
  readonly injections?: InjectionAudit | undefined
  readonly clock: Pick<Clock, 'now' | 'random'>
  readonly report: SyncReport
}

/**
 * Compares what is stored with the contracts. It finds what blooms, deposit counts and roots let through: for example a missing
 * log after which nothing else happened. It takes few calls, and does nothing where no endpoint keeps the state.
 */
export class Auditor {
  readonly #options: AuditorOptions
  #lastAuditMs = Number.NEGATIVE_INFINITY
  #lastAuditBlock: number | undefined
  #audits = 0
  #hadEvents = false
  #windows = 0
  readonly #contradictions: Contradictions

  constructor(options: AuditorOptions) {
    this.#options = options
    this.#contradictions = new Contradictions(options)
  }

  /**
   * To be called after each commit in backfill: compares one window in so many.
   * @throws AuditMismatch when a contract contradicts what is stored.
   */
  async afterWindow(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    this.#windows++
    if (this.#windows % WINDOWS_PER_AUDIT === 0) await this.#compareTrees(checkpoint, signal)
  }

  /**
   * To be called at the end of a backfill: compares everything, while history can still be taken back.
   * @throws AuditMismatch as above.
   */
  async afterBackfill(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    const state = await this.#compareEverything(checkpoint, signal)
    if (!this.isDisputed()) this.#options.report.contractsCompared(state === 'same')
  }

  /** Compares everything at the checkpoint, which the caller has moved back: a difference is then in what is stored up to it. */
  async compareStored(checkpoint: BlockHeader, signal: AbortSignal): Promise<StoredState> {
    try {
      const state = await this.#compareEverything(checkpoint, signal)
      return state === 'open' ? 'unproven' : state
    } catch (error) {
      if (error instanceof AuditMismatch) return error
      throw error
    }
  }

  /**
   * To be called at the tip when there is nothing else to do: compares what is due. No block may be stored or taken back
   * meanwhile.
   * @returns true when the comparison was due, and everything agreed.
   * @throws AuditMismatch as above.
   */
  async atTip(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { clock, claims, report } = this.#options
    const contradictions = this.#contradictions
    if (!(await contradictions.lookAgain(checkpoint, signal))) return false
    const { isDiffering } = contradictions
    const isDue = isDiffering || clock.now() - this.#lastAuditMs >= this.#intervalMs(checkpoint)
    if (!isDue && !claims.hasFresh()) return false
    let trees: TreeComparison = 'unanswered'
    if (isDue) {
      this.#lastAuditMs = clock.now()
      this.#hadEvents = false
      trees = await this.#compareTrees(checkpoint, signal)
      if (trees === 'open') return false
      const isWhole = isDiffering || this.#audits++ % AUDITS_PER_WHOLE === 0
      if (isWhole && !(await this.#compareOtherState(checkpoint, signal))) return false
    }
    const blocks = this.#blocksSince(checkpoint)
    this.#lastAuditBlock = checkpoint.number
    let isAnswered = trees !== 'unanswered'
    const look = async (): Promise<ComparedValue | undefined> => {
      const step = await claims.compareSome(checkpoint, blocks * WORDS_PER_BLOCK, signal)
      isAnswered ||= step.isCompared
      return step.difference
    }
    if (!(await contradictions.settle(look, checkpoint, signal)) || !isDue) return false
    report.contractsCompared(isAnswered)
    if (!isAnswered) return false
    contradictions.agreed()
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

  /** True when nothing is disputed, and every claim was compared since the start, unless no endpoint can answer. */
  hasComparedAll(): boolean {
    return !this.isDisputed() && !this.#options.claims.hasFresh()
  }

  /** @see Contradictions.isOpen */
  isDisputed(): boolean {
    return this.#contradictions.isOpen
  }

  /** @throws AuditMismatch */
  async #compareEverything(checkpoint: BlockHeader, signal: AbortSignal): Promise<TreeComparison> {
    const trees = await this.#compareTrees(checkpoint, signal)
    if (trees === 'open' || !(await this.#compareOtherState(checkpoint, signal))) return 'open'
    let isAnswered = trees === 'same'
    const look = async (): Promise<ComparedValue | undefined> => {
      const { difference, isCompared } = await this.#options.claims.compareAll(checkpoint, signal)
      isAnswered ||= isCompared
      return difference
    }
    if (!(await this.#contradictions.settle(look, checkpoint, signal))) return 'open'
    return isAnswered ? 'same' : 'unanswered'
  }

  /** @throws AuditMismatch */
  async #compareTrees(checkpoint: BlockHeader, signal: AbortSignal): Promise<TreeComparison> {
    const { networkId, client, writer, report } = this.#options
    const count = this.#depositCount()
    // On the L1 each L1 info leaf has proven its exit root already. On an L2 only the contract has the root.
    if (networkId === L1_NETWORK_ID) {
      const leaves: ComparedValue = {
        what: 'L1 info leaves',
        reason: 'missing_log',
        ours: () => writer.counts().l1InfoLeaves,
        ask: (reads, ...at) => reads.getContractL1InfoLeafCount(...at),
      }
      return this.#compareGetters([count, leaves], checkpoint, signal)
    }
    const root = this.#localExitRoot()
    const theirs = await root.ask(client, checkpoint.number, signal)
    if (theirs !== root.ours()) return this.#compareGetters([count, root], checkpoint, signal)
    // The root covers all deposits: no need to ask for their count.
    report.contractDepositCount(writer.counts().deposits)
    return 'same'
  }

  /**
   * Compares what else readiness depends on: emergency state, injections, token mappings.
   * @returns false when something stays open. @throws AuditMismatch
   */
  async #compareOtherState(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { writer, mappings, injections } = this.#options
    const emergency = emergencyState(writer.contractState)
    if ((await this.#compareGetters([emergency], checkpoint, signal)) === 'open') return false
    for (const audit of [injections, mappings]) {
      if (audit === undefined) continue
      const look = () => audit.compare(checkpoint, signal)
      if (!(await this.#contradictions.settle(look, checkpoint, signal))) return false
    }
    return true
  }

  /** @throws AuditMismatch */
  async #compareGetters(
    getters: readonly ComparedValue[],
    checkpoint: BlockHeader,
    signal: AbortSignal,
  ): Promise<TreeComparison> {
    let isAnswered = false
    for (const getter of getters) {
      const look = async (): Promise<ComparedValue | undefined> => {
        const theirs = await getter.ask(this.#options.client, checkpoint.number, signal)
        isAnswered ||= theirs !== undefined
        return theirs === undefined || theirs === getter.ours() ? undefined : getter
      }
      if (!(await this.#contradictions.settle(look, checkpoint, signal))) return 'open'
    }
    return isAnswered ? 'same' : 'unanswered'
  }

  #depositCount(): ComparedValue {
    const { report, writer } = this.#options
    return {
      what: 'deposits',
      reason: 'missing_log',
      ours: () => writer.counts().deposits,
      ask: async (reads, ...at) => {
        const count = await reads.getContractDepositCount(...at)
        if (count !== undefined) report.contractDepositCount(count)
        return count
      },
    }
  }

  #localExitRoot(): ComparedValue {
    const { writer } = this.#options
    return {
      what: 'local exit root',
      reason: 'exit_root_mismatch',
      ours: () => encodeHex(writer.localExitRoot()),
      ask: async (reads, ...at) => {
        const root = await reads.getContractLocalExitRoot(...at)
        return root && encodeHex(root)
      },
    }
  }
}

/** Compares whether the bridge is in emergency state. */
export function emergencyState(contractState: Pick<ContractState, 'isEmergency'>): ComparedValue {
  return {
    what: 'emergency state',
    reason: 'missing_log',
    ours: () => String(contractState.isEmergency()),
    ask: async (reads, ...at) => {
      const isEmergency = await reads.getEmergencyState(...at)
      return isEmergency === undefined ? undefined : String(isEmergency)
    },
  }
}
