import type { BridgesQuery } from '../../protocol/queries.js'
import type { NetworkId } from '../../protocol/units.js'
import { uint32Key } from '../../store/codecs/keys.js'
import { listKinds } from '../../store/tables.js'
import { BitSet } from '../bitSet.js'
import { listHas, newestOf, type OrdinalList, singleOrdinal, wholeRange } from '../ordinalList.js'
import type { ShardReaders } from '../reader.js'
import type { ShardView } from '../shardView.js'
import { isReady } from './bridgeRow.js'

/** Which deposits a page shows, newest first, and how many there are in all. */
export interface Selection {
  readonly depositCounts: readonly number[]
  readonly total: number
}

/** Above this many candidates, destinations and readiness are looked up in sets instead of row by row. */
const ROWS_WORTH_READING = 256

const NOTHING = new BitSet()

/**
 * Answers the filters from lists and sets: whole lists where one filter names them, merged lists for several destinations, words of
 * bits for readiness. Only the deposits of one sender are gone through one by one, to check the other filters.
 */
export function selectBridges(shards: ShardReaders, source: ShardView, query: BridgesQuery): Selection {
  const { depositCount, fromAddress, networkIds, readyForClaim } = query
  const skip = (query.pageNumber - 1) * query.pageSize
  const limit = query.pageSize
  if (depositCount !== undefined || fromAddress !== undefined) {
    const list = candidates(source, query)
    return networkIds === undefined && readyForClaim === undefined
      ? { depositCounts: newestOf([list], skip, limit), total: list.length }
      : selectAmong(list, matcher(shards, source, query, list.length), skip, limit)
  }
  if (readyForClaim === undefined) {
    const lists = networkIds?.map((id) => listToNetwork(source, id)) ?? [wholeRange(source.deposits.count)]
    return {
      depositCounts: newestOf(lists, skip, limit),
      total: lists.reduce((sum, list) => sum + list.length, 0),
    }
  }
  const ready = shards.readySets.ready(source)
  const notReady = shards.readySets.notReady(source)
  const wanted = readyForClaim ? ready : notReady
  if (networkIds === undefined)
    return { depositCounts: wanted.members.listDescending(skip, limit), total: wanted.count }
  const set = new BitSet()
  const unwanted = readyForClaim ? notReady : ready
  set.addDifference(setToNetworks(shards, source, networkIds), unwanted.members, source.deposits.count)
  return { depositCounts: set.listDescending(skip, limit), total: set.count() }
}

/** What the narrowest filter leaves: one deposit, or those of one sender. */
function candidates(source: ShardView, { depositCount, fromAddress }: BridgesQuery): OrdinalList {
  const bySender =
    fromAddress === undefined ? undefined : source.list(listKinds.depositsBySender, fromAddress)
  if (depositCount === undefined) return bySender ?? wholeRange(0)
  const isThere =
    depositCount < source.deposits.count && (bySender === undefined || listHas(bySender, depositCount))
  return isThere ? singleOrdinal(depositCount) : wholeRange(0)
}

/** The filters on destination and readiness as one test. */
function matcher(
  shards: ShardReaders,
  source: ShardView,
  { networkIds, readyForClaim }: BridgesQuery,
  tests: number,
): (depositCount: number) => boolean {
  const isMany = tests > ROWS_WORTH_READING
  const destinations =
    isMany && networkIds !== undefined ? setToNetworks(shards, source, networkIds) : undefined
  const ready = isMany && readyForClaim !== undefined ? shards.readySets.ready(source).members : undefined
  return (depositCount) =>
    (networkIds === undefined ||
      (destinations?.has(depositCount) ??
        networkIds.includes(source.deposits.getDestinationNetwork(depositCount)))) &&
    (readyForClaim === undefined ||
      (ready?.has(depositCount) ?? isReady(shards, source, depositCount)) === readyForClaim)
}

function selectAmong(
  list: OrdinalList,
  matches: (depositCount: number) => boolean,
  skip: number,
  limit: number,
): Selection {
  const depositCounts: number[] = []
  let total = 0
  for (let position = list.length - 1; position >= 0; position--) {
    const depositCount = list.at(position)
    if (!matches(depositCount)) continue
    if (total >= skip && depositCounts.length < limit) depositCounts.push(depositCount)
    total++
  }
  return { depositCounts, total }
}

function listToNetwork(source: ShardView, networkId: NetworkId): OrdinalList {
  return source.list(listKinds.depositsByDestinationNetwork, uint32Key(networkId))
}

/** Deposits to any of the networks. Those to networks indexed here are kept as sets; to others there are few. */
function setToNetworks(shards: ShardReaders, source: ShardView, networkIds: readonly NetworkId[]): BitSet {
  const union = new BitSet()
  for (const networkId of networkIds) {
    const members = shards.readySets.findDestination(source, networkId)
    if (members !== undefined) {
      union.addDifference(members, NOTHING, source.deposits.count)
      continue
    }
    const list = listToNetwork(source, networkId)
    for (let position = 0; position < list.length; position++) union.add(list.at(position))
  }
  return union
}
