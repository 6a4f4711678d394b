import { equalBytes } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import type { BridgesQuery } from '../../query/queries.js'
import { latin1, uint32Key } from '../../store/layout/keys.js'
import { listKinds } from '../../store/layout/tables.js'
import type { DepositSets, StateFilter } from '../readiness/depositSets.js'
import { allBelow, type Bits, listOfBits } from '../sets/bits.js'
import { type IndexedList, listHas, listOf, type OrdinalList, wholeRange } from '../sets/ordinalList.js'
import { SignedBits, type SignedPart } from '../sets/signedBits.js'
import type { ShardView } from '../snapshot/shardView.js'
import { isClaimed, isReady } from './bridgeRecord.js'
import { type FilterParts, isInAll } from './filteredSet.js'
import type { ShardReaders } from './shardReaders.js'

const ASSET = 0

/** The deposits of a network that match all filters except those by block and time. Reads no more than a page needs. */
export function selectBridges(shards: ShardReaders, source: ShardView, query: BridgesQuery): OrdinalList {
  const lists = namedLists(source, query)
  const [shortest] = lists
  if (shortest === undefined) return selectAmongAll(shards, source, query)
  if (lists.length === 1 && !hasSetFilter(query)) return shortest
  const others = lists.slice(1)
  if (shortest.length <= shards.thresholds.worthKeeping)
    return listOf(selectFew(shards, source, query, shortest, others))
  const sets = shards.depositSets(source)
  const parts = { driver: shortest, lists: others, sets: fixedSets(sets, source, query) }
  return listOfBits(keptSet(shards, source, query, parts))
}

/** A list for each filter that names deposits one by one or that has a stored list; shortest first. */
function namedLists(source: ShardView, query: BridgesQuery): IndexedList[] {
  const { depositCounts, fromAddress, toAddress, transactionHash, leafHash } = query
  const lists: IndexedList[] = []
  if (depositCounts !== undefined) lists.push(listOf(onlyStored(source, depositCounts)))
  if (fromAddress !== undefined) lists.push(source.deposits.senders.by(fromAddress))
  if (toAddress !== undefined) lists.push(source.list(listKinds.depositsByDestinationAddress, toAddress))
  if (transactionHash !== undefined) lists.push(depositsOfTransaction(source, transactionHash))
  if (leafHash !== undefined) lists.push(depositsOfLeaf(source, leafHash))
  return lists.length < 2 ? lists : lists.sort((left, right) => left.length - right.length)
}

/** Leaves out deposits that are not stored. @param depositCounts one or more, ascending. */
function onlyStored({ deposits }: ShardView, depositCounts: readonly number[]): readonly number[] {
  const { count } = deposits
  return depositCounts.at(-1)! < count
    ? depositCounts
    : depositCounts.filter((depositCount) => depositCount < count)
}

function depositsOfTransaction(source: ShardView, transactionHash: Hash): IndexedList {
  return listOf(
    source
      .depositsOfTransaction(transactionHash)
      .filter((depositCount) =>
        equalBytes(source.deposits.get(depositCount).transactionHash, transactionHash),
      ),
  )
}

function depositsOfLeaf(source: ShardView, leafHash: Hash): IndexedList {
  return listOf(
    source
      .depositsOfLeaf(leafHash)
      .filter((depositCount) => equalBytes(source.exitTree.getLeaf(depositCount), leafHash)),
  )
}

function hasSetFilter({ networkIds, leafType, claimed, readyForClaim }: BridgesQuery): boolean {
  return (
    networkIds !== undefined || leafType !== undefined || claimed !== undefined || readyForClaim !== undefined
  )
}

function stateOf({ claimed, readyForClaim }: BridgesQuery): StateFilter | undefined {
  if (claimed === undefined && readyForClaim === undefined) return undefined
  return {
    ...(claimed === undefined ? {} : { claimed }),
    ...(readyForClaim === undefined ? {} : { ready: readyForClaim }),
  }
}

/** The answer when no filter has a list: an expression over sets. */
function selectAmongAll(shards: ShardReaders, source: ShardView, query: BridgesQuery): OrdinalList {
  const { networkIds, leafType } = query
  const state = stateOf(query)
  if (state === undefined) {
    if (networkIds === undefined) {
      if (leafType === undefined) return wholeRange(source.deposits.count)
      if (leafType !== ASSET) return listOfType(source, leafType)
    } else if (networkIds.length === 1 && leafType === undefined)
      return source.list(listKinds.depositsByDestinationNetwork, uint32Key(networkIds[0]!))
  }
  const sets = shards.depositSets(source)
  if (leafType === undefined) return listOfBits(ofAnyType(sets, source, networkIds, state))
  if (leafType !== ASSET) return listOfBits(ofType(shards, source, query, leafType))
  // Assets have no list: all deposits that match, less those of the other leaf types, which are few.
  const parts = [part(ofAnyType(sets, source, networkIds, state), 1)]
  for (const other of source.listLeafTypes()) parts.push(part(ofType(shards, source, query, other), -1))
  return listOfBits(new SignedBits(parts))
}

function ofAnyType(
  sets: DepositSets,
  source: ShardView,
  networkIds: readonly NetworkId[] | undefined,
  state: StateFilter | undefined,
): Bits {
  if (state !== undefined) return sets.inState(source, networkIds, state)
  return networkIds === undefined ? allBelow(source.deposits.count) : sets.sentToAny(source, networkIds)
}

function ofType(shards: ShardReaders, source: ShardView, query: BridgesQuery, leafType: number): Bits {
  const { networkIds } = query
  const sets = shards.depositSets(source)
  const driver = listOfType(source, leafType)
  const within = networkIds === undefined ? [] : [sets.sentToAny(source, networkIds)]
  return keptSet(shards, source, { ...query, leafType }, { driver, lists: [], sets: within })
}

function listOfType(source: ShardView, leafType: number): IndexedList {
  return source.list(listKinds.depositsByLeafType, Uint8Array.of(leafType))
}

function part(bits: Bits, sign: 1 | -1): SignedPart {
  return { bits, sign, below: Number.POSITIVE_INFINITY }
}

/** Sets for the filters by destination and leaf type, which only a rewind can change. */
function fixedSets(sets: DepositSets, source: ShardView, { networkIds, leafType }: BridgesQuery): Bits[] {
  const fixed: Bits[] = []
  if (networkIds !== undefined) fixed.push(sets.sentToAny(source, networkIds))
  if (leafType === ASSET)
    fixed.push(
      new SignedBits([
        part(allBelow(source.deposits.count), 1),
        ...source.listLeafTypes().map((other) => part(sets.ofType(source, other), -1)),
      ]),
    )
  else if (leafType !== undefined) fixed.push(sets.ofType(source, leafType))
  return fixed
}

/** The deposits that pass all filters, from the set that is kept for this combination of filters. */
function keptSet(shards: ShardReaders, source: ShardView, asked: BridgesQuery, parts: FilterParts): Bits {
  const sets = shards.depositSets(source)
  const query = onlySentTo(sets, source, asked)
  const { state: snapshot } = source
  // A correction inserts rows into the middle of a sender's list. The number of corrections in the key makes older sets void.
  const corrections = query.fromAddress === undefined ? '' : snapshot.senderCorrections
  const kept = shards.filteredSets.find(`bridges ${corrections} ${keyOf(query)}`, parts, {
    epoch: snapshot.epoch,
    untouchedSince: (epoch) => snapshot.untouchedSince(epoch).deposits,
    fixedBelow:
      query.fromAddress !== undefined && snapshot.resolvedDepositSenders < source.deposits.count
        ? snapshot.resolvedDepositSenders
        : Number.POSITIVE_INFINITY,
  })
  const state = stateOf(query)
  if (state === undefined) return kept.bits
  const bits = sets.inState(source, query.networkIds, state)
  const ready =
    state.ready === undefined
      ? []
      : sets.served(query.networkIds).map((networkId) => sets.ready(source, networkId))
  return kept.inState(`${state.claimed} ${state.ready}`, bits, sets.flips, ready)
}

/** Leaves out networks without deposits: else a client could have a set made for each number that it makes up. */
function onlySentTo(sets: DepositSets, source: ShardView, query: BridgesQuery): BridgesQuery {
  const { networkIds } = query
  if (networkIds === undefined) return query
  return { ...query, networkIds: networkIds.filter((networkId) => sets.sentTo(source, networkId).length > 0) }
}

/** Equal for equal filters on the same network. */
function keyOf(query: BridgesQuery): string {
  const { networkId, depositCounts, networkIds, leafType, fromAddress, toAddress } = query
  const { transactionHash, leafHash } = query
  const bytes = [fromAddress, toAddress, transactionHash, leafHash].map((value) =>
    value ? `=${latin1(value)}` : '',
  )
  // Networks may all have been left out, which is not the same as no filter.
  const networks = networkIds === undefined ? '' : `=${networkIds}`
  return [networkId, depositCounts, networks, leafType, ...bytes].join(';')
}

/** Checks each deposit of a short list. */
function selectFew(
  shards: ShardReaders,
  source: ShardView,
  query: BridgesQuery,
  shortest: IndexedList,
  lists: readonly IndexedList[],
): number[] {
  const candidates = shortest.slice(0, shortest.length)
  if (candidates.length <= shards.thresholds.rowsWorthReading)
    return candidates.filter(
      (depositCount) =>
        lists.every((list) => listHas(list, depositCount)) && rowMatches(shards, source, query, depositCount),
    )
  const sets = shards.depositSets(source)
  const parts = { driver: shortest, lists, sets: fixedSets(sets, source, query) }
  const state = stateOf(query)
  if (state !== undefined) parts.sets.push(sets.inState(source, query.networkIds, state))
  return candidates.filter((depositCount) => isInAll(depositCount, parts))
}

function rowMatches(
  shards: ShardReaders,
  source: ShardView,
  { networkIds, leafType, claimed, readyForClaim }: BridgesQuery,
  depositCount: number,
): boolean {
  return (
    (networkIds === undefined || networkIds.includes(source.deposits.getDestinationNetwork(depositCount))) &&
    (leafType === undefined || source.deposits.getLeafType(depositCount) === leafType) &&
    (claimed === undefined || isClaimed(shards, source, depositCount) === claimed) &&
    (readyForClaim === undefined || isReady(shards, source, depositCount) === readyForClaim)
  )
}
