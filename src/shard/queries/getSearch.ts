import { equalBytes } from '../../protocol/abiBytes.js'
import type { Address, Hash } from '../../protocol/chainEvent.js'
import { type ChecksumAddress, checksumMask } from '../../protocol/checksumAddress.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import type { SearchQuery } from '../../query/queries.js'
import { MAX_SEARCH_RESULTS, type SearchAnswer, type SearchResult } from '../../query/statusRecords.js'
import type { ShardView } from '../snapshot/shardView.js'
import { getTokenMappings } from './getTokenMappings.js'
import { selectBridges } from './selectBridges.js'
import { selectClaims } from './selectClaims.js'
import type { ShardReaders } from './shardReaders.js'

/** The lists are asked for one row more than is shown, which tells whether there are more. */
const FIRST_PAGE = { pageNumber: 1, pageSize: MAX_SEARCH_RESULTS + 1 }

/** All that a text may mean, on every network that is indexed here: an answer without results is no failure. */
export function getSearch(
  shards: ShardReaders,
  { networkId, depositCount, transactionHash, address }: SearchQuery,
): Answer<SearchAnswer> {
  const results: SearchResult[] = []
  if (transactionHash !== undefined) results.push(...ofTransaction(shards, transactionHash))
  if (networkId !== undefined && depositCount !== undefined)
    results.push(...ofDeposit(shards, networkId, depositCount))
  if (address !== undefined) results.push(...ofAddress(shards, address))
  const isComplete = results.length <= MAX_SEARCH_RESULTS
  return success({ results: isComplete ? results : results.slice(0, MAX_SEARCH_RESULTS), isComplete })
}

function ofTransaction(shards: ShardReaders, transactionHash: Hash): SearchResult[] {
  const results: SearchResult[] = []
  for (const networkId of shards.networkIds) {
    const view = shards.get(networkId)
    const query = { ...FIRST_PAGE, networkId, transactionHash }
    const bridges = selectBridges(shards, view, query)
    for (const depositCount of bridges.slice(0, Math.min(bridges.length, FIRST_PAGE.pageSize)))
      results.push(bridgeResult(view, depositCount as DepositCount))
    const archived = view.deposits.listArchived()
    for (const { depositCount, row } of archived)
      if (equalBytes(row.transactionHash, transactionHash))
        results.push(archivedResult(networkId, depositCount, transactionHash))
    const claims = selectClaims(shards, view, query)
    for (const ordinal of claims.slice(0, Math.min(claims.length, FIRST_PAGE.pageSize)))
      results.push(claimResult(view, ordinal))
    if (results.length > MAX_SEARCH_RESULTS) break
  }
  return results
}

function ofDeposit(shards: ShardReaders, networkId: NetworkId, depositCount: DepositCount): SearchResult[] {
  const source = shards.find(networkId)
  if (source === undefined) return []
  const results: SearchResult[] = []
  const row = source.deposits.find(depositCount)
  if (row !== undefined) results.push(bridgeResult(source, depositCount))
  for (const { row } of source.deposits.archivedAt(depositCount))
    results.push(archivedResult(networkId, depositCount, row.transactionHash))
  // A claim may be indexed before its deposit, and that of an archived one on another network.
  for (const claimedOn of shards.networkIds) {
    const view = shards.get(claimedOn)
    const claim = view.claims.findOf(networkId, depositCount)
    if (claim !== undefined) results.push(claimResult(view, claim))
  }
  return results
}

function ofAddress(shards: ShardReaders, bytes: Address): SearchResult[] {
  const address: ChecksumAddress = {
    bytes,
    checksumMask: checksumMask(bytes, (text) => shards.hasher.hash(text)),
  }
  const accounts = shards.networkIds.flatMap((networkId): SearchResult[] => {
    const view = shards.get(networkId)
    const query = { ...FIRST_PAGE, networkId }
    const bridgesSent = selectBridges(shards, view, { ...query, fromAddress: bytes }).length
    const bridgesReceived = selectBridges(shards, view, { ...query, toAddress: bytes }).length
    const claimsMade = selectClaims(shards, view, { ...query, fromAddress: bytes }).length
    const claimsReceived = selectClaims(shards, view, { ...query, toAddress: bytes }).length
    if (bridgesSent + bridgesReceived + claimsMade + claimsReceived === 0) return []
    const counts = { bridgesSent, bridgesReceived, claimsMade, claimsReceived }
    return [{ ...NOTHING, type: 'address', networkId, address, ...counts }]
  })
  const tokens = getTokenMappings(shards, { ...FIRST_PAGE, tokenAddress: bytes })
  if (!tokens.ok) return accounts
  const mapped = tokens.value.rows.map((row): SearchResult => {
    const { name, symbol, decimals, isCurrent, transactionHash } = row
    return {
      ...NOTHING,
      type: 'token',
      networkId: row.wrappedNetwork,
      transactionHash,
      address: row.wrappedTokenAddress,
      tokenNetwork: row.originNetwork,
      tokenAddress: row.originTokenAddress,
      ...{ name, symbol, decimals, isCurrent },
    }
  })
  return [...accounts, ...mapped]
}

/** The fields that a result may lack. */
const NOTHING = {
  sourceNetwork: undefined,
  depositCount: undefined,
  transactionHash: undefined,
  address: undefined,
  bridgesSent: undefined,
  bridgesReceived: undefined,
  claimsMade: undefined,
  claimsReceived: undefined,
  tokenNetwork: undefined,
  tokenAddress: undefined,
  name: undefined,
  symbol: undefined,
  decimals: undefined,
  isCurrent: undefined,
} as const satisfies Omit<SearchResult, 'type' | 'networkId'>

function bridgeResult({ networkId, deposits }: ShardView, depositCount: DepositCount): SearchResult {
  const { transactionHash } = deposits.get(depositCount)
  return {
    ...NOTHING,
    type: 'bridge',
    networkId,
    sourceNetwork: networkId,
    depositCount,
    transactionHash,
  }
}

function archivedResult(
  networkId: NetworkId,
  depositCount: DepositCount,
  transactionHash: Hash,
): SearchResult {
  return {
    ...NOTHING,
    type: 'archived_bridge',
    networkId,
    sourceNetwork: networkId,
    depositCount,
    transactionHash,
  }
}

function claimResult({ networkId, claims }: ShardView, ordinal: number): SearchResult {
  const { sourceNetwork, depositCount } = claims.get(ordinal)
  const transactionHash = claims.getTransactionHash(ordinal)
  return { ...NOTHING, type: 'claim', networkId, sourceNetwork, depositCount, transactionHash }
}
