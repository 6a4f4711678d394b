import { copyBytes } from '../../protocol/abiBytes.js'
import type { BlockHeader, DepositEvent, EventPosition, ForwardLeaf } from '../../protocol/chainEvent.js'
import { depositFields, encodeDepositRow } from '../../store/layout/depositRow.js'
import { networkText } from '../../store/layout/keys.js'
import { hashKinds, listKinds } from '../../store/layout/tables.js'
import { depositBytes } from './eventBytes.js'
import { refuse } from './refuse.js'
import type { WriteContext } from './writeContext.js'

/** BridgeEvent. @throws Refusal when a deposit before it is missing, or it comes twice. */
export function applyDeposit(context: WriteContext, header: BlockHeader, event: DepositEvent): void {
  const { counters } = context
  if (event.depositCount !== counters.deposits) {
    const place = `deposit count ${event.depositCount} in block ${header.number}, expected ${counters.deposits}`
    if (counters.deposits === 0 && counters.lineage === 0)
      refuse('start_block_too_late', `first ${place}: start_block is after the first deposit`)
    refuse('deposit_count_gap', place)
  }
  appendDeposit(context, header, event, event, false)
  context.depositSenders.offer(event.depositCount, event.sender)
}

/** Adds one deposit after the last. @returns its position among the batch's leaves. */
export function appendDeposit(
  context: WriteContext,
  header: BlockHeader,
  position: EventPosition,
  deposit: ForwardLeaf,
  isForwardLeaf: boolean,
): number {
  const { memory, counters, lists } = context
  const depositCount = counters.deposits
  const { addresses } = memory
  const from = depositBytes(position, deposit)
  const token = addresses.numberAt(from.words, from.originAddressAt / 4)
  const destinationAddress = addresses.numberAt(from.words, from.destinationAddressAt / 4)
  const metadataId = metadataIdOf(context, deposit)
  const leaf = context.localExitTree.take()
  const offset = context.deposits.append()
  const { bytes } = context.deposits
  encodeDepositRow(bytes, offset, {
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: position.logIndex,
    leafType: deposit.leafType,
    isForwardLeaf,
    tokenId: memory.dictionaries.tokenId(context, deposit.originNetwork, token),
    metadataId,
    destinationNetwork: deposit.destinationNetwork,
  })
  copyBytes(from.bytes, from.transactionHashAt, 32, bytes, offset + depositFields.transactionHash)
  copyBytes(from.bytes, from.amountAt, 32, bytes, offset + depositFields.amount)
  addresses.copy(destinationAddress, bytes, offset + depositFields.destinationAddress)
  lists.append(listKinds.depositsByDestinationNetwork, networkText(deposit.destinationNetwork), depositCount)
  lists.appendByAddress(listKinds.depositsByDestinationAddress, destinationAddress, depositCount)
  context.hashRuns.append(hashKinds.depositsByTransaction, from.bytes, from.transactionHashAt, depositCount)
  if (deposit.leafType !== 0)
    lists.append(listKinds.depositsByLeafType, String.fromCharCode(deposit.leafType), depositCount)
  counters.deposits = depositCount + 1
  return leaf
}

function metadataIdOf(context: WriteContext, deposit: ForwardLeaf): number {
  const { memory, prepared } = context
  const position = context.localExitTree.taken
  const hash = prepared.ownMetadataHashes.get(position)
  return hash === undefined
    ? memory.dictionaries.metadataId(context, prepared.metadataNumbers[position]!, deposit)
    : memory.dictionaries.ownMetadataId(context, hash, deposit.metadata)
}
