import type {
  BlockHeader,
  ClaimEvent,
  ClaimSetEvent,
  ClaimUnsetEvent,
  EventPosition,
} from '../../protocol/chainEvent.js'
import {
  decodeGlobalIndex,
  decodeV1Index,
  encodeGlobalIndex,
  type GlobalIndexParts,
} from '../../protocol/globalIndex.js'
import { PackedClaim } from '../../protocol/packedEvents.js'
import { writeUint256 } from '../../protocol/uint256.js'
import type { ClaimOrdinal } from '../../protocol/units.js'
import { claimFields, encodeClaimRow } from '../../store/codecs/claimRow.js'
import { networkText, uint32Key } from '../../store/codecs/keys.js'
import { hashKinds, listKinds } from '../../store/tables.js'
import type { WriteContext } from './writeContext.js'

const globalIndex = new Uint8Array(32)
const amount = new Uint8Array(32)

/** ClaimEvent of either generation. A claim of a deposit that has one in force already takes its place. */
export function applyClaim(context: WriteContext, header: BlockHeader, event: ClaimEvent): void {
  const { memory, counters, lists } = context
  const deposit =
    event.generation === 'v1'
      ? decodeV1Index(event.globalIndex, memory.networkId)
      : decodeGlobalIndex(event.globalIndex)
  const ordinal = counters.claims
  const { addresses, dictionaries } = memory
  const token = addresses.numberOf(event.originAddress)
  const destinationAddress = addresses.numberOf(event.destinationAddress)
  writeUint256(globalIndex, 0, event.globalIndex)
  if (event instanceof PackedClaim) event.copyAmount(amount, 0)
  else writeUint256(amount, 0, event.amount)
  const { bytes, offset } = context.claims.append()
  encodeClaimRow(bytes, offset, {
    // Field by field: a literal with parts spread into it takes as long as all the rest of a claim.
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: event.logIndex,
    globalIndex,
    sourceNetwork: deposit.sourceNetwork,
    depositCount: deposit.depositCount,
    isSetByAdministrator: false,
    tokenId: dictionaries.tokenId(context, event.originNetwork, token),
    amount,
  })
  addresses.copy(destinationAddress, bytes, offset + claimFields.destinationAddress)
  lists.appendTo(listKinds.claimsByDestinationAddress, destinationAddress, ordinal)
  finishClaim(context, event, deposit)
  context.claimSenders.offer(ordinal, event.sender)
}

/** SetClaim: claimed without ClaimEvent. Amount, token and addresses are the deposit's, joined when read. */
export function applyClaimSet(context: WriteContext, header: BlockHeader, event: ClaimSetEvent): void {
  // One claim is one row, whatever the number of events that tell of it.
  if (context.claimLinks.get(event.sourceNetwork, event.depositCount) !== undefined) return
  const ordinal = context.counters.claims
  writeUint256(globalIndex, 0, encodeGlobalIndex(event.sourceNetwork, event.depositCount))
  const { bytes, offset } = context.claims.append()
  encodeClaimRow(bytes, offset, {
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: event.logIndex,
    globalIndex,
    sourceNetwork: event.sourceNetwork,
    depositCount: event.depositCount,
    isSetByAdministrator: true,
    tokenId: 0,
    amount: amount.fill(0),
  })
  bytes.fill(0, offset + claimFields.destinationAddress, offset + claimFields.amount)
  context.lists.append(listKinds.claimsSetByAdministrator, '', ordinal)
  finishClaim(context, event, event)
  if (context.claimSenders.watermark === ordinal) context.claimSenders.addNobody(ordinal)
}

/** UnsetClaim, UpdatedUnsetGlobalIndexHashChain. Without a claim in force there is nothing to take back. */
export function applyClaimUnset(context: WriteContext, event: ClaimUnsetEvent): void {
  const ordinal = context.claimLinks.get(event.sourceNetwork, event.depositCount)
  if (ordinal === undefined) return
  takeOutOfForce(context, ordinal)
  context.claimLinks.set(event.sourceNetwork, event.depositCount, undefined)
}

/** What both ways to a claim share, once its row is made. */
function finishClaim(context: WriteContext, event: EventPosition, deposit: GlobalIndexParts): void {
  const { counters, lists, claimLinks } = context
  const ordinal = counters.claims as ClaimOrdinal
  const hash = context.claimHashes.append()
  hash.bytes.set(event.transactionHash, hash.offset)
  lists.append(listKinds.claimsBySourceNetwork, networkText(deposit.sourceNetwork), ordinal)
  context.hashRuns.append(hashKinds.claimsByTransaction, event.transactionHash, ordinal)
  const before = claimLinks.get(deposit.sourceNetwork, deposit.depositCount)
  if (before !== undefined) takeOutOfForce(context, before)
  claimLinks.set(deposit.sourceNetwork, deposit.depositCount, ordinal)
  counters.claims = ordinal + 1
}

function takeOutOfForce(context: WriteContext, ordinal: ClaimOrdinal): void {
  context.view.put('claimsOutOfForce', uint32Key(ordinal), Uint8Array.of(0))
  context.counters.claimsOutOfForce++
}
