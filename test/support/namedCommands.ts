import type { BlockBatch, Hash } from '../../src/protocol/chainEvent.js'
import type { BlockNumber } from '../../src/protocol/units.js'
import { applyOrThrow } from '../../src/shard/applyOrThrow.js'
import type { CorrectedSender, RowSender } from '../../src/shard/senders.types.js'
import type { StartOvers } from '../../src/shard/shardCommand.types.js'
import type { ShardWriter } from '../../src/shard/shardWriter.types.js'

/** Each applies the command of its name, and throws when it is refused. */
export interface NamedCommands {
  applyBlocks(batch: BlockBatch): void
  revertTo(ancestor: BlockNumber): void
  startOver(startOvers: StartOvers): void
  noteCatchingUp(isCatchingUp: boolean): void
  setFinalized(block: BlockNumber): void
  resolveSenders(resolved: readonly RowSender[]): void
  correctSenders(corrected: readonly CorrectedSender[]): void
  addPolledGers(globalExitRoots: readonly Hash[], polledLeaves: number): void
}

/** A writer to which tests give their commands by name. */
export function withNamedCommands<Writer extends ShardWriter>(writer: Writer): Writer & NamedCommands {
  return {
    ...writer,
    applyBlocks: (batch) => applyOrThrow(writer, { type: 'applyBlocks', batch }),
    revertTo: (ancestor) => applyOrThrow(writer, { type: 'revertTo', ancestor }),
    startOver: (startOvers) => applyOrThrow(writer, { type: 'startOver', startOvers }),
    noteCatchingUp: (isCatchingUp) => applyOrThrow(writer, { type: 'noteCatchingUp', isCatchingUp }),
    setFinalized: (block) => applyOrThrow(writer, { type: 'setFinalized', block }),
    resolveSenders: (resolved) => applyOrThrow(writer, { type: 'resolveSenders', resolved }),
    correctSenders: (corrected) => applyOrThrow(writer, { type: 'correctSenders', corrected }),
    addPolledGers: (globalExitRoots, polledLeaves) =>
      applyOrThrow(writer, { type: 'addPolledGers', globalExitRoots, polledLeaves }),
  }
}
