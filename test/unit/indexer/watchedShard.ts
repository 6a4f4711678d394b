import { after } from 'node:test'
import { createStatusBoard, type StatusBoardHandle } from '../../../src/board/statusBoard.js'
import { plainBlocks } from '../../../src/events/rowsOfLogs.js'
import type { BlockBatch, ChainEvent } from '../../../src/protocol/chainEvent.js'
import {
  readCatchingUp,
  readClaimsCompared,
  readFinalized,
} from '../../../src/shard/position/chainPosition.js'
import type { CommandOutcome, ShardCommand, StartOvers } from '../../../src/shard/shardCommand.types.js'
import type { ShardWriter } from '../../../src/shard/shardWriter.types.js'
import { readDeposits } from '../../support/shardContents.js'
import { tempFolder } from '../../support/tempFolder.js'
import { openTestShard } from '../../support/testShard.js'

/** A shard of its own, which keeps the commands that it was given. */
export interface WatchedShard extends ShardWriter {
  apply(command: ShardCommand): CommandOutcome
  /** Every batch that was applied, reverted ones too. */
  readonly batches: BlockBatch[]
  readonly reverts: number[]
  readonly startedOver: StartOvers[]
  /** Thrown by the next commands that apply blocks, once each. */
  readonly failures: Error[]
  readonly finalized: number | undefined
  readonly isCatchingUp: boolean
  /** Deposits whose claims were compared, by source network. */
  readonly claimsCompared: ReadonlyMap<number, number>
  /** All events in force, in order. */
  events(): ChainEvent[]
  /** Of each deposit; null while it is not known. */
  senders(): ({ readonly caller: string; readonly isProvisional: boolean } | null)[]
}

/** @param board which shows what is stored. */
export function openWatchedShard(
  networkId: number,
  board: StatusBoardHandle = createStatusBoard([networkId]),
): WatchedShard {
  const { writer, read, close } = openTestShard(tempFolder({ after }), networkId, board)
  after(close)
  const batches: BlockBatch[] = []
  const reverts: number[] = []
  const startedOver: StartOvers[] = []
  const failures: Error[] = []
  /** Those of `batches` that are in force. */
  let kept: { readonly number: number; readonly events: readonly ChainEvent[] }[] = []
  const note = (command: ShardCommand): void => {
    if (command.type === 'applyBlocks') {
      batches.push(command.batch)
      const blocks = plainBlocks(command.batch.blocks)
      kept.push(...blocks.map(({ header, events }) => ({ number: header.number, events })))
    } else if (command.type === 'revertTo') {
      reverts.push(command.ancestor)
      kept = kept.filter(({ number }) => number <= command.ancestor)
    } else if (command.type === 'startOver') {
      startedOver.push(command.startOvers)
      kept = []
    }
  }
  return {
    ...writer,
    batches,
    reverts,
    startedOver,
    failures,
    apply(command) {
      const failure = command.type === 'applyBlocks' ? failures.shift() : undefined
      if (failure !== undefined) throw failure
      const outcome = writer.apply(command)
      if (outcome.type === 'applied') note(command)
      return outcome
    },
    get finalized() {
      return read(readFinalized)
    },
    get isCatchingUp() {
      return read(readCatchingUp)
    },
    get claimsCompared() {
      return read(readClaimsCompared) ?? new Map()
    },
    events: () => kept.flatMap(({ events }) => events),
    senders() {
      const noted = writer.notedSenders({ limit: Number.POSITIVE_INFINITY })
      const again = new Set(
        noted.filter(({ kind }) => kind === 'deposit').map(({ ordinal }) => Number(ordinal)),
      )
      return read(readDeposits).map(({ caller, depositCount }) =>
        caller === null ? null : { caller, isProvisional: again.has(depositCount) },
      )
    },
  }
}
