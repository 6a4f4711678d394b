import type { BlockNumber, NetworkId } from '../../protocol/units.js'
import type { ReadView, ShardStoreWriter, WriteView } from '../../store/shardStore.types.js'
import {
  putCatchingUp,
  putClaimsCompared,
  raiseFinalized,
  readCatchingUp,
  readCheckpoint,
  readClaimsCompared,
  readFinalized,
} from '../position/chainPosition.js'
import type { SenderNotes } from '../senders.types.js'
import type { Applied, CommandOutcome, ShardCommand } from '../shardCommand.types.js'
import { applyBlocks } from './applyBlocks.js'
import { applyPolledGers, applySettledRoots } from './applyOutsideBlocks.js'
import { emptyShard, putStartOvers } from './emptyShard.js'
import { type PreparedBatch, prepareBatch } from './prepareBatch.js'
import { Refusal } from './refuse.js'
import { correctSenders, resolveSenders } from './resolveSenders.js'
import { revertTo } from './revertTo.js'
import { countSenderNotes } from './senderRows.js'
import { WriteContext } from './writeContext.js'
import type { WriterMemory } from './writerMemory.js'

/** A shard that is open for writing. */
export interface OpenShard {
  readonly store: ShardStoreWriter
  /** Saves work. Outcome and stored bytes do not depend on it. */
  readonly memory: WriterMemory
  /** The network's first block. */
  readonly startBlock: number
}

const APPLIED: Applied = { type: 'applied' }

/**
 * Applies one command in one transaction. Outcome and stored bytes follow from what is stored and from the command, and from nothing
 * else: no clock, no settings, no memory of earlier commands. A refused command changes nothing.
 * @param beforeCommit called inside the transaction when all is written, and not at all when nothing changes.
 * @throws InvariantError when the store contradicts itself; errors of LMDB and of the disk.
 */
export function applyCommand(
  shard: OpenShard,
  command: ShardCommand,
  beforeCommit: () => void,
): CommandOutcome {
  const { store, memory } = shard
  if (changesNothing(store, command)) return APPLIED
  try {
    // Before the transaction, so that it is open as short as possible.
    const prepared = command.type === 'applyBlocks' ? prepareBatch(command.batch, memory) : undefined
    memory.senderNotes = store.transact((view) => {
      const senderNotes = change(view, shard, command, prepared)
      beforeCommit()
      return senderNotes
    })
    return APPLIED
  } catch (error) {
    memory.dictionaries.forget()
    if (!(error instanceof Refusal)) throw error
    return { type: 'refused', reason: error.reason, message: error.message }
  }
}

/** Whether what the command says is stored already: then there is no commit, which would void all kept answers. */
function changesNothing(view: ReadView, command: ShardCommand): boolean {
  switch (command.type) {
    case 'noteCatchingUp':
      return command.isCatchingUp === readCatchingUp(view)
    case 'noteClaimsCompared':
      return comparedAfter(view, command) === undefined
    case 'setFinalized':
      return raisedFinality(view, command.block) === undefined
    default:
      return false
  }
}

/** All that is compared with this command; undefined when it says nothing new. */
function comparedAfter(
  view: ReadView,
  { compared, isWhole }: Extract<ShardCommand, { type: 'noteClaimsCompared' }>,
): ReadonlyMap<NetworkId, number> | undefined {
  const before = readClaimsCompared(view)
  if (before === undefined && !isWhole) return undefined
  const after = new Map(before)
  for (const { sourceNetwork, deposits } of compared)
    if (deposits > (after.get(sourceNetwork) ?? 0)) after.set(sourceNetwork, deposits)
  const isNew =
    before === undefined || [...after].some(([network, deposits]) => before.get(network) !== deposits)
  return isNew ? after : undefined
}

/** What `setFinalized` raises the newest final block to: the checkpoint at most. undefined when that is no higher than it is. */
function raisedFinality(view: ReadView, block: BlockNumber): BlockNumber | undefined {
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined) return undefined
  const raised = block < checkpoint.number ? block : checkpoint.number
  const before = readFinalized(view)
  return before === undefined || raised > before ? raised : undefined
}

/** @returns the numbers of noted rows afterwards. @throws Refusal */
function change(
  view: WriteView,
  { memory, startBlock }: OpenShard,
  command: ShardCommand,
  prepared: PreparedBatch | undefined,
): SenderNotes {
  const withContext = (body: (context: WriteContext) => void): SenderNotes => {
    const context = new WriteContext(view, memory, prepared)
    body(context)
    return notesAfter(memory.senderNotes, context)
  }
  switch (command.type) {
    case 'applyBlocks':
      return withContext((context) => applyBlocks(context, command.batch))
    case 'resolveSenders':
      return withContext((context) => resolveSenders(context, command.resolved))
    case 'correctSenders':
      return withContext((context) => correctSenders(context, command.corrected))
    case 'addPolledGers':
      return withContext((context) => applyPolledGers(context, command.globalExitRoots, command.polledLeaves))
    case 'revertTo':
      revertTo(view, command.ancestor, startBlock)
      memory.dictionaries.forget()
      return countSenderNotes(view)
    case 'startOver':
      emptyShard(view, command.startOvers)
      memory.dictionaries.forget()
      return countSenderNotes(view)
    case 'noteStartOvers':
      putStartOvers(view, command.startOvers)
      return memory.senderNotes
    case 'noteCatchingUp':
      putCatchingUp(view, command.isCatchingUp)
      return memory.senderNotes
    case 'noteClaimsCompared':
      putClaimsCompared(view, comparedAfter(view, command)!)
      return memory.senderNotes
    case 'setFinalized':
      raiseFinalized(view, raisedFinality(view, command.block)!)
      return memory.senderNotes
    case 'addSettledRoots':
      applySettledRoots(view, command.found)
      return memory.senderNotes
  }
}

function notesAfter(before: SenderNotes, { depositSenders, claimSenders }: WriteContext): SenderNotes {
  const [ofDeposits, ofClaims] = [depositSenders.newNotes, claimSenders.newNotes]
  return {
    provisional: before.provisional + ofDeposits.provisional + ofClaims.provisional,
    unknown: before.unknown + ofDeposits.unknown + ofClaims.unknown,
  }
}
