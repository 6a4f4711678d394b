import type { ChainClient, ContractReads, StateCheck } from '../../chain/chainClient.types.js'
import { RetryableError } from '../../errors/chainErrors.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'

import { AuditMismatch, type ComparedValue } from './comparedValue.js'
import type { RecoveryDriver } from './recoveryDriver.js'
import type { Verdict } from './recoveryMachine.types.js'

export interface ContradictionsOptions {
  readonly client: ContractReads & Pick<ChainClient, 'getHeader' | 'distrust' | 'checkContradiction'>
  readonly writer: Pick<ShardWriter, 'contractState' | 'origin'>
  readonly clock: Pick<Clock, 'now' | 'random'>
  readonly driver: RecoveryDriver
}

/**
 * Judges what endpoints say against the store, and does what follows: if it is proven, the network halts (`AuditMismatch`). If
 * another endpoint refutes it, the first one is no longer asked for state. Otherwise it stays open: it may be true, so that
 * nothing is ready until it is decided.
 */
export class Contradictions {
  readonly #options: ContradictionsOptions

  constructor(options: ContradictionsOptions) {
    this.#options = options
  }

  /**
   * Compares, and again as long as the difference is refuted.
   * @param look compares, and returns a difference.
   * @returns true when nothing differs, false when a difference stays open.
   * @throws AuditMismatch when one is proven; RetryableError when the head must be looked at first.
   */
  async decide(
    look: () => Promise<ComparedValue | undefined>,
    checkpoint: BlockHeader,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { driver } = this.#options
    const { number } = checkpoint
    for (let looks = 1; ; looks++) {
      const difference = await look()
      if (difference === undefined) return true
      const verdict = await this.#judge(difference, checkpoint, signal)
      const step = await driver.observe({ type: 'judged', verdict, looks })
      switch (step.type) {
        case 'compareAgain':
          continue
        case 'leaveOpen':
          await this.#leaveOpen(difference)
          return false
        case 'lookAtChain':
          throw new RetryableError(
            `contracts were compared at block ${number}, but an endpoint has another block there`,
          )
      }
    }
  }

  /**
   * Compares again what is open, when that is due. That an endpoint no longer answers decides nothing.
   * @returns true when nothing is open any more. @throws AuditMismatch when it is proven.
   */
  async lookAgain(checkpoint: BlockHeader, signal: AbortSignal): Promise<boolean> {
    const { client, clock, driver } = this.#options
    const { contracts } = driver.state
    if (contracts.kind !== 'disputed') return true
    const { difference, dueMs } = contracts
    if (clock.now() < dueMs) return false
    const ask = () => difference.ask(client, checkpoint.number, signal)
    if (difference.ours() !== undefined) {
      if ((await ask()) === undefined) {
        await this.#leaveOpen(difference)
        return false
      }
      const look = async () => {
        const theirs = await ask()
        return theirs === undefined || theirs === difference.ours() ? undefined : difference
      }
      if (!(await this.decide(look, checkpoint, signal))) return false
    }
    await driver.observe({ type: 'withdrawn' })
    return true
  }

  /**
   * Judges a difference. A reorg or a node on another branch would look the same, and an endpoint may answer wrongly, or with the
   * state of another block. So only an endpoint counts that has the checkpoint and answers for the block asked for.
   * @throws AuditMismatch when the difference is proven.
   */
  async #judge(difference: ComparedValue, checkpoint: BlockHeader, signal: AbortSignal): Promise<Verdict> {
    const { client, clock, driver } = this.#options
    try {
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
      if (error instanceof AuditMismatch)
        await driver.observe({ type: 'proven', difference, atMs: clock.now() })
      else if (!signal.aborted) await this.#leaveOpen(difference)
      throw error
    }
  }

  async #leaveOpen(difference: ComparedValue): Promise<void> {
    const { clock, driver } = this.#options
    const atMs = clock.now()
    await driver.observe({ type: 'undecided', difference, atMs, random: clock.random() })
  }

  #stateCheck(block: BlockHeader): StateCheck {
    const { writer } = this.#options
    const last = writer.contractState.lastRootChange()
    if (last === undefined || last === 0) return { block, before: writer.origin()?.number, isChanged: false }
    return { block, before: asBlockNumber(last - 1), isChanged: true }
  }
}
