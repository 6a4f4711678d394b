import { type Answer, success } from '../../errors/answers.js'
import type { TokenMappingsQuery } from '../../protocol/queries.js'
import type { Page, TokenMappingRecord } from '../../protocol/records.js'
import type { NetworkId } from '../../protocol/units.js'
import { tokenKey } from '../../store/codecs/keys.js'
import { listKinds } from '../../store/tables.js'
import type { ShardReaders } from '../reader.js'
import { networkNotServed } from '../refusals.js'
import type { ShardView } from '../shardView.js'

/** Mappings of one network that match, oldest first. */
interface Matches {
  readonly view: ShardView
  readonly ordinals: readonly number[]
  readonly timestampsSec: readonly number[]
}

/** Wrapped tokens of one network or of all, newest first: by block time, then network, then position in its chain. */
export function getTokenMappings(
  shards: ShardReaders,
  query: TokenMappingsQuery,
): Answer<Page<TokenMappingRecord>> {
  const { networkId, pageNumber, pageSize } = query
  if (networkId !== undefined && shards.find(networkId) === undefined) return networkNotServed(networkId)
  const served = networkId === undefined ? shards.networkIds : [networkId]
  const matches = served.map((id) => matchesOf(shards, shards.find(id)!, query))
  return success({
    rows: newestRows(matches, (pageNumber - 1) * pageSize, pageSize),
    page: pageNumber,
    limit: pageSize,
    total: matches.reduce((sum, { ordinals }) => sum + ordinals.length, 0),
  })
}

function matchesOf(
  shards: ShardReaders,
  view: ShardView,
  { tokenAddress, tokenNetwork }: TokenMappingsQuery,
): Matches {
  const { originNetworks, timestampsSec } = shards.tokenMappings.of(view)
  let ordinals: number[]
  if (tokenAddress === undefined) ordinals = originNetworks.map((_, ordinal) => ordinal)
  else {
    // The address may be that of the wrapped token, or of the token at home on any network.
    const lists = [view.list(listKinds.mappingsByWrappedToken, tokenAddress)]
    for (const home of tokenNetwork === undefined ? new Set(originNetworks) : [tokenNetwork])
      lists.push(view.list(listKinds.mappingsByOriginToken, tokenKey(home as NetworkId, tokenAddress)))
    const found = new Set<number>()
    for (const list of lists)
      for (let position = 0; position < list.length; position++) found.add(list.at(position))
    ordinals = [...found].sort((left, right) => left - right)
  }
  if (tokenNetwork !== undefined)
    ordinals = ordinals.filter((ordinal) => originNetworks[ordinal] === tokenNetwork)
  return { view, ordinals, timestampsSec }
}

/** Merges from the newest end: there are few networks, and pages far back are rare. */
function newestRows(matches: readonly Matches[], skip: number, limit: number): TokenMappingRecord[] {
  const ends = matches.map(({ ordinals }) => ordinals.length)
  const rows: TokenMappingRecord[] = []
  for (let passed = 0; rows.length < limit; passed++) {
    let newest = -1
    let newestAt = -1
    for (let at = 0; at < matches.length; at++) {
      const { view, ordinals, timestampsSec } = matches[at]!
      if (ends[at] === 0) continue
      const timestampSec = timestampsSec[ordinals[ends[at]! - 1]!]!
      const isLater =
        timestampSec > newest ||
        (timestampSec === newest && view.networkId > matches[newestAt]!.view.networkId)
      if (isLater) {
        newest = timestampSec
        newestAt = at
      }
    }
    if (newestAt < 0) break
    const { view, ordinals } = matches[newestAt]!
    ends[newestAt]!--
    if (passed >= skip) rows.push(mappingRow(view, ordinals[ends[newestAt]!]!))
  }
  return rows
}

function mappingRow(view: ShardView, ordinal: number): TokenMappingRecord {
  const row = view.getTokenMapping(ordinal)
  return {
    transactionHash: row.transactionHash,
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    timestampSec: row.timestampSec,
    originNetwork: row.originNetwork,
    originTokenAddress: row.originTokenAddress,
    wrappedNetwork: view.networkId,
    wrappedTokenAddress: row.wrappedTokenAddress,
    metadata: view.dictionary.getMetadata(row.metadataId),
    isNotMintable: row.isNotMintable,
    tokenType: row.tokenType,
    isCurrent: row.isCurrent,
  }
}
