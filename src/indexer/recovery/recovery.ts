import type { ChainClient } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { RetryableError } from '../../errors/chainErrors.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'
import { throwRefused } from '../../shard/applyOrThrow.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { partOfWait } from '../backoff.js'
import type { SyncReport } from '../syncReport.js'
import { AuditMismatch } from './comparedValue.js'
import { haltReasonOf } from './haltReasonOf.js'
import type { RecoveryDriver } from './recoveryDriver.js'
import type { FailureObservation, FailureStep } from './recoveryMachine.types.js'
import type { StartOver } from './startOver.js'

type Failure = Extract<FailureObservation, { type: 'endpointFailed' | 'failed' | 'contradicted' }>

export interface RecoveryOptions {
  readonly client: Pick<ChainClient, 'isDown'>
  readonly writer: Pick<ShardWriter, 'checkpoint' | 'headerAtOrBelow' | 'startOvers'>
  readonly proposer: Proposer
  readonly clock: Clock
  readonly report: Pick<SyncReport, 'rpcDown' | 'troubled' | 'rewound' | 'contradicted'>
  readonly driver: RecoveryDriver
  readonly startOver: StartOver
  /** How many blocks undo can reach back at most. */
  readonly deepestRewind: number
  /** How many blocks one read may cover. */
  readonly windowBlocks: number
}

/** Tells the recovery machine of failures, and takes the steps that follow. */
export class Recovery {
  readonly #options: RecoveryOptions

  constructor(options: RecoveryOptions) {
    this.#options = options
  }

  /** Reports the failure, prepares the next try, and waits until it is due. Never throws. */
  async failed(error: unknown, signal: AbortSignal): Promise<void> {
    const { client, clock, report, driver } = this.#options
    try {
      let step = await driver.observe(this.#failureOf(error))
      while (step.type !== 'wait') step = await this.#take(step, signal)
      report.rpcDown(client.isDown())
      const waitMs = partOfWait(step.mostMs, clock.random())
      report.troubled(error, step.failures, waitMs)
      await clock.sleep(waitMs, signal)
    } catch (failure) {
      if (!signal.aborted) await this.#unexpected(failure, signal)
    }
  }

  /** A failure while recovering is reported like any other, so that nothing is swallowed. */
  async #unexpected(failure: unknown, signal: AbortSignal): Promise<void> {
    const { clock, driver } = this.#options
    const reason = failure instanceof RetryableError ? undefined : haltReasonOf(failure)
    const { ms } = await driver.observe({ type: 'recoveryFailed', reason, error: failure })
    await clock.sleep(ms, signal).catch(() => undefined)
  }

  #failureOf(error: unknown): Failure {
    const { writer, clock, report, windowBlocks } = this.#options
    if (error instanceof RetryableError) return { type: 'endpointFailed' }
    if (!(error instanceof ChainDataError)) return { type: 'failed', reason: haltReasonOf(error), error }
    report.contradicted(error.reason, error instanceof AuditMismatch)
    const checkpoint = writer.checkpoint()?.number
    return {
      type: 'contradicted',
      reason: error.reason,
      error,
      isDenial: error instanceof AuditMismatch,
      checkpoint,
      to: (checkpoint ?? -1) + 2 * windowBlocks,
      atMs: clock.now(),
      unixMs: clock.unixMs(),
      startOvers: writer.startOvers(),
    }
  }

  async #take(step: Exclude<FailureStep, { type: 'wait' }>, signal: AbortSignal): Promise<FailureStep> {
    const { clock, driver, startOver } = this.#options
    if (step.type === 'takeBack') {
      const from = await this.#takeBack(Math.min(step.blocks, this.#options.deepestRewind), step.at)
      return await driver.observe({ type: 'tookBack', from })
    }
    try {
      return await driver.observe(await startOver.take(step, signal))
    } catch (failure) {
      const next = await driver.observe({ type: 'startOverFailed', atMs: clock.now() })
      if (!(failure instanceof RetryableError)) throw failure
      return next
    }
  }

  /** Takes back the blocks above `at - blocks`, or as many as undo allows. @returns the first block to read again. */
  async #takeBack(blocks: number, at: number): Promise<BlockNumber> {
    const { writer, proposer, report } = this.#options
    const checkpoint = writer.checkpoint()
    if (checkpoint === undefined) return asBlockNumber(0)
    for (let distance = blocks; distance >= 1; distance = Math.floor(distance / 2)) {
      const ancestor = writer.headerAtOrBelow(asBlockNumber(Math.max(0, at - distance)))
      if (ancestor === undefined || ancestor.number >= checkpoint.number) continue
      // Claims are taken back with their blocks, but the chain still has them: so nothing may be ready meanwhile.
      await proposeOrThrow(proposer, { type: 'noteCatchingUp', isCatchingUp: true })
      const outcome = await proposer.propose({ type: 'revertTo', ancestor: ancestor.number })
      // Undo does not reach so far. Try half of it.
      if (outcome.type === 'refused' && outcome.reason === 'reorg_too_deep') continue
      throwRefused(outcome)
      report.rewound(checkpoint, ancestor)
      return asBlockNumber(ancestor.number + 1)
    }
    return asBlockNumber(checkpoint.number + 1)
  }
}
