import { ChainDataError } from '../../errors/chainDataError.js'
import type {
  BlockHeader,
  DepositEvent,
  EventPosition,
  ForwardLeaf,
  Hash,
} from '../../protocol/chainEvent.js'
import { PackedDeposit } from '../../protocol/packedEvents.js'
import { writeUint256 } from '../../protocol/uint256.js'
import { depositFields, encodeDepositRow } from '../../store/codecs/depositRow.js'
import { networkText } from '../../store/codecs/keys.js'
import { hashKinds, listKinds } from '../../store/tables.js'
import type { WriteContext } from './writeContext.js'

const amount = new Uint8Array(32)

/** BridgeEvent. @throws ChainDataError when a deposit before it is missing, or it is told twice. */
export function applyDeposit(context: WriteContext, header: BlockHeader, event: DepositEvent): void {
  const { counters } = context
  if (event.depositCount !== counters.deposits) {
    const place = `deposit count ${event.depositCount} in block ${header.number}, expected ${counters.deposits}`
    if (counters.deposits === 0 && counters.lineage === 0)
      throw new ChainDataError(
        'start_block_too_late',
        `first ${place}: start_block lies behind the first deposit`,
      )
    throw new ChainDataError('deposit_count_gap', place)
  }
  appendDeposit(context, header, event, event, false)
  context.depositSenders.offer(event.depositCount, event.sender)
}

/** Adds one deposit behind the last. @returns its leaf. */
export function appendDeposit(
  context: WriteContext,
  header: BlockHeader,
  position: EventPosition,
  deposit: ForwardLeaf,
  isForwardLeaf: boolean,
): Hash {
  const { view, memory, prepared, counters, lists } = context
  const depositCount = counters.deposits
  const { addresses, dictionaries } = memory
  const token = addresses.numberOf(deposit.originAddress)
  const destinationAddress = addresses.numberOf(deposit.destinationAddress)
  if (deposit instanceof PackedDeposit) deposit.copyAmount(amount, 0)
  else writeUint256(amount, 0, deposit.amount)
  const metadataHash = prepared.metadataHashes[context.localExitTree.taken]!
  const leaf = context.localExitTree.take()
  const { bytes, offset } = context.deposits.append()
  encodeDepositRow(bytes, offset, {
    transactionHash: position.transactionHash,
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: position.logIndex,
    leafType: deposit.leafType,
    isForwardLeaf,
    tokenId: dictionaries.tokenId(context, deposit.originNetwork, token),
    metadataId: dictionaries.metadataId(view, counters, deposit.metadata, metadataHash),
    destinationNetwork: deposit.destinationNetwork,
    amount,
  })
  addresses.copy(destinationAddress, bytes, offset + depositFields.destinationAddress)
  lists.append(listKinds.depositsByDestinationNetwork, networkText(deposit.destinationNetwork), depositCount)
  lists.appendTo(listKinds.depositsByDestinationAddress, destinationAddress, depositCount)
  context.hashRuns.append(hashKinds.depositsByTransaction, position.transactionHash, depositCount)
  if (deposit.leafType !== 0)
    lists.append(listKinds.depositsByLeafType, String.fromCharCode(deposit.leafType), depositCount)
  counters.deposits = depositCount + 1
  return leaf
}
