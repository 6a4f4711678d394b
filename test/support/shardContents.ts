import { readUint32BigEndian } from '../../src/protocol/abiBytes.js'
import { asNetworkId } from '../../src/protocol/units.js'
import { ClaimReads } from '../../src/shard/snapshot/claimReads.js'
import { DepositReads } from '../../src/shard/snapshot/depositReads.js'
import { entriesOfKind } from '../../src/shard/snapshot/hashRuns.js'
import type { SenderReads } from '../../src/shard/snapshot/senderReads.js'
import { SnapshotState } from '../../src/shard/snapshot/snapshotState.js'
import { readUint256 } from '../../src/store/layout/bytes.js'
import { CLAIM_LINK_BYTES, decodeClaimLink } from '../../src/store/layout/claimRow.js'
import type { EventRow } from '../../src/store/layout/eventRow.js'
import { listChunkKey, metaKey, uint32Key } from '../../src/store/layout/keys.js'
import { decodeListChunk, decodeListTail, listLength } from '../../src/store/layout/listEntry.js'
import { decodeCounters } from '../../src/store/layout/metaValues.js'
import { decodeTokenEntry } from '../../src/store/layout/smallRows.js'
import { CLAIM_LINKS_PER_CHUNK, hashKinds, type ListKind, listKinds } from '../../src/store/layout/tables.js'
import { decodeTokenMappingRow } from '../../src/store/layout/tokenMappingRow.js'
import type { ReadView } from '../../src/store/shardStore.types.js'
import { toHex } from './indexedBlocks.js'

/** The content of a shard as plain rows, in the words of the fake chain. */
export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Named in errors alone. */
const NETWORK_ID = asNetworkId(1)
const everything = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }

export function readCounters(view: ReadView) {
  return decodeCounters(view.get('meta', metaKey('counters')))
}

/** As hex, or null while it is not resolved. */
function senderOf(senders: SenderReads, ordinal: number) {
  const sender = senders.find(ordinal)
  return {
    caller: sender === undefined ? null : toHex(sender.caller.bytes),
    transactionSender: sender === undefined ? null : toHex(sender.transactionSender.bytes),
  }
}

function contentOf(view: ReadView, { tokenId, destinationAddress, amount }: EventRow) {
  const token = decodeTokenEntry(view.get('tokens', uint32Key(tokenId))!.slice())
  return {
    originNetwork: token.network as number,
    originAddress: toHex(token.address.bytes),
    destinationAddress: toHex(destinationAddress.bytes),
    amount: readUint256(amount, 0),
  }
}

export function readDeposits(view: ReadView) {
  const deposits = new DepositReads(view, new SnapshotState(view), NETWORK_ID)
  return Array.from({ length: deposits.count }, (_, depositCount) => {
    const { tokenId, metadataId, transactionHash, ...row } = deposits.get(depositCount)
    return {
      ...{ ...row, depositCount, transactionHash: toHex(transactionHash) },
      ...contentOf(view, { tokenId, ...row }),
      ...{ metadata: toHex(view.get('metadata', uint32Key(metadataId))!) },
      ...senderOf(deposits.senders, depositCount),
    }
  })
}

/** A claim that an administrator set has no content. */
export function readClaims(view: ReadView) {
  const claims = new ClaimReads(view, new SnapshotState(view), NETWORK_ID)
  return Array.from({ length: claims.count }, (_, ordinal) => {
    const { tokenId, destinationAddress, amount, globalIndex, ...row } = claims.get(ordinal)
    const content = row.isSetByAdministrator
      ? {}
      : contentOf(view, { tokenId, destinationAddress, amount, ...row })
    return {
      ...{ ...row, globalIndex: readUint256(globalIndex, 0), ...content },
      ...{ transactionHash: toHex(claims.getTransactionHash(ordinal)), ...senderOf(claims.senders, ordinal) },
      isInForce: view.get('claimsOutOfForce', uint32Key(ordinal)) === undefined,
    }
  })
}

/** `source:deposit count` → claim ordinal and hash, of all claims in force. */
export function readClaimLinks(view: ReadView): Record<string, string> {
  const claims = new ClaimReads(view, new SnapshotState(view), NETWORK_ID)
  const links: Record<string, string> = {}
  for (const { key, value } of view.list('claimLinks', everything))
    for (let slot = 0; slot < CLAIM_LINKS_PER_CHUNK; slot++) {
      const link = decodeClaimLink(value, CLAIM_LINK_BYTES * slot)
      if (link === undefined) continue
      const depositCount = CLAIM_LINKS_PER_CHUNK * readUint32BigEndian(key, 4) + slot
      links[`${readUint32BigEndian(key, 0)}:${depositCount}`] =
        `${link} ${hex(claims.getTransactionHash(link))}`
    }
  return links
}

/** Every list, and what hash runs find: `kind:key` → ordinals. */
export function readLists(view: ReadView): Record<string, number[]> {
  const kindNames = new Map(Object.entries(listKinds).map(([name, kind]) => [kind as ListKind, name]))
  const lists: Record<string, number[]> = {}
  for (const { key, value } of view.list('listHeads', everything)) {
    const tail = decodeListTail(value)
    const length = listLength(value)
    const ordinals: number[] = []
    for (let chunk = 0; ordinals.length < length - tail.length; chunk++)
      ordinals.push(...decodeListChunk(view.get('lists', listChunkKey(key, chunk))!))
    lists[`${kindNames.get(key[0] as ListKind)}:${hex(key.subarray(1))}`] = [...ordinals, ...tail]
  }
  for (const name of ['depositsByTransaction', 'claimsByTransaction'] as const)
    for (const [first, second, ordinal] of entriesOfKind(view, hashKinds[name])) {
      const key = `${name}:${hex(new Uint8Array(Uint32Array.of(first!, second!).buffer))}`
      lists[key] = [...(lists[key] ?? []), ordinal!]
    }
  return lists
}

export function readMappings(view: ReadView) {
  return view.list('tokenMappings', everything).map(({ value }) => {
    const { originTokenAddress, wrappedTokenAddress, metadataId, tokenType, isNotMintable, ...row } =
      decodeTokenMappingRow(value)
    return {
      ...{ ...row, transactionHash: toHex(row.transactionHash) },
      originTokenAddress: toHex(originTokenAddress.bytes),
      wrappedTokenAddress: toHex(wrappedTokenAddress.bytes),
    }
  })
}
