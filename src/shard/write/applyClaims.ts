import { copyBytes } from '../../protocol/abiBytes.js'
import type {
  BlockHeader,
  ClaimEvent,
  ClaimRows,
  ClaimSetEvent,
  ClaimUnsetEvent,
} from '../../protocol/chainEvent.js'
import {
  decodeGlobalIndexBytes,
  decodeV1Index,
  encodeGlobalIndex,
  type GlobalIndexParts,
} from '../../protocol/globalIndex.js'
import { writeUint256 } from '../../protocol/uint256.js'
import type { ClaimOrdinal } from '../../protocol/units.js'
import { CLAIM_BYTES, claimFields, encodeClaimRow } from '../../store/layout/claimRow.js'
import { networkText, uint32Key } from '../../store/layout/keys.js'
import { encodeUint32 } from '../../store/layout/smallRows.js'
import { hashKinds, listKinds } from '../../store/layout/tables.js'
import { placeOfEvent } from '../../store/places/eventPlace.js'
import { encodeUnsetClaimRow, REPLACED_CLAIM } from '../../store/places/unsetClaimRow.js'
import { claimAt, claimOf, type EventBytes } from './eventBytes.js'
import { claimEventOf, unsetEventOf } from './feedRows.js'
import type { WriteContext } from './writeContext.js'

/** ClaimEvent of either generation. If the deposit has a claim in force already, the new claim replaces it. */
export function applyClaim(context: WriteContext, header: BlockHeader, event: ClaimEvent): void {
  const from = claimOf(event)
  const deposit =
    event.generation === 'v1'
      ? decodeV1Index(event.globalIndex, context.memory.networkId)
      : decodeGlobalIndexBytes(from.bytes, from.globalIndexAt)
  const ordinal = appendClaim(context, header, from, deposit)
  context.claimSenders.offer(ordinal, event.sender)
  tellClaim(context, ordinal)
}

/** As `applyClaim`, of many ClaimEvents of etrog and later. */
export function applyClaimRows(
  context: WriteContext,
  header: BlockHeader,
  { logs, from, to }: ClaimRows,
): void {
  for (let row = from; row < to; row++) {
    const claim = claimAt(logs, row)
    const deposit = decodeGlobalIndexBytes(claim.bytes, claim.globalIndexAt)
    const ordinal = appendClaim(context, header, claim, deposit)
    context.claimSenders.offer(ordinal, null)
    tellClaim(context, ordinal)
  }
}

/** Tells the feed of a claim that was just appended and offered its sender. */
function tellClaim(context: WriteContext, ordinal: number): void {
  if (context.feed.tellsBlocks) context.feed.tell(claimEventOf(context, ordinal))
}

/** Adds one claim after the last. @returns its ordinal. */
function appendClaim(
  context: WriteContext,
  header: BlockHeader,
  from: EventBytes,
  deposit: GlobalIndexParts,
): number {
  const { memory, counters, lists } = context
  const ordinal = counters.claims
  const { addresses, dictionaries } = memory
  const token = addresses.numberAt(from.words, from.originAddressAt / 4)
  const destinationAddress = addresses.numberAt(from.words, from.destinationAddressAt / 4)
  const offset = context.claims.append()
  const { bytes } = context.claims
  encodeClaimRow(bytes, offset, {
    // Field by field: spreading objects into the literal took as long as all the rest of a claim.
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: from.logIndex,
    sourceNetwork: deposit.sourceNetwork,
    depositCount: deposit.depositCount,
    isSetByAdministrator: false,
    tokenId: dictionaries.tokenId(context, from.originNetwork, token),
  })
  copyBytes(from.bytes, from.globalIndexAt, 32, bytes, offset + claimFields.globalIndex)
  copyBytes(from.bytes, from.amountAt, 32, bytes, offset + claimFields.amount)
  addresses.copy(destinationAddress, bytes, offset + claimFields.destinationAddress)
  lists.appendByAddress(listKinds.claimsByDestinationAddress, destinationAddress, ordinal)
  finishClaim(context, from.bytes, from.transactionHashAt, deposit)
  return ordinal
}

/** SetClaim: a claim without ClaimEvent. Readers take amount, token and addresses from the deposit. */
export function applyClaimSet(context: WriteContext, header: BlockHeader, event: ClaimSetEvent): void {
  // A claim that is in force already is not stored again.
  if (context.claimLinks.get(event.sourceNetwork, event.depositCount) !== undefined) return
  const ordinal = context.counters.claims
  const offset = context.claims.append()
  const { bytes } = context.claims
  encodeClaimRow(bytes, offset, {
    blockNumber: header.number,
    timestampSec: header.timestampSec,
    logIndex: event.logIndex,
    sourceNetwork: event.sourceNetwork,
    depositCount: event.depositCount,
    isSetByAdministrator: true,
    tokenId: 0,
  })
  const index = encodeGlobalIndex(event.sourceNetwork, event.depositCount)
  writeUint256(bytes, offset + claimFields.globalIndex, index)
  bytes.fill(0, offset + claimFields.destinationAddress, offset + CLAIM_BYTES)
  context.lists.append(listKinds.claimsSetByAdministrator, '', ordinal)
  finishClaim(context, event.transactionHash, 0, event)
  context.claimSenders.offer(ordinal, event.sender)
  tellClaim(context, ordinal)
}

/** UnsetClaim, UpdatedUnsetGlobalIndexHashChain: takes the deposit's claim out of force, if there is one. */
export function applyClaimUnset(context: WriteContext, header: BlockHeader, event: ClaimUnsetEvent): void {
  const ordinal = context.claimLinks.get(event.sourceNetwork, event.depositCount)
  const unsetOrdinal = context.counters.unsetClaims++
  const { sourceNetwork, depositCount, hashChain } = event
  context.view.put(
    'unsetClaims',
    uint32Key(unsetOrdinal),
    encodeUnsetClaimRow({
      ...placeOfEvent(header, event),
      ...{ sourceNetwork, depositCount, claimOrdinal: ordinal, hashChain },
    }),
  )
  if (ordinal === undefined) return
  takeOutOfForce(context, ordinal, encodeUint32(unsetOrdinal))
  context.claimLinks.set(event.sourceNetwork, event.depositCount, undefined)
  if (context.feed.tellsBlocks) context.feed.tell(unsetEventOf(header, event))
}

/** The common rest of `applyClaim` and `applyClaimSet`, once the row is written. */
function finishClaim(
  context: WriteContext,
  hashes: Uint8Array,
  hashAt: number,
  deposit: GlobalIndexParts,
): void {
  const { counters, lists, claimLinks } = context
  const ordinal = counters.claims as ClaimOrdinal
  const offset = context.claimHashes.append()
  copyBytes(hashes, hashAt, 32, context.claimHashes.bytes, offset)
  lists.append(listKinds.claimsBySourceNetwork, networkText(deposit.sourceNetwork), ordinal)
  context.hashRuns.append(hashKinds.claimsByTransaction, hashes, hashAt, ordinal)
  const before = claimLinks.get(deposit.sourceNetwork, deposit.depositCount)
  if (before !== undefined) takeOutOfForce(context, before, REPLACED_CLAIM)
  claimLinks.set(deposit.sourceNetwork, deposit.depositCount, ordinal)
  context.feed.dropClaimable(deposit.sourceNetwork, deposit.depositCount)
  counters.claims = ordinal + 1
}

/** @param why as table `claimsOutOfForce` says it. */
function takeOutOfForce(context: WriteContext, ordinal: ClaimOrdinal, why: Uint8Array): void {
  context.view.put('claimsOutOfForce', uint32Key(ordinal), why)
  context.counters.claimsOutOfForce++
}
