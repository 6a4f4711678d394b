import type { Address, Hex } from 'viem'
import { bridgeAsset } from '../../../src/devnet/actions.js'
import { bridgeAbi } from '../../../src/devnet/contractAbis.js'
import type { DevnetChain } from '../../../src/devnet/devnetChain.js'
import type { ClaimRequest } from '../../../src/devnet/sendClaim.js'
import {
  depositLeaf,
  type LeafParts,
  naiveBranch,
  naiveRoot,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../support/naiveTree.js'

export const mainnetFlag = 2n ** 64n
export const noBranch = Array<Hex>(32).fill(ZERO_HASH)

/** Proofs of a deposit of the L1, from noble's tree over `leaves`. */
export function claimFromL1(deposits: readonly LeafParts[], index: number): ClaimRequest {
  const leaves = deposits.map(depositLeaf)
  return {
    ...deposits[index]!,
    smtProofLocalExitRoot: naiveBranch(leaves, index),
    smtProofRollupExitRoot: noBranch,
    globalIndex: mainnetFlag + BigInt(index),
    mainnetExitRoot: naiveRoot(leaves),
    rollupExitRoot: ZERO_HASH,
  }
}

/** Proofs of a deposit of an L2, with the local exit roots of all rollups. */
export function claimFromL2(
  networkId: number,
  deposits: readonly LeafParts[],
  index: number,
  localExitRoots: readonly Hex[],
): ClaimRequest {
  return {
    ...deposits[index]!,
    smtProofLocalExitRoot: naiveBranch(deposits.map(depositLeaf), index),
    smtProofRollupExitRoot: naiveBranch(localExitRoots, networkId - 1),
    globalIndex: (BigInt(networkId - 1) << 32n) + BigInt(index),
    mainnetExitRoot: ZERO_HASH,
    rollupExitRoot: naiveRoot(localExitRoots),
  }
}

/** An ETH deposit with the fields of its leaf. */
export const etherTo = (
  destinationNetwork: number,
  destinationAddress: Address,
  amount: bigint,
): LeafParts => ({
  leafType: 0,
  originNetwork: 0,
  originAddress: ZERO_ADDRESS,
  destinationNetwork,
  destinationAddress,
  amount,
  metadata: '0x',
})

/** Makes the ETH deposits on their source network, the last one forced. */
export async function depositEther(
  chain: DevnetChain,
  from: Address,
  deposits: readonly LeafParts[],
): Promise<void> {
  for (const [i, { destinationNetwork, destinationAddress, amount }] of deposits.entries()) {
    const step = { from, destinationNetwork, destinationAddress, amount }
    await bridgeAsset(chain, { ...step, forced: i === deposits.length - 1 })
  }
}

export function isClaimed(
  { client, contracts }: DevnetChain,
  leafIndex: number,
  source: number,
): Promise<boolean> {
  return client.readContract({
    address: contracts.bridge,
    abi: bridgeAbi,
    functionName: 'isClaimed',
    args: [leafIndex, source],
  })
}

export function claimedBitMap({ client, contracts }: DevnetChain, word: bigint): Promise<bigint> {
  return client.readContract({
    address: contracts.bridge,
    abi: bridgeAbi,
    functionName: 'claimedBitMap',
    args: [word],
  })
}
