import type { ChainClient, ContractReads } from '../../chain/chainClient.types.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import type { ContractState } from '../../shard/contractState.types.js'
import type { ComparedClaims } from '../../shard/shardCommand.types.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { AuditMismatch, type ComparedValue } from '../recovery/comparedValue.js'
import { Contradictions } from '../recovery/contradictions.js'
import type { RecoveryDriver } from '../recovery/recoveryDriver.js'
import type { StoredState } from '../recovery/recoveryMachine.types.js'
import type { SyncReport } from '../syncReport.js'
import type { ClaimAudit } from './claimAudit.js'
import type { InjectionAudit } from './injectionAudit.js'
import type { TokenMappingAudit } from './tokenMappingAudit.js'

/** `unanswered`: no endpoint answers. `open`: an endpoint contradicts what is stored, and no other one can decide it. */
type TreeComparison = 'same' | 'unanswered' | 'open'

export interface AuditorOptions {
  readonly networkId: number
  readonly client: ContractReads & Pick<ChainClient, 'getHeader' | 'distrust' | 'checkContradiction'>
  readonly writer: Pick<ShardWriter, 'counts' | 'localExitRoot' | 'contractState' | 'origin' | 'startOvers'>
  readonly claims: ClaimAudit
  readonly mappings: TokenMappingAudit
  /** Absent on the L1, where nothing is injected, and where injections are found by polling. */
  readonly injections?: InjectionAudit | undefined
  readonly clock: Pick<Clock, 'now' | 'random' | 'unixMs'>
  readonly report: SyncReport
  readonly driver: RecoveryDriver
}

/**
 * Compares what is stored with the contracts. It finds what blooms, deposit counts and roots let through: for example a missing
 * log after which nothing else happened. It takes few calls, and does nothing where no endpoint keeps the state.
 */
export class Auditor {
  readonly #options: AuditorOptions
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
    const { type } = await this.#options.driver.observe({ type: 'storedWindow' })
    if (type === 'compareTrees') await this.#compareTrees(checkpoint, signal)
  }

  /**
   * To be called at the end of a backfill: compares everything, while history can still be taken back.
   * @throws AuditMismatch as above.
   */
  async afterBackfill(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    const state = await this.#compareEverything(checkpoint, signal)
    const { driver, report } = this.#options
    if (!driver.isDisputed) report.contractsCompared(state === 'same')
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
   * @throws AuditMismatch as above.
   */
  async atTip(checkpoint: BlockHeader, signal: AbortSignal): Promise<void> {
    const { clock, claims, report, driver, writer } = this.#options
    if (!(await this.#contradictions.lookAgain(checkpoint, signal))) return
    const { number: block } = checkpoint
    const hasFreshClaims = claims.hasFresh()
    let step = await driver.observe({ type: 'reachedHead', block, hasFreshClaims, atMs: clock.now() })
    const isDue = step.type === 'compareTrees'
    let isAnswered = false
    if (step.type === 'compareTrees') {
      const trees = await this.#compareTrees(checkpoint, signal)
      if (trees === 'open') return
      isAnswered = trees === 'same'
      step = await driver.observe({ type: 'treesAgreed', block })
    }
    if (step.type === 'compareOthers') {
      if (!(await this.#compareOtherState(checkpoint, signal))) return
      step = await driver.observe({ type: 'othersAgreed', block })
    }
    if (step.type !== 'compareClaims') return
    const { words } = step
    const look = async (): Promise<ComparedValue | undefined> => {
      const { difference, isCompared } = await claims.compareSome(checkpoint, words, signal)
      isAnswered ||= isCompared
      return difference
    }
    if (!(await this.#contradictions.decide(look, checkpoint, signal)) || !isDue) return
    report.contractsCompared(isAnswered)
    if (isAnswered)
      await driver.observe({ type: 'audited', unixMs: clock.unixMs(), startOvers: writer.startOvers() })
  }

  /** Which claims were compared since the start, unless no endpoint can answer. */
  comparedClaims(): { readonly compared: readonly ComparedClaims[]; readonly isWhole: boolean } {
    const { claims } = this.#options
    return { compared: claims.compared(), isWhole: !claims.hasFresh() }
  }

  /** See `ClaimAudit.comparedWords`. */
  comparedClaimWords(): number {
    return this.#options.claims.comparedWords()
  }

  /** True when there are deposits whose claims were never compared and that a look at the contract may compare now. */
  hasFreshDeposits(): boolean {
    return !this.#options.driver.isDisputed && this.#options.claims.hasFreshDeposits()
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
    if (!(await this.#contradictions.decide(look, checkpoint, signal))) return 'open'
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
      if (!(await this.#contradictions.decide(look, checkpoint, signal))) return false
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
      if (!(await this.#contradictions.decide(look, checkpoint, signal))) return 'open'
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
