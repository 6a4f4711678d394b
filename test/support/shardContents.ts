import { readUint32BigEndian } from '../../src/protocol/abiBytes.js'
import { entriesOfKind } from '../../src/shard/snapshot/hashRuns.js'
import { readUint256 } from '../../src/store/layout/bytes.js'
import {
  CLAIM_BYTES,
  CLAIM_HASH_BYTES,
  CLAIM_LINK_BYTES,
  decodeClaimLink,
  decodeClaimRow,
} from '../../src/store/layout/claimRow.js'
import { DEPOSIT_BYTES, decodeDepositRow } from '../../src/store/layout/depositRow.js'
import { chunkKey, listChunkKey, metaKey, uint32Key } from '../../src/store/layout/keys.js'
import { decodeListChunk, decodeListTail, listLength } from '../../src/store/layout/listEntry.js'
import { decodeCounters } from '../../src/store/layout/metaValues.js'
import { decodeSenderRow, SENDER_BYTES } from '../../src/store/layout/senderRow.js'
import { decodeTokenEntry } from '../../src/store/layout/smallRows.js'
import {
  CLAIM_HASHES_PER_CHUNK,
  CLAIM_LINKS_PER_CHUNK,
  CLAIMS_PER_CHUNK,
  DEPOSITS_PER_CHUNK,
  hashKinds,
  type ListKind,
  listKinds,
  SENDERS_PER_CHUNK,
  type TableName,
} from '../../src/store/layout/tables.js'
import { decodeTokenMappingRow } from '../../src/store/layout/tokenMappingRow.js'
import type { ReadView } from '../../src/store/shardStore.types.js'

/** The content of a shard in the words of `ShardModel`: decoded rows. */
export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

const everything = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }

export function readCounters(view: ReadView) {
  return decodeCounters(view.get('meta', metaKey('counters')))
}

function row(view: ReadView, table: TableName, ordinal: number, perChunk: number, bytes: number): Uint8Array {
  const chunk = view.get(table, chunkKey(ordinal, perChunk))
  const at = bytes * (ordinal % perChunk)
  if (chunk === undefined || chunk.length < at + bytes) throw new Error(`${table} lacks row ${ordinal}`)
  return chunk.slice(at, at + bytes)
}

const claimHash = (view: ReadView, ordinal: number) =>
  row(view, 'claimHashes', ordinal, CLAIM_HASHES_PER_CHUNK, CLAIM_HASH_BYTES)

function readSender(view: ReadView, table: TableName, ordinal: number) {
  const sender = decodeSenderRow(row(view, table, ordinal, SENDERS_PER_CHUNK, SENDER_BYTES), 0)
  if (sender === undefined) return null
  const { caller, transactionSender } = sender
  return { caller: hex(caller.bytes), transactionSender: hex(transactionSender.bytes) }
}

export function readDeposits(view: ReadView) {
  return Array.from({ length: readCounters(view).deposits }, (_, depositCount) => {
    const deposit = decodeDepositRow(
      row(view, 'deposits', depositCount, DEPOSITS_PER_CHUNK, DEPOSIT_BYTES),
      0,
    )
    const token = decodeTokenEntry(view.get('tokens', uint32Key(deposit.tokenId))!.slice())
    return {
      leafType: deposit.leafType,
      originNetwork: token.network as number,
      originAddress: hex(token.address.bytes),
      destinationNetwork: deposit.destinationNetwork as number,
      destinationAddress: hex(deposit.destinationAddress.bytes),
      amount: readUint256(deposit.amount, 0),
      metadata: hex(view.get('metadata', uint32Key(deposit.metadataId))!),
      transactionHash: hex(deposit.transactionHash),
      blockNumber: deposit.blockNumber as number,
      logIndex: deposit.logIndex,
      isForwardLeaf: deposit.isForwardLeaf,
      sender: readSender(view, 'depositSenders', depositCount),
    }
  })
}

export function readClaims(view: ReadView) {
  return Array.from({ length: readCounters(view).claims }, (_, ordinal) => {
    const claim = decodeClaimRow(row(view, 'claims', ordinal, CLAIMS_PER_CHUNK, CLAIM_BYTES), 0)
    return {
      sourceNetwork: claim.sourceNetwork as number,
      depositCount: claim.depositCount as number,
      transactionHash: hex(claimHash(view, ordinal)),
      blockNumber: claim.blockNumber as number,
      logIndex: claim.logIndex,
      isSetByAdministrator: claim.isSetByAdministrator,
      destinationAddress: claim.isSetByAdministrator ? null : hex(claim.destinationAddress.bytes),
      amount: readUint256(claim.amount, 0),
      sender: readSender(view, 'claimSenders', ordinal),
      isInForce: view.get('claimsOutOfForce', uint32Key(ordinal)) === undefined,
    }
  })
}

/** `source:deposit count` → claim ordinal and hash, of all claims in force. */
export function readClaimLinks(view: ReadView): Record<string, string> {
  const links: Record<string, string> = {}
  for (const { key, value } of view.list('claimLinks', everything))
    for (let slot = 0; slot < CLAIM_LINKS_PER_CHUNK; slot++) {
      const link = decodeClaimLink(value, CLAIM_LINK_BYTES * slot)
      if (link === undefined) continue
      const depositCount = CLAIM_LINKS_PER_CHUNK * readUint32BigEndian(key, 4) + slot
      links[`${readUint32BigEndian(key, 0)}:${depositCount}`] = `${link} ${hex(claimHash(view, link))}`
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
    const mapping = decodeTokenMappingRow(value)
    return {
      origin: `${mapping.originNetwork}:${hex(mapping.originTokenAddress.bytes)}`,
      wrapped: hex(mapping.wrappedTokenAddress.bytes),
      isCurrent: mapping.isCurrent,
      isRemoved: mapping.isRemoved,
    }
  })
}
