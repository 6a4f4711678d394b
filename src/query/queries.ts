import type { Address, Hash } from '../protocol/chainEvent.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../protocol/units.js'

/** Typed queries: what `api/parse/parseQuery` makes of a query string and `shard/queries` answers. Plain data, crosses threads. */

/** Most rows in front of a page of all networks: to walk over so many takes a few milliseconds. */
export const MAX_WALKED_ROWS = 10_000

/** Which part of a list is asked for. */
export interface Paging {
  readonly pageNumber: number
  readonly pageSize: number
  /** Rows in front of the page, for services that count rows instead of pages: `pageNumber` does not matter. */
  readonly skipped?: number
  /** Absent: newest first. */
  readonly isAscending?: boolean
  /** Numbers of a `Cursor` that fits order and filters: the page behind it, `pageNumber` does not matter. */
  readonly cursor?: readonly number[]
}

export interface BridgesQuery extends Paging {
  /** Absent: all served networks by time. Ranges of blocks and times, and cursors, are for one network. */
  readonly networkId?: NetworkId
  /** Not beside `networkId`: of the served networks only these. */
  readonly sourceNetworks?: readonly NetworkId[]
  /** Ascending, without repeats. */
  readonly depositCounts?: readonly DepositCount[]
  readonly fromAddress?: Address
  readonly toAddress?: Address
  readonly transactionHash?: Hash
  /** The leaf of the local exit tree. */
  readonly leafHash?: Hash
  /** Destination networks, without repeats. */
  readonly networkIds?: readonly NetworkId[]
  readonly leafType?: number
  readonly claimed?: boolean
  readonly readyForClaim?: boolean
  readonly fromBlock?: BlockNumber
  /** The last one. */
  readonly toBlock?: BlockNumber
  readonly fromTimestampSec?: number
  /** The last one. */
  readonly toTimestampSec?: number
}

export interface ClaimsQuery extends Paging {
  /** As in `BridgesQuery`. */
  readonly networkId?: NetworkId
  readonly fromAddress?: Address
  readonly toAddress?: Address
  readonly transactionHash?: Hash
  /** Source networks, without repeats. */
  readonly networkIds?: readonly NetworkId[]
  /** 32 bytes; names a deposit, whatever the spelling of the claim was. */
  readonly globalIndex?: Uint8Array
}

/** Names the leaf by its index or its root. By neither: the smallest final one that covers the deposit and its destination accepts. */
export interface ClaimProofQuery {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
  readonly leafIndex?: L1InfoTreeIndex
  /** Not beside `leafIndex`. */
  readonly globalExitRoot?: Hash
  /** The metadata of the deposit is told beside the proof. */
  readonly withMetadata?: boolean
}

export interface L1InfoTreeIndexQuery {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
  /** The first final leaf that covers the deposit, whether its destination accepts that one or not. */
  readonly isFirstCovering?: boolean
}

/** The first L1 info leaf from `leafIndex` on that a network accepts; of the L1, the leaf itself. */
export interface InjectedL1InfoLeafQuery {
  readonly networkId: NetworkId
  readonly leafIndex: L1InfoTreeIndex
}

export interface TokenMappingsQuery extends Paging {
  readonly networkId?: NetworkId
  readonly tokenAddress?: Address
  readonly tokenNetwork?: NetworkId
  /** The token on its home network alone; not beside `tokenAddress`. */
  readonly originTokenAddress?: Address
}

export interface ClaimTransactionQuery {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
  readonly leafIndex?: L1InfoTreeIndex
}

/** Names one deposit by `networkId` and `depositCount`, or all of one transaction. */
export interface BridgeStatusQuery {
  /** Any network where `depositCount` is given: global indexes name any. Beside a transaction hash a served one, absent = all. */
  readonly networkId?: NetworkId
  readonly depositCount?: DepositCount
  readonly transactionHash?: Hash
}

/** All that the text of a search may mean: any network and deposit count, a transaction, an address. */
export interface SearchQuery {
  readonly networkId?: NetworkId
  readonly depositCount?: DepositCount
  readonly transactionHash?: Hash
  readonly address?: Address
}

/** Operation id → its query. The operation id is the key everywhere: routes, pool messages, metrics, tests. */
export interface QueryByOperation {
  readonly getBridges: BridgesQuery
  readonly getClaims: ClaimsQuery
  readonly getClaimProof: ClaimProofQuery
  readonly getL1InfoTreeIndex: L1InfoTreeIndexQuery
  readonly getInjectedL1InfoLeaf: InjectedL1InfoLeafQuery
  readonly getTokenMappings: TokenMappingsQuery
  readonly getClaimTransaction: ClaimTransactionQuery
  readonly getBridgeStatus: BridgeStatusQuery
  readonly getSearch: SearchQuery
}

export type OperationId = keyof QueryByOperation

/** The events of a network's feed behind one of them. */
export interface FeedQuery {
  readonly networkId: NetworkId
  /** Sequence of that event; 0 for those from the first on. */
  readonly after: number
  /** Most events of the answer. */
  readonly limit: number
}

/** What the pool is asked: the operations of the API, and what the front asks by itself. */
export interface PoolQueries extends QueryByOperation {
  readonly readFeed: FeedQuery
}

export type PoolOperation = keyof PoolQueries
