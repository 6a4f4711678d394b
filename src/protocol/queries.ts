import type { Address } from './chainEvent.js'
import type { DepositCount, L1InfoTreeIndex, NetworkId } from './units.js'

/** Typed queries: what `api/parseQuery` makes of a query string and `shard/queries` answers. Plain data, crosses threads. */
export interface BridgesQuery {
  readonly networkId: NetworkId
  readonly pageNumber: number
  readonly pageSize: number
  readonly depositCount?: DepositCount
  readonly fromAddress?: Address
  /** Destination networks, without repeats. */
  readonly networkIds?: readonly NetworkId[]
  readonly readyForClaim?: boolean
}

export interface ClaimsQuery {
  readonly networkId: NetworkId
  readonly pageNumber: number
  readonly pageSize: number
  readonly fromAddress?: Address
}

export interface ClaimProofQuery {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
  readonly leafIndex: L1InfoTreeIndex
}

export interface L1InfoTreeIndexQuery {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
}

export interface TokenMappingsQuery {
  readonly networkId?: NetworkId
  readonly pageNumber: number
  readonly pageSize: number
  readonly tokenAddress?: Address
  readonly tokenNetwork?: NetworkId
}

export interface ClaimTransactionQuery {
  readonly networkId: NetworkId
  readonly depositCount: DepositCount
  readonly leafIndex?: L1InfoTreeIndex
}

/** Operation id → its query. The operation id is the key everywhere: routes, pool messages, metrics, tests. */
export interface QueryByOperation {
  readonly getBridges: BridgesQuery
  readonly getClaims: ClaimsQuery
  readonly getClaimProof: ClaimProofQuery
  readonly getL1InfoTreeIndex: L1InfoTreeIndexQuery
  readonly getTokenMappings: TokenMappingsQuery
  readonly getClaimTransaction: ClaimTransactionQuery
}

export type OperationId = keyof QueryByOperation
