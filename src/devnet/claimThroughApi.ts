import type { ApiClient, BridgeAnswer, DepositKey, ProofAnswer } from './apiClient.js'
import type { ClaimRequest } from './sendClaim.js'

/** Asks the service for l1InfoTreeIndex and proof of a deposit, and makes the claim. @throws what `api` throws. */
export async function requestClaim(
  api: ApiClient,
  bridge: BridgeAnswer,
): Promise<{ claim: ClaimRequest; leafIndex: number }> {
  const key: DepositKey = { network: bridge.origin_network, deposit: bridge.deposit_count }
  const leafIndex = await api.getL1InfoTreeIndex(key)
  const proof = await api.getClaimProof(key, leafIndex)
  return { claim: claimOf(bridge, proof), leafIndex }
}

/** The contract's arguments from the API's fields. The contract's `originNetwork` is the token's; for a message, the caller's. */
function claimOf(bridge: BridgeAnswer, proof: ProofAnswer): ClaimRequest {
  return {
    leafType: bridge.leaf_type,
    smtProofLocalExitRoot: proof.smtProofLocalExitRoot,
    smtProofRollupExitRoot: proof.smtProofRollupExitRoot,
    globalIndex: BigInt(proof.globalIndex),
    mainnetExitRoot: proof.l1InfoTreeLeaf.mainnetExitRoot,
    rollupExitRoot: proof.l1InfoTreeLeaf.rollupExitRoot,
    originNetwork: bridge.token_network,
    originAddress: bridge.token_address,
    destinationNetwork: bridge.destination_network,
    destinationAddress: bridge.destination_address,
    amount: BigInt(bridge.amount),
    metadata: bridge.metadata,
  }
}
