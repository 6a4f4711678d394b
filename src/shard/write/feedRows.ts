import { InvariantError } from '../../errors/invariantError.js'
import type { BlockHeader, ClaimUnsetEvent } from '../../protocol/chainEvent.js'
import { encodeGlobalIndexBytes } from '../../protocol/globalIndex.js'
import { LISTED_METADATA_BYTES } from '../../protocol/metadata.js'
import { asClaimOrdinal, asDepositCount } from '../../protocol/units.js'
import type { BridgeFeedEvent, ClaimFeedEvent, TokenMappingFeedEvent } from '../../store/feed/feedEvent.js'
import { CLAIM_BYTES, decodeClaimRow } from '../../store/layout/claimRow.js'
import { decodeDepositRow } from '../../store/layout/depositRow.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeSenderRow } from '../../store/layout/senderRow.js'
import { decodeMetadataDigest, decodeTokenEntry } from '../../store/layout/smallRows.js'
import { decodeTokenMappingRow } from '../../store/layout/tokenMappingRow.js'
import type { Senders } from './senderRows.js'
import type { WriteContext } from './writeContext.js'

/**
 * Events of the feed from rows that a transaction has appended, or that a reorg has brought back. Bytes of an event are views and copies
 * that hold until the next row is read: tell it at once.
 */

/** @throws InvariantError when the deposit is not stored. */
export function bridgeEventOf(context: WriteContext, depositCount: number): BridgeFeedEvent {
  const { bytes, offset } = context.deposits.read(depositCount)
  const { tokenId, metadataId, ...row } = decodeDepositRow(bytes, offset)
  return {
    type: 'bridge',
    ...row,
    ...tokenOf(context, tokenId),
    depositCount: asDepositCount(depositCount),
    metadata: metadataOf(context, metadataId),
    sender: senderOf(context.depositSenders, depositCount),
  }
}

/** A claim that is in force now. @throws InvariantError when it is not stored. */
export function claimEventOf(context: WriteContext, ordinal: number): ClaimFeedEvent {
  const hash = context.claimHashes.read(ordinal)
  const transactionHash = hash.bytes.slice(hash.offset, hash.offset + 32)
  const claim = context.claims.read(ordinal)
  // Copies: reading the token may move the store's buffer.
  const { tokenId, isSetByAdministrator, destinationAddress, amount, ...row } = decodeClaimRow(
    claim.bytes.slice(claim.offset, claim.offset + CLAIM_BYTES),
    0,
  )
  return {
    type: 'claim',
    ...row,
    transactionHash,
    isInForce: true,
    content: isSetByAdministrator ? null : { ...tokenOf(context, tokenId), destinationAddress, amount },
    sender: senderOf(context.claimSenders, asClaimOrdinal(ordinal)),
  }
}

/** A claim went out of force. */
export function unsetEventOf(
  { number: blockNumber, timestampSec }: BlockHeader,
  { logIndex, transactionHash, sourceNetwork, depositCount }: ClaimUnsetEvent,
): ClaimFeedEvent {
  const globalIndex = encodeGlobalIndexBytes(sourceNetwork, depositCount)
  return {
    type: 'claim',
    ...{ blockNumber, timestampSec, logIndex, transactionHash },
    ...{ isInForce: false, sourceNetwork, depositCount, globalIndex, content: null, sender: null },
  }
}

/** @throws InvariantError when the mapping is not stored. */
export function tokenMappingEventOf(context: WriteContext, ordinal: number): TokenMappingFeedEvent {
  const stored = context.view.get('tokenMappings', uint32Key(ordinal))
  if (stored === undefined) throw new InvariantError(`token mapping ${ordinal} is not stored`)
  const { metadataId, ...row } = decodeTokenMappingRow(stored.slice())
  return { type: 'token_mapping', ...row, metadata: metadataOf(context, metadataId) }
}

function tokenOf({ view }: WriteContext, id: number) {
  const stored = view.get('tokens', uint32Key(id))
  if (stored === undefined) throw new InvariantError(`token ${id} is not stored`)
  const { network: tokenNetwork, address: tokenAddress } = decodeTokenEntry(stored.slice())
  return { tokenNetwork, tokenAddress }
}

/** As lists show it: whole, or its digest. */
function metadataOf({ view }: WriteContext, id: number): TokenMappingFeedEvent['metadata'] {
  const stored = view.get('metadata', uint32Key(id))
  if (stored === undefined) throw new InvariantError(`metadata ${id} are not stored`)
  if (stored.length <= LISTED_METADATA_BYTES) return stored.slice()
  const digest = view.get('longMetadata', uint32Key(id))
  if (digest === undefined) throw new InvariantError(`the digest of metadata ${id} is not stored`)
  return decodeMetadataDigest(digest.slice())
}

function senderOf(senders: Senders, ordinal: number): BridgeFeedEvent['sender'] {
  const row = senders.shownRow(ordinal)
  return row === null ? null : (decodeSenderRow(row.slice(), 0) ?? null)
}
