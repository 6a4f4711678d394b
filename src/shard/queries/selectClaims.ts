import { equalBytes } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { decodeGlobalIndex, decodeV1Index, type GlobalIndexParts } from '../../protocol/globalIndex.js'
import type { ClaimsQuery } from '../../query/queries.js'
import { readUint256 } from '../../store/layout/bytes.js'
import { latin1, uint32Key } from '../../store/layout/keys.js'
import { listKinds } from '../../store/layout/tables.js'
import { type Bits, listOfBits } from '../sets/bits.js'
import { unionOf, without } from '../sets/listAlgebra.js'
import { type IndexedList, listHas, listOf, type OrdinalList, wholeRange } from '../sets/ordinalList.js'
import { SignedBits } from '../sets/signedBits.js'
import type { ShardView } from '../snapshot/shardView.js'
import { isInAll } from './filteredSet.js'
import type { ShardReaders } from './shardReaders.js'

/** The claims in force that match all filters. */
export function selectClaims(shards: ShardReaders, view: ShardView, query: ClaimsQuery): OrdinalList {
  const stored = selectStored(shards, view, query)
  const matching =
    query.toAddress === undefined ? stored : unionOf([stored, listOf(selectSetClaims(shards, view, query))])
  return without(matching, shards.unlistedClaims.of(view))
}

/** Claims that match according to the stored lists, in force or not. Lists by destination address lack set claims. */
function selectStored(shards: ShardReaders, view: ShardView, query: ClaimsQuery): OrdinalList {
  const { networkIds } = query
  const lists = namedLists(view, query)
  if (query.toAddress !== undefined)
    lists.push(view.list(listKinds.claimsByDestinationAddress, query.toAddress))
  lists.sort((left, right) => left.length - right.length)
  const [driver, ...others] = lists
  if (driver === undefined)
    return networkIds === undefined
      ? wholeRange(view.claims.count)
      : unionOf(networkIds.map((id) => view.list(listKinds.claimsBySourceNetwork, uint32Key(id))))
  if (others.length === 0 && networkIds === undefined) return driver
  if (driver.length <= shards.thresholds.rowsWorthReading)
    return listOf(
      driver.slice(0, driver.length).filter((ordinal) => rowMatches(view, query, others, ordinal)),
    )
  const parts = { driver, lists: others, sets: sourceSets(shards, view, query) }
  if (driver.length <= shards.thresholds.worthKeeping)
    return listOf(driver.slice(0, driver.length).filter((ordinal) => isInAll(ordinal, parts)))
  const { state } = view
  // A correction inserts rows into the middle of a sender's list. The number of corrections in the key makes older sets void.
  const corrections = query.fromAddress === undefined ? '' : state.senderCorrections
  const kept = shards.filteredSets.find(
    `claims ${corrections} ${keyOf(onlyClaimed(shards, view, query))}`,
    parts,
    {
      epoch: state.epoch,
      untouchedSince: (epoch) => state.untouchedSince(epoch).claims,
      fixedBelow:
        query.fromAddress !== undefined && state.resolvedClaimSenders < view.claims.count
          ? state.resolvedClaimSenders
          : Number.POSITIVE_INFINITY,
    },
  )
  return listOfBits(kept.bits)
}

/** Matching claims that an administrator set for deposits to the address: SetClaim has no address, its deposit has. */
function selectSetClaims(shards: ShardReaders, view: ShardView, query: ClaimsQuery): number[] {
  const lists = namedLists(view, query)
  return shards.unlistedClaims
    .setClaimsTo(view, query.toAddress!)
    .filter((ordinal) => rowMatches(view, query, lists, ordinal))
}

/** A list for each filter whose list has every claim, set ones included. */
function namedLists(view: ShardView, query: ClaimsQuery): IndexedList[] {
  const { fromAddress, transactionHash, globalIndex } = query
  const lists: IndexedList[] = []
  if (fromAddress !== undefined) lists.push(view.claims.senders.by(fromAddress))
  if (transactionHash !== undefined) lists.push(claimsOfTransaction(view, transactionHash))
  if (globalIndex !== undefined) lists.push(listOf(claimsOfIndex(view, readUint256(globalIndex, 0))))
  return lists
}

function claimsOfTransaction(view: ShardView, transactionHash: Hash): IndexedList {
  return listOf(
    view
      .claimsOfTransaction(transactionHash)
      .filter((ordinal) => equalBytes(view.claims.getTransactionHash(ordinal), transactionHash)),
  )
}

/**
 * Claims in force that a global index names: that of the deposit that it decodes to, and, if it may be a V1 index (before etrog: the
 * deposit count alone), that of the V1 claim with this index. At most two.
 */
function claimsOfIndex(view: ShardView, globalIndex: bigint): number[] {
  const found = new Set<number>()
  const claimed = decodeGlobalIndex(globalIndex)
  const claim = view.claims.findOf(claimed.sourceNetwork, claimed.depositCount)
  if (claim !== undefined) found.add(claim)
  if (globalIndex <= 0xffff_ffffn) {
    const v1 = decodeV1Index(globalIndex, view.networkId)
    const v1Claim = view.claims.findOf(v1.sourceNetwork, v1.depositCount)
    if (v1Claim !== undefined && isV1Claim(view, v1Claim)) found.add(v1Claim)
  }
  return [...found].sort((left, right) => left - right)
}

/** Whether a claim was made before etrog: only then its global index decodes to another deposit than the claimed one. */
function isV1Claim(view: ShardView, ordinal: number): boolean {
  const claim = view.claims.get(ordinal)
  const decoded: GlobalIndexParts = decodeGlobalIndex(readUint256(claim.globalIndex, 0))
  return decoded.sourceNetwork !== claim.sourceNetwork || decoded.depositCount !== claim.depositCount
}

function sourceSets(shards: ShardReaders, view: ShardView, { networkIds }: ClaimsQuery): Bits[] {
  if (networkIds === undefined) return []
  const parts = networkIds.map((id) => ({
    bits: shards.claimsBySource(view).get(view, id),
    sign: 1 as const,
    below: Number.POSITIVE_INFINITY,
  }))
  return [new SignedBits(parts)]
}

function rowMatches(
  view: ShardView,
  { networkIds }: ClaimsQuery,
  lists: readonly IndexedList[],
  ordinal: number,
): boolean {
  return (
    (networkIds === undefined || networkIds.includes(view.claims.get(ordinal).sourceNetwork)) &&
    lists.every((list) => listHas(list, ordinal))
  )
}

/** Leaves out networks without claims here: else a client could have a set made for each number that it makes up. */
function onlyClaimed(shards: ShardReaders, view: ShardView, query: ClaimsQuery): ClaimsQuery {
  const { networkIds } = query
  if (networkIds === undefined) return query
  const bySource = shards.claimsBySource(view)
  return { ...query, networkIds: networkIds.filter((networkId) => bySource.get(view, networkId).length > 0) }
}

/** Equal for equal filters on the same network. */
function keyOf(query: ClaimsQuery): string {
  const { networkId, networkIds, fromAddress, toAddress, transactionHash, globalIndex } = query
  const bytes = [fromAddress, toAddress, transactionHash, globalIndex]
  // Networks may all have been left out, which is not the same as no filter.
  const networks = networkIds === undefined ? '' : `=${networkIds}`
  return [networkId, networks, ...bytes.map((value) => (value ? `=${latin1(value)}` : ''))].join(';')
}
