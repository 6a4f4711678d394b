import type { HaltReason } from '../../board/haltReason.js'
import type { ChainClient, ContractReads, Judgement, StateCheck } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { RetryableError } from '../../errors/chainErrors.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { Backoff } from '../backoff.js'
import type { SyncReport } from '../syncReport.js'

/** How often a comparison is repeated when its contradiction is refuted each time; then the contradiction stays open. */
const MOST_LOOKS = 5
/** So often in a row, a contradiction from another branch makes the loop look at the head first. After that it stays open. */
const MOST_MOVES = 5
/** What stays open is compared again after this time, then ever more rarely. */
const ASK_AGAIN_MS = 1_000
const LONGEST_WAIT_MS = 60_000

type Verdict = Exclude<Judgement<unknown>['type'], 'proven'>

/** A proven contradiction: the contract has another value than the store. */
export class AuditMismatch extends ChainDataError {}

/** One value that a contract has and the store has as well. They may differ. */
export interface ComparedValue {
  readonly what: string
  readonly reason: HaltReason
  /** The stored value; undefined when it is no longer stored. */
  readonly ours: () => number | string | undefined
  /** The contract's value. @param reads asks any endpoint, or a certain one. */
  readonly ask: (
    reads: ContractReads,
    block: BlockNumber,
    signal: AbortSignal,
  ) => Promise<number | string | undefined>
}

export interface ContradictionsOptions {
  readonly client: ContractReads & Pick<ChainClient, 'getHeader' | 'distrust' | 'checkContradiction'>
  readonly writer: Pick<ShardWriter, 'contractState' | 'origin'>
  readonly clock: Pick<Clock, 'now' | 'random'>
  readonly report: Pick<SyncReport, 'contractsDisputed'>
}

/**
 * What follows when an endpoint contradicts what is stored. If the contradiction is proven, the network halts (`AuditMismatch`). If
 * another endpoint refutes it, the first one is no longer asked for state. Otherwise it stays open: it may be true, so that
 * nothing is ready until it is settled.
 */
export class Contradictions {
  readonly #options: ContradictionsOptions
  readonly #backoff: Backoff
  #open: { readonly difference: ComparedValue; readonly dueMs: number } | undefined
  #isDiffering = false
  /** How often, since everything agreed, a contradiction came from another branch. */
  #moves = 0

  constructor(options: ContradictionsOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.clock, { baseMs: ASK_AGAIN_MS, capMs: LONGEST_WAIT_MS })
  }

  /** True while a contradiction is proven or can't be settled. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Something differed since the last time that everything agreed. */
  get isDiffering(): boolean {
    return this.#isDiffering
  }

  /** Everything was compared, and agrees. */
  agreed(): void {
    this.#isDiffering = false
    this.#moves = 0
    this.#backoff.reset()
  }

  /**
   * Compares, and again as long as the difference is refuted.
   * @param look compares, and returns a difference.
   * @returns true when nothing differs, false when a difference stays open.
   * @throws AuditMismatch when one is proven; RetryableError when the head must be looked at first.
   */
  async settle(
    look: () => Promise<ComparedValue | undefined>,
    checkpoint: BlockHeader,
    signal: AbortSignal,
  ): Promise<boolean> {
    for (let looks = 1; ; looks++) {
      const difference = await look()
      if (difference === undefined) return true
      const verdict = await this.#judge(difference, checkpoint, signal)
      if (verdict === 'refuted' && looks < MOST_LOOKS) continue
      if (verdict === 'otherBlock') this.#lookAtChainFirst(checkpoint)
      this.#leaveOpen(difference)
      return false
    }
  }

  /**
   * Compares again what is open, when that is due. That an endpoint no longer answers settles nothing.
   * @returns true when nothing is open any more. @throws AuditMismatch when it is proven.
   */
  async lookAgain(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    if (this.#open === undefined) return true
    const { difference, dueMs } = this.#open
    const { client, clock } = this.#options
    if (clock.now() < dueMs) return false
    const ask = () => difference.ask(client, checkpoint.number, signal)
    if (difference.ours() !== undefined) {
      if ((await ask()) === undefined) {
        this.#leaveOpen(difference)
        return false
      }
      const look = async () => {
        const theirs = await ask()
        return theirs === undefined || theirs === difference.ours() ? undefined : difference
      }
      if (!(await this.settle(look, checkpoint, signal))) return false
    }
    this.#open = undefined
    return true
  }

  /**
   * Judges a difference. A reorg or a node on another branch would look the same, and an endpoint may answer wrongly, or with the
   * state of another block. So only an endpoint counts that has the checkpoint and answers for the block asked for.
   * @throws AuditMismatch when the difference is proven.
   */
  async #judge(difference: ComparedValue, checkpoint: BlockHeader, signal: AbortSignal): Promise<Verdict> {
    try {
      const { client } = this.#options
      const { number, hash } = checkpoint
      const { what, reason, ask } = difference
      const ours = difference.ours()
      client.distrust()
      const judgement = await client.checkContradiction(
        this.#stateCheck(checkpoint),
        ours,
        (reads) => ask(reads, number, signal),
        signal,
      )
      if (judgement.type !== 'proven') return judgement.type
      const block = await client.getHeader(number, signal)
      if (block === undefined) return 'open'
      if (!equalBytes(block.hash, hash)) return 'otherBlock'
      throw new AuditMismatch(
        reason,
        `${what} at block ${number}: the contract has ${judgement.answer}, indexed ${ours}`,
      )
    } catch (error) {
      // A proven difference stays as well until a comparison agrees: silence settles nothing.
      if (error instanceof AuditMismatch) this.#keep(difference, 0)
      else if (!signal.aborted) this.#leaveOpen(difference)
      throw error
    }
  }

  /**
   * Makes the loop look at the head before comparing again: if there was a reorg, it takes back the wrong blocks, and nothing
   * need be held up. Does nothing when a difference is open already, or when this came too often to be a reorg.
   * @throws RetryableError
   */
  #lookAtChainFirst({ number }: BlockHeader): void {
    if (this.isOpen || this.#moves++ >= MOST_MOVES) return
    this.#isDiffering = true
    throw new RetryableError(
      `contracts were compared at block ${number}, but an endpoint has another block there`,
    )
  }

  #leaveOpen(difference: ComparedValue): void {
    this.#keep(difference, this.#backoff.nextMs())
    this.#options.report.contractsDisputed(difference.what, this.#backoff.failures)
  }

  #keep(difference: ComparedValue, waitMs: number): void {
    this.#isDiffering = true
    this.#open = { difference, dueMs: this.#options.clock.now() + waitMs }
  }

  #stateCheck(block: BlockHeader): StateCheck {
    const { writer } = this.#options
    const last = writer.contractState.lastRootChange()
    if (last === undefined || last === 0) return { block, before: writer.origin()?.number, isChanged: false }
    return { block, before: asBlockNumber(last - 1), isChanged: true }
  }
}
