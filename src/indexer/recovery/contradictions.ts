import type { HaltReason } from '../../board/haltReason.js'
import type { ChainClient, ContractReads, Judgement, StateCheck } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { RetryableError } from '../../errors/chainErrors.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { Backoff } from '../backoff.js'
import { equalHashes } from '../localChain.js'
import type { SyncReport } from '../syncReport.js'

/** Looks in a row at what somebody takes back each time: each endpoint but one may be dismissed, one may waver. */
const MOST_LOOKS = 5
/** So often in a row, some seconds in all, the chain is looked at again first; then another branch is a contradiction like any. */
const MOST_MOVES = 5
/** What nobody can settle is asked again after so long, then ever more rarely. */
const ASK_AGAIN_MS = 1_000
const LONGEST_WAIT_MS = 60_000

type Verdict = Exclude<Judgement<unknown>['type'], 'proven'>

/** The contracts say otherwise than we do. */
export class AuditMismatch extends ChainDataError {}

/** One thing that a contract says and we have as well. */
export interface Difference {
  readonly what: string
  readonly reason: HaltReason
  /** As it is stored now; undefined when it is not any more. */
  readonly ours: () => number | string | undefined
  /** @param reads any endpoint's word, or a witness's. */
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
 * What follows when an endpoint tells otherwise than we have it. Proven, it is a mismatch; denied by another endpoint, whoever
 * told it is not asked any more; else it stays open: it may be true, so that nothing may be relied on until it is settled.
 */
export class Contradictions {
  readonly #options: ContradictionsOptions
  readonly #backoff: Backoff
  #open: { readonly difference: Difference; readonly dueMs: number } | undefined
  #isDiffering = false
  /** Looks since everything agreed that met another branch. */
  #moves = 0

  constructor(options: ContradictionsOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.clock, { baseMs: ASK_AGAIN_MS, capMs: LONGEST_WAIT_MS })
  }

  /** True while an endpoint says otherwise than we do, and either it is right, or nobody can tell. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Something differed at the last look at everything, or since. */
  get isDiffering(): boolean {
    return this.#isDiffering
  }

  /** Everything was looked at, and agrees. */
  agreed(): void {
    this.#isDiffering = false
    this.#moves = 0
    this.#backoff.reset()
  }

  /**
   * Looks, and again for as long as what differs is taken back.
   * @param look finds a difference.
   * @returns true when none is left, false when one stays open.
   * @throws AuditMismatch when one is proven; RetryableError when the chain must be looked at first.
   */
  async settle(
    look: () => Promise<Difference | undefined>,
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
   * Asks again, when it is time, for what is open. An endpoint that falls silent has taken nothing back.
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
   * A reorg, or a node of another branch, would look the same; an endpoint may lie, or tell another block's state than it
   * was asked for. What counts is the word of one that has just shown that it tells blocks apart, beside our own block.
   * @throws AuditMismatch
   */
  async #judge(difference: Difference, checkpoint: BlockHeader, signal: AbortSignal): Promise<Verdict> {
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
      if (!equalHashes(block.hash, hash)) return 'otherBlock'
      const told = `the contract has ${judgement.answer}, indexed ${ours}`
      throw new AuditMismatch(reason, `${what} at block ${number}: ${told}`)
    } catch (error) {
      // Whoever falls silent after it was proven has taken nothing back, either.
      if (error instanceof AuditMismatch) this.#keep(difference, 0)
      else if (!signal.aborted) this.#leaveOpen(difference)
      throw error
    }
  }

  /**
   * The next look at the head shows the reorg, and takes back what it took: nothing is held up for it. Unless something is
   * held up already, or that was no reorg.
   * @throws RetryableError
   */
  #lookAtChainFirst({ number }: BlockHeader): void {
    if (this.isOpen || this.#moves++ >= MOST_MOVES) return
    this.#isDiffering = true
    throw new RetryableError(
      `contracts were compared at block ${number}, and an endpoint has another one there`,
    )
  }

  #leaveOpen(difference: Difference): void {
    this.#keep(difference, this.#backoff.nextMs())
    this.#options.report.contractsDisputed(difference.what, this.#backoff.failures)
  }

  #keep(difference: Difference, waitMs: number): void {
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
