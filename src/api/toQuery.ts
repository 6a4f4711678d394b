import type { Static } from '@sinclair/typebox'
import { decodeCursor } from '../protocol/cursor.js'
import { decodeHex } from '../protocol/hex.js'
import type {
  BridgesQuery,
  ClaimProofQuery,
  ClaimsQuery,
  ClaimTransactionQuery,
  L1InfoTreeIndexQuery,
  Paging,
  TokenMappingsQuery,
} from '../protocol/queries.js'
import { asBlockNumber, asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../protocol/units.js'
import type {
  BridgesParameters,
  ClaimProofParameters,
  ClaimsParameters,
  ClaimTransactionParameters,
  L1InfoTreeIndexParameters,
  TokenMappingsParameters,
} from './querySchemas.js'

/** Wire parameters → typed queries: the only place where both sets of names stand side by side. */

export function toBridgesQuery(wire: Static<typeof BridgesParameters>): BridgesQuery {
  return {
    networkId: asNetworkId(wire.network_id),
    ...toPaging(wire),
    ...(wire.deposit_count && { depositCounts: wire.deposit_count.map(asDepositCount) }),
    ...(wire.from_address && { fromAddress: toBytes(wire.from_address) }),
    ...(wire.to_address && { toAddress: toBytes(wire.to_address) }),
    ...(wire.tx_hash && { transactionHash: toBytes(wire.tx_hash) }),
    ...(wire.network_ids && { networkIds: wire.network_ids.map(asNetworkId) }),
    ...(wire.leaf_type === undefined ? {} : { leafType: wire.leaf_type }),
    ...(wire.claimed === undefined ? {} : { claimed: wire.claimed }),
    ...(wire.ready_for_claim === undefined ? {} : { readyForClaim: wire.ready_for_claim }),
    ...(wire.from_block === undefined ? {} : { fromBlock: asBlockNumber(wire.from_block) }),
    ...(wire.to_block === undefined ? {} : { toBlock: asBlockNumber(wire.to_block) }),
    ...(wire.from_timestamp === undefined ? {} : { fromTimestampSec: wire.from_timestamp }),
    ...(wire.to_timestamp === undefined ? {} : { toTimestampSec: wire.to_timestamp }),
  }
}

export function toClaimsQuery(wire: Static<typeof ClaimsParameters>): ClaimsQuery {
  return {
    networkId: asNetworkId(wire.network_id),
    ...toPaging(wire),
    ...(wire.from_address && { fromAddress: toBytes(wire.from_address) }),
    ...(wire.to_address && { toAddress: toBytes(wire.to_address) }),
    ...(wire.tx_hash && { transactionHash: toBytes(wire.tx_hash) }),
    ...(wire.network_ids && { networkIds: wire.network_ids.map(asNetworkId) }),
    ...(wire.global_index && { globalIndex: toUint256(wire.global_index) }),
  }
}

export function toClaimProofQuery(wire: Static<typeof ClaimProofParameters>): ClaimProofQuery {
  return {
    networkId: asNetworkId(wire.network_id),
    depositCount: asDepositCount(wire.deposit_count),
    leafIndex: asL1InfoTreeIndex(wire.leaf_index),
  }
}

export function toL1InfoTreeIndexQuery(wire: Static<typeof L1InfoTreeIndexParameters>): L1InfoTreeIndexQuery {
  return { networkId: asNetworkId(wire.network_id), depositCount: asDepositCount(wire.deposit_count) }
}

export function toTokenMappingsQuery(wire: Static<typeof TokenMappingsParameters>): TokenMappingsQuery {
  return {
    ...(wire.network_id === undefined ? {} : { networkId: asNetworkId(wire.network_id) }),
    ...toPaging(wire),
    ...(wire.token_address && { tokenAddress: toBytes(wire.token_address) }),
    ...(wire.token_network === undefined ? {} : { tokenNetwork: asNetworkId(wire.token_network) }),
  }
}

export function toClaimTransactionQuery(
  wire: Static<typeof ClaimTransactionParameters>,
): ClaimTransactionQuery {
  return {
    networkId: asNetworkId(wire.network_id),
    depositCount: asDepositCount(wire.deposit_count),
    ...(wire.leaf_index === undefined ? {} : { leafIndex: asL1InfoTreeIndex(wire.leaf_index) }),
  }
}

interface PagingWire {
  readonly page_number: number
  readonly page_size: number
  readonly order?: string
  readonly cursor?: string
}

/** The order need not be said again beside a cursor: it stands in there. */
function toPaging(wire: PagingWire): Paging {
  const cursor = wire.cursor === undefined ? undefined : new Uint8Array(Buffer.from(wire.cursor, 'base64url'))
  const isAscending =
    wire.order === 'asc' || (cursor !== undefined && decodeCursor(cursor)?.isAscending === true)
  return {
    pageNumber: wire.page_number,
    pageSize: wire.page_size,
    ...(isAscending ? { isAscending } : {}),
    ...(cursor && { cursor }),
  }
}

/** @param text 0x and an even number of hex digits, checked by the schema. @returns fresh bytes. */
function toBytes(text: string): Uint8Array {
  return decodeHex(text)!
}

/** @param text decimal or 0x, below 2^256: `checkClaims` sees to that. @returns 32 bytes, fresh. */
function toUint256(text: string): Uint8Array {
  return decodeHex(`0x${BigInt(text).toString(16).padStart(64, '0').slice(-64)}`)!
}
