import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asBlockNumber } from '../../protocol/units.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { SyncReport } from '../syncReport.js'
import type { AuditMismatch } from './comparedValue.js'
import type { FailureObservation, FailureStep, StoredState } from './recoveryMachine.types.js'

type StartOverStep = Extract<FailureStep, { type: 'compareFinal' | 'compareOldest' | 'emptyShard' }>

export interface StartOverOptions {
  readonly writer: Pick<ShardWriter, 'checkpoint' | 'headerAtOrBelow' | 'oldestAncestor'>
  readonly proposer: Proposer
  readonly clock: Clock
  readonly report: Pick<SyncReport, 'rewound' | 'startedOver'>
  /** Compares everything that is stored with the contracts, at the checkpoint. */
  readonly compare: () => Promise<StoredState>
  readonly finalizedBlock: () => Promise<number>
}

/**
 * The last resort when a log is missing in history that undo no longer reaches: the shard is emptied, and read again from its first
 * block. It is done only after the contract contradicted what is stored at a final block, and again at the oldest block that undo
 * reaches: then taking blocks back can't mend it.
 *
 * The provider may still leave the log out. So ten minutes lie between two starts over at least, then twenty, up to an hour. The
 * time runs from when the outcome of the last one was known, and across restarts.
 */
export class StartOver {
  readonly #options: StartOverOptions

  constructor(options: StartOverOptions) {
    this.#options = options
  }

  /** Blocks may have been taken back afterwards. */
  async take(step: StartOverStep, signal: AbortSignal): Promise<FailureObservation> {
    const { clock, writer, compare, finalizedBlock } = this.#options
    switch (step.type) {
      case 'compareFinal': {
        const final = writer.headerAtOrBelow(asBlockNumber(await finalizedBlock()))
        const found = (await this.#goBack(final)) ? await compare() : 'outOfReach'
        return { type: 'comparedFinal', found, atMs: clock.now() }
      }
      case 'compareOldest': {
        await this.#goBack(writer.oldestAncestor())
        const found = await compare()
        return { type: 'comparedOldest', found, atMs: clock.now(), unixMs: clock.unixMs() }
      }
      case 'emptyShard':
        signal.throwIfAborted()
        await this.#empty(step.mismatch, step.count)
        return { type: 'startedOver', atMs: clock.now() }
    }
  }

  async #empty(mismatch: AuditMismatch, count: number): Promise<void> {
    const { writer, proposer, report } = this.#options
    const checkpoint = writer.checkpoint()!
    await proposeOrThrow(proposer, { type: 'startOver', startOvers: { count, notBeforeMs: undefined } })
    report.startedOver(mismatch, checkpoint, count)
  }

  /** @returns false when undo does not reach the block. */
  async #goBack(ancestor: BlockHeader | undefined): Promise<boolean> {
    const { writer, proposer, report } = this.#options
    const checkpoint = writer.checkpoint()
    if (ancestor === undefined || checkpoint === undefined) return false
    if (ancestor.number >= checkpoint.number) return true
    if (ancestor.number < (writer.oldestAncestor()?.number ?? Number.POSITIVE_INFINITY)) return false
    // Claims are taken back that the chain still has, and the halt does not outlive a restart: nothing may be ready meanwhile.
    await proposeOrThrow(proposer, { type: 'noteCatchingUp', isCatchingUp: true })
    await proposeOrThrow(proposer, { type: 'revertTo', ancestor: ancestor.number })
    report.rewound(checkpoint, ancestor)
    return true
  }
}
