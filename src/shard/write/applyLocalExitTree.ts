import { equalBytes } from '../../protocol/abiBytes.js'
import type {
  BackwardLetEvent,
  BlockHeader,
  ForwardLetEvent,
  Hash,
  Sender,
} from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { asDepositCount } from '../../protocol/units.js'
import {
  DEPOSIT_BYTES,
  decodeArchivedDeposit,
  decodeDepositRow,
  encodeArchivedDeposit,
} from '../../store/layout/depositRow.js'
import { latin1, listHeadKey, uint32Key } from '../../store/layout/keys.js'
import { decodeSenderRow, type SenderRow, senderNotes, senderRowKey } from '../../store/layout/senderRow.js'
import { hashKinds, type ListKind, listKinds } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { MESSAGE, originShownAsSender } from '../snapshot/transactionLogs.js'
import { appendDeposit, tellDeposit } from './applyDeposits.js'
import { leafOf } from './eventBytes.js'
import { truncateEntries } from './hashRunAppender.js'
import { readWholeList, truncateList } from './listAppender.js'
import { refuse } from './refuse.js'
import type { WriteContext } from './writeContext.js'

/**
 * BackwardLET: the local exit tree of a sovereign bridge is cut, and deposit counts will be used again. The deposits behind the cut
 * move to the archive. The tree goes on as a new lineage, so that roots of the old one can still be proved under.
 * @throws Refusal when the event's counts or roots differ from the stored tree's.
 */
export function applyBackwardLet(context: WriteContext, header: BlockHeader, event: BackwardLetEvent): void {
  checkBefore(context, header, event)
  const { counters, depositSenders } = context
  const kept = event.newLeafCount
  if (kept > counters.deposits)
    refuseEvent(
      header,
      'BackwardLET',
      `leaf count ${kept}, but only ${counters.deposits} deposits are stored`,
    )
  expectRoot(header, 'BackwardLET new', event.newRoot, context.localExitTree.rootAt(kept))
  context.flush()
  archiveFrom(context, kept)
  // A ForwardLET in the same block looks its leaves up in the archive.
  context.lists.flush()
  // If the watermark is not above the cut, no sender behind it is stored. The sender tables must not change in this block then: missing
  // senders are stored later under the undo of older blocks, and undo is exact only if each key is written in the order of the blocks.
  if (depositSenders.watermark > kept) depositSenders.truncate(kept)
  context.deposits.truncate(kept)
  context.localExitTree.cut(kept)
  counters.deposits = kept
  context.localExitTree.noteRoot()
  if (context.feed.tellsBlocks)
    context.feed.tell({
      type: 'reorg',
      ancestor: header.number,
      depositCount: asDepositCount(kept),
      isCut: true,
    })
}

/**
 * ForwardLET: leaves are appended without BridgeEvents.
 * @throws Refusal when the event's counts or roots differ from the stored tree's.
 */
export function applyForwardLet(context: WriteContext, header: BlockHeader, event: ForwardLetEvent): void {
  checkBefore(context, header, event)
  for (const leaf of event.newLeaves) {
    const depositCount = context.counters.deposits
    const position = appendDeposit(context, header, leafOf(event, leaf), true)
    const twin = findArchivedTwin(
      context.view,
      context.localExitTree.leafOf(position),
      context.counters.lineage,
    )
    // If the twin's sender is not resolved, neither is this one: the twin's transaction will give both.
    const sender = twin === undefined ? event.sender : senderOfTwin(context.view, twin)
    context.depositSenders.offer(
      depositCount,
      sender,
      leaf.leafType === MESSAGE ? leaf.originAddress : undefined,
    )
    tellDeposit(context, depositCount)
  }
  if (context.counters.deposits !== event.newLeafCount)
    refuseEvent(
      header,
      'ForwardLET',
      `leaf count ${event.newLeafCount}, but its ${event.newLeaves.length} leaves make ${context.counters.deposits} deposits`,
    )
  context.localExitTree.noteRoot({
    root: event.newRoot,
    reason: 'local_exit_tree_event',
    source: `ForwardLET in block ${header.number}`,
  })
}

/**
 * The archived deposit that a ForwardLET leaf repeats, its twin. There is one only if exactly one archived deposit had the same leaf
 * hash when the leaf was appended; those archived later do not matter.
 * @param lineage the lineage that the leaf was appended in.
 * @returns byte fields are valid until the next read.
 */
export function findArchivedTwin(view: ReadView, leafHash: Hash, lineage: number) {
  const ordinals = readWholeList(view, listHeadKey(listKinds.archivedByLeafHash, leafHash))
  // Deposits that were cut off later are of this lineage or a later one, and come later in the archive.
  for (const ordinal of ordinals.slice(0, 2).reverse()) {
    const archived = view.get('archivedDeposits', uint32Key(ordinal))
    if (archived === undefined) return undefined
    const twin = decodeArchivedDeposit(archived)
    if (twin.lineage < lineage) return ordinal === ordinals[0] ? { ...twin, ordinal } : undefined
  }
  return undefined
}

/** The twin's sender, marked as provisional if it is; null when it is unknown. */
function senderOfTwin(view: ReadView, { sender, ordinal }: { sender: SenderRow | null; ordinal: number }) {
  if (sender === null) return null
  const plain: Sender = {
    caller: new Uint8Array(sender.caller.bytes),
    transactionSender: new Uint8Array(sender.transactionSender.bytes),
  }
  const isProvisional = view.get('senderNotes', senderRowKey('archivedDeposit', ordinal)) !== undefined
  return isProvisional ? { ...plain, isProvisional } : plain
}

function checkBefore(
  context: WriteContext,
  header: BlockHeader,
  event: BackwardLetEvent | ForwardLetEvent,
): void {
  const name = event.type === 'backwardLet' ? 'BackwardLET' : 'ForwardLET'
  const { deposits } = context.counters
  if (event.previousLeafCount !== deposits)
    refuseEvent(
      header,
      name,
      `previous leaf count ${event.previousLeafCount}, but ${deposits} deposits are stored`,
    )
  expectRoot(header, `${name} previous`, event.previousRoot, context.localExitTree.rootAt(deposits))
}

function expectRoot(header: BlockHeader, what: string, published: Hash, computed: Hash): void {
  if (!equalBytes(published, computed))
    refuseEvent(
      header,
      what,
      `root ${encodeHex(published)}, but the stored deposits give ${encodeHex(computed)}`,
    )
}

function refuseEvent(header: BlockHeader, what: string, fact: string): never {
  refuse('local_exit_tree_event', `${what} in block ${header.number} says ${fact}`)
}

/** Moves deposit `from` and all after it to the archive, and removes them from their lists. */
function archiveFrom(context: WriteContext, from: number): void {
  const { view, counters, deposits, depositSenders, lists, localExitTree } = context
  const touched = new Map<string, [ListKind, Uint8Array]>()
  const touch = (kind: ListKind, key: Uint8Array) => {
    const text = String.fromCharCode(kind) + latin1(key)
    if (!touched.has(text)) touched.set(text, [kind, new Uint8Array(key)])
  }
  for (let depositCount = from; depositCount < counters.deposits; depositCount++) {
    const leaf = localExitTree.leafAt(depositCount)
    const sender = depositSenders.row(depositCount)
    const place = deposits.read(depositCount)
    const stored = new Uint8Array(place.bytes.subarray(place.offset, place.offset + DEPOSIT_BYTES))
    const row = decodeDepositRow(stored, 0)
    touch(listKinds.depositsByDestinationNetwork, uint32Key(row.destinationNetwork))
    touch(listKinds.depositsByDestinationAddress, row.destinationAddress.bytes)
    truncateEntries(view, hashKinds.depositsByTransaction, row.transactionHash, from)
    truncateEntries(view, hashKinds.depositsByLeafHash, leaf, from)
    if (row.leafType !== 0) touch(listKinds.depositsByLeafType, Uint8Array.of(row.leafType))
    const senders = sender === null ? undefined : decodeSenderRow(sender, 0)
    if (senders !== undefined) {
      touch(listKinds.depositsBySender, senders.caller.bytes)
      touch(listKinds.depositsBySender, senders.transactionSender.bytes)
    }
    const own = originShownAsSender(view, row, senders !== undefined)
    if (own !== undefined) touch(listKinds.depositsBySender, own)
    const ordinal = counters.archivedDeposits++
    view.put(
      'archivedDeposits',
      uint32Key(ordinal),
      encodeArchivedDeposit(counters.lineage, depositCount, stored, depositSenders.shownRow(depositCount)),
    )
    if (depositSenders.isProvisional(depositCount))
      view.put(
        'senderNotes',
        senderRowKey('archivedDeposit', ordinal),
        Uint8Array.of(senderNotes.provisional),
      )
    lists.append(listKinds.archivedByLeafHash, latin1(leaf), ordinal)
  }
  for (const [kind, key] of touched.values()) truncateList(view, listHeadKey(kind, key), from)
}
