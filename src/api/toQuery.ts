import type { Static } from '@sinclair/typebox'
import { decodeHexAt } from '../protocol/hex.js'
import type {
  BridgesQuery,
  ClaimProofQuery,
  ClaimsQuery,
  ClaimTransactionQuery,
  L1InfoTreeIndexQuery,
  TokenMappingsQuery,
} from '../protocol/queries.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../protocol/units.js'
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
    pageNumber: wire.page_number,
    pageSize: wire.page_size,
    ...(wire.deposit_count === undefined ? {} : { depositCount: asDepositCount(wire.deposit_count) }),
    ...(wire.from_address === undefined ? {} : { fromAddress: toAddress(wire.from_address) }),
    ...(wire.network_ids === undefined ? {} : { networkIds: wire.network_ids.map(asNetworkId) }),
    ...(wire.ready_for_claim === undefined ? {} : { readyForClaim: wire.ready_for_claim }),
  }
}

export function toClaimsQuery(wire: Static<typeof ClaimsParameters>): ClaimsQuery {
  return {
    networkId: asNetworkId(wire.network_id),
    pageNumber: wire.page_number,
    pageSize: wire.page_size,
    ...(wire.from_address === undefined ? {} : { fromAddress: toAddress(wire.from_address) }),
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
    pageNumber: wire.page_number,
    pageSize: wire.page_size,
    ...(wire.token_address === undefined ? {} : { tokenAddress: toAddress(wire.token_address) }),
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

/** @param text 0x + 40 hex digits, checked by the schema. @returns 20 bytes, fresh. */
function toAddress(text: string): Uint8Array {
  return decodeHexAt(text, 2, 20)!
}
