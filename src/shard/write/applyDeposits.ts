import { copyBytes, depositCountOf } from '../../protocol/abiBytes.js'
import type { BlockHeader, DepositEvent, DepositRows } from '../../protocol/chainEvent.js'
import type { DepositCount } from '../../protocol/units.js'
import { depositFields, encodeDepositRow } from '../../store/layout/depositRow.js'
import { networkText } from '../../store/layout/keys.js'
import { hashKinds, listKinds } from '../../store/layout/tables.js'
import { type LeafBytes, leafAt, leafOf } from './eventBytes.js'
import { bridgeEventOf } from './feedRows.js'
import { refuse } from './refuse.js'
import type { WriteContext } from './writeContext.js'

/** BridgeEvent. @throws Refusal when a deposit before it is missing, or it comes twice. */
export function applyDeposit(context: WriteContext, header: BlockHeader, event: DepositEvent): void {
  assertNext(context, header, event.depositCount)
  appendDeposit(context, header, leafOf(event, event), false)
  context.depositSenders.offer(event.depositCount, event.sender)
  tellDeposit(context, event.depositCount)
}

/** As `applyDeposit`, of many BridgeEvents. */
export function applyDepositRows(
  context: WriteContext,
  header: BlockHeader,
  { logs, from, to }: DepositRows,
): void {
  for (let row = from; row < to; row++) {
    const depositCount = depositCountOf(logs, row)
    assertNext(context, header, depositCount)
    appendDeposit(context, header, leafAt(logs, row), false)
    context.depositSenders.offer(depositCount, null)
    tellDeposit(context, depositCount)
  }
}

/** Tells the feed of a deposit that was just appended and offered its sender. */
export function tellDeposit(context: WriteContext, depositCount: number): void {
  if (context.feed.tellsBlocks) context.feed.tell(bridgeEventOf(context, depositCount))
}

function assertNext({ counters }: WriteContext, header: BlockHeader, depositCount: DepositCount): void {
  if (depositCount === counters.deposits) return
  const place = `deposit count ${depositCount} in block ${header.number}, expected ${counters.deposits}`
  if (counters.deposits === 0 && counters.lineage === 0)
    refuse('start_block_too_late', `first ${place}: start_block is after the first deposit`)
  refuse('deposit_count_gap', place)
}

/** Adds one deposit after the last. @returns its position among the batch's leaves. */
export function appendDeposit(
  context: WriteContext,
  header: BlockHeader,
  from: LeafBytes,
  isForwardLeaf: boolean,
): number {
  const { memory, counters, lists } = context
  const depositCount = counters.deposits
  const { addresses } = memory
  const token = addresses.numberAt(from.words, from.originAddressAt / 4)
  const destinationAddress = addresses.numberAt(from.words, from.destinationAddressAt / 4)
  const metadataId = metadataIdOf(context, from)
  const leaf = context.localExitTree.take()
  const offset = context.deposits.append()
  const { bytes } = context.deposits
  encodeDepositRow(bytes, offset, {
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: from.logIndex,
    leafType: from.leafType,
    isForwardLeaf,
    tokenId: memory.dictionaries.tokenId(context, from.originNetwork, token),
    metadataId,
    destinationNetwork: from.destinationNetwork,
  })
  copyBytes(from.bytes, from.transactionHashAt, 32, bytes, offset + depositFields.transactionHash)
  copyBytes(from.bytes, from.amountAt, 32, bytes, offset + depositFields.amount)
  addresses.copy(destinationAddress, bytes, offset + depositFields.destinationAddress)
  lists.append(listKinds.depositsByDestinationNetwork, networkText(from.destinationNetwork), depositCount)
  lists.appendByAddress(listKinds.depositsByDestinationAddress, destinationAddress, depositCount)
  context.hashRuns.append(hashKinds.depositsByTransaction, from.bytes, from.transactionHashAt, depositCount)
  if (from.leafType !== 0)
    lists.append(listKinds.depositsByLeafType, String.fromCharCode(from.leafType), depositCount)
  counters.deposits = depositCount + 1
  return leaf
}

function metadataIdOf(context: WriteContext, leaf: LeafBytes): number {
  const { memory, prepared } = context
  const position = context.localExitTree.taken
  const hash = prepared.ownMetadataHashes.get(position)
  return hash === undefined
    ? memory.dictionaries.metadataId(context, prepared.metadataNumbers[position]!, leaf)
    : memory.dictionaries.ownMetadataId(context, hash, leaf.metadata)
}
