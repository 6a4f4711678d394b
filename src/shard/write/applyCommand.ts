import { FatalError } from '../../errors/chainErrors.js'
import { InvariantError } from '../../errors/invariantError.js'
import { asDepositCount, type BlockNumber, type NetworkId } from '../../protocol/units.js'
import { latin1, type MetaName, metaKey } from '../../store/layout/keys.js'
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
import { feedIdOfLog, putClaimableTold, putFeedPlace } from '../position/feedPosition.js'
import {
  putHaltReason,
  putHeadPlace,
  putLogPlace,
  putLogSettings,
  readHaltReason,
  readHeadPlace,
  readLogPlace,
  readLogSettings,
} from '../position/logPosition.js'
import type { SenderNotes } from '../senders.types.js'
import type { Applied, CommandOutcome, ShardCommand } from '../shardCommand.types.js'
import type { LogPlace, LogSettings } from '../shardLog.types.js'
import { applyBlocks } from './applyBlocks.js'
import { applyClaimable } from './applyClaimable.js'
import { applyPolledGers, applySettledRoots } from './applyOutsideBlocks.js'
import { emptyShard, putStartOvers } from './emptyShard.js'
import { Feed } from './feed.js'
import { bridgeEventOf, claimEventOf, tokenMappingEventOf } from './feedRows.js'
import { type PreparedBatch, prepareBatch } from './prepareBatch.js'
import { Refusal, refuse } from './refuse.js'
import { correctSenders, resolveSenders } from './resolveSenders.js'
import { type BroughtBack, revertTo } from './revertTo.js'
import { countSenderNotes } from './senderRows.js'
import { assertMark } from './shardMark.js'
import { WriteContext } from './writeContext.js'
import type { WriterMemory } from './writerMemory.js'

/** A shard that is open for writing. */
export interface OpenShard {
  readonly store: ShardStoreWriter
  /** Saves work. Outcome and stored bytes do not depend on it. */
  readonly memory: WriterMemory
  /** The network's first block. */
  readonly startBlock: number
  /** Events of the feed that are kept, where no log says how many. */
  readonly keepEvents: number
}

const APPLIED: Applied = { type: 'applied' }

/**
 * Applies one command in one transaction. Outcome and stored bytes follow from what is stored, from the command and its place, and from
 * nothing else: no clock, no settings, no memory of earlier commands. A refused command changes nothing but the place.
 * @param place of the command in its log; undefined for a shard that follows none. It is stored with all that the command stores.
 * @param beforeCommit called inside the transaction when all is written, and not at all when nothing changes that readers see, but the feed.
 * @throws InvariantError when the store contradicts itself, or the place is not behind the last one; DivergedError for a mark; FatalError for a command
 *   without a place when the shard follows a log; errors of LMDB and of the disk.
 */
export function applyCommand(
  shard: OpenShard,
  command: ShardCommand,
  place: LogPlace | undefined,
  beforeCommit: () => void,
): CommandOutcome {
  const { store, memory } = shard
  assertPlace(store, command, place)
  try {
    if (place !== undefined && command.type !== 'begin' && readLogSettings(store) === undefined)
      refuse('not_begun', `${command.type} came before the first command of the log`)
    if (command.type === 'mark') assertMark(store, memory.hasher, command.mark)
    if (command.type === 'mark' || changesNothing(store, command)) {
      moveTo(store, place)
      return APPLIED
    }
    if (command.type === 'noteClaimable') {
      const keepEvents = readLogSettings(store)?.feedKeepEvents ?? shard.keepEvents
      store.transact((view) => {
        const feed = new Feed(view)
        applyClaimable(view, memory, feed, command.news)
        feed.end(keepEvents)
        if (place !== undefined) putLogPlace(view, place)
      })
      return APPLIED
    }
    // Before the transaction, so that it is open as short as possible.
    const prepared = command.type === 'applyBlocks' ? prepareBatch(command.batch, memory) : undefined
    memory.senderNotes = store.transact((view) => {
      const feed = new Feed(view)
      const senderNotes = change(view, shard, command, prepared, feed)
      feed.end(readLogSettings(view)?.feedKeepEvents ?? shard.keepEvents)
      if (place !== undefined) putLogPlace(view, place)
      beforeCommit()
      return senderNotes
    })
    return APPLIED
  } catch (error) {
    memory.dictionaries.forget()
    if (!(error instanceof Refusal)) throw error
    moveTo(store, place)
    return { type: 'refused', reason: error.reason, message: error.message }
  }
}

function assertPlace(view: ReadView, { type }: ShardCommand, place: LogPlace | undefined): void {
  const before = readLogPlace(view)
  if (place === undefined && before !== undefined)
    throw new FatalError(`this shard follows a log, and only that can change it: ${type} is not in it`)
  if (place === undefined && type === 'begin')
    throw new InvariantError('the first command of a log has no place in it')
  if (place !== undefined && before !== undefined && place.sequence <= before.sequence)
    throw new InvariantError(`a command at ${place.sequence} of the log, the shard is at ${before.sequence}`)
}

/** Stores the place of a command that changes nothing. */
function moveTo(store: ShardStoreWriter, place: LogPlace | undefined): void {
  if (place !== undefined) store.transact((view) => putLogPlace(view, place))
}

/** Whether what the command says is stored already: then there is no commit, which would void all kept answers. */
export function changesNothing(view: ReadView, command: ShardCommand): boolean {
  switch (command.type) {
    case 'noteCatchingUp':
      return command.isCatchingUp === readCatchingUp(view)
    case 'noteClaimsCompared':
      return comparedAfter(view, command) === undefined
    case 'setFinalized':
      return raisedFinality(view, command.block) === undefined
    case 'noteHalt':
      return command.reason === readHaltReason(view)
    case 'noteHeadPlace':
      return command.place === readHeadPlace(view)
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

/** Meta entries that a shard may have before its log begins; the place is that of a command that was refused. */
const NAMES_OF_EMPTY: readonly MetaName[] = ['schema', 'identity', 'commits', 'logPlace', 'feed', 'feedFile']

/** @throws Refusal when the shard holds anything: it would not be the same as the others. */
function begin(view: WriteView, settings: LogSettings): void {
  const names = NAMES_OF_EMPTY.map((name) => latin1(metaKey(name)))
  const held = view
    .list('meta', { start: Uint8Array.of(0), end: Uint8Array.of(0xff) })
    .map(({ key }) => latin1(key))
    .filter((name) => !names.includes(name))
  if (held.length > 0) refuse('already_begun', `the log begins, but the shard has ${held.join(', ')}`)
  putLogSettings(view, settings)
  // All instances have one feed: ids of one are those of another.
  putFeedPlace(view, { feedId: feedIdOfLog(settings.logId), oldest: 1, newest: 0 })
  view.removeUnseen('meta', metaKey('feedFile'))
}

/** @returns the numbers of noted rows afterwards. @throws Refusal */
function change(
  view: WriteView,
  { memory, startBlock }: OpenShard,
  command: Exclude<ShardCommand, { type: 'mark' | 'noteClaimable' }>,
  prepared: PreparedBatch | undefined,
  feed: Feed,
): SenderNotes {
  const withContext = (body: (context: WriteContext) => void): SenderNotes => {
    const context = new WriteContext(view, memory, feed, prepared)
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
    case 'revertTo': {
      const broughtBack = revertTo(view, command.ancestor, startBlock, command.reorgSeenAtSec)
      memory.dictionaries.forget()
      tellRevert(new WriteContext(view, memory, feed), command.ancestor, broughtBack)
      return countSenderNotes(view)
    }
    case 'startOver':
      emptyShard(view, command.startOvers)
      feed.tell({ type: 'start_over' })
      memory.dictionaries.forget()
      return countSenderNotes(view)
    case 'noteStartOvers':
      putStartOvers(view, command.startOvers)
      return memory.senderNotes
    case 'noteCatchingUp':
      putCatchingUp(view, command.isCatchingUp)
      if (command.isCatchingUp) putClaimableTold(view, false)
      return memory.senderNotes
    case 'noteClaimsCompared':
      putClaimsCompared(view, comparedAfter(view, command)!)
      return memory.senderNotes
    case 'setFinalized':
      raiseFinalized(view, raisedFinality(view, command.block)!)
      if (feed.tellsBlocks) feed.tellSync({ isHistory: false })
      return memory.senderNotes
    case 'addSettledRoots':
      applySettledRoots(view, command.found)
      return memory.senderNotes
    case 'begin':
      begin(view, command.settings)
      return memory.senderNotes
    case 'noteHalt':
      putHaltReason(view, command.reason)
      return memory.senderNotes
    case 'noteHeadPlace':
      putHeadPlace(view, command.place)
      return memory.senderNotes
  }
}

/** Tells what is gone, then what has come back, then where the network stands. */
function tellRevert(
  context: WriteContext,
  ancestor: number,
  { depositsFrom, claims, tokenMappings }: BroughtBack,
): void {
  const { feed, counters } = context
  feed.tell({ type: 'reorg', ancestor, depositCount: asDepositCount(depositsFrom), isCut: false })
  // Also while nothing single is told: a deposit that stays in there would not be told when its claim is unset once more.
  for (const ordinal of claims) {
    const { sourceNetwork, depositCount } = claimEventOf(context, ordinal)
    feed.dropClaimable(sourceNetwork, depositCount)
  }
  if (!feed.tellsBlocks) return
  for (let count = depositsFrom; count < counters.deposits; count++) feed.tell(bridgeEventOf(context, count))
  for (const ordinal of claims) feed.tell(claimEventOf(context, ordinal))
  for (const ordinal of tokenMappings) feed.tell(tokenMappingEventOf(context, ordinal))
  feed.tellSync({ isHistory: false })
}

function notesAfter(before: SenderNotes, { depositSenders, claimSenders }: WriteContext): SenderNotes {
  const [ofDeposits, ofClaims] = [depositSenders.newNotes, claimSenders.newNotes]
  return {
    provisional: before.provisional + ofDeposits.provisional + ofClaims.provisional,
    unknown: before.unknown + ofDeposits.unknown + ofClaims.unknown,
  }
}
