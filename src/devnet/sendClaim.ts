import {
  type Address,
  BaseError,
  type ContractFunctionArgs,
  ContractFunctionRevertedError,
  encodeFunctionData,
  type Hex,
  type TransactionReceipt,
} from 'viem'
import { bridgeAbi } from './contractAbis.js'
import { type DevnetChain, send } from './devnetChain.js'
import { DevnetError } from './devnetError.js'

/** The arguments of a claim: the deposit and its proof. */
export interface ClaimRequest {
  /** 0 asset, 1 message. */
  readonly leafType: number
  /** 32 siblings each, leaf level first. */
  readonly smtProofLocalExitRoot: readonly Hex[]
  readonly smtProofRollupExitRoot: readonly Hex[]
  readonly globalIndex: bigint
  readonly mainnetExitRoot: Hex
  readonly rollupExitRoot: Hex
  readonly originNetwork: number
  readonly originAddress: Address
  readonly destinationNetwork: number
  readonly destinationAddress: Address
  readonly amount: bigint
  readonly metadata: Hex
}

type ClaimArguments = ContractFunctionArgs<typeof bridgeAbi, 'nonpayable', 'claimAsset'>

/**
 * Simulates a claim without sending it.
 * @returns undefined if it would pass now, else the name of the contract's error.
 */
export async function findClaimError(
  chain: DevnetChain,
  from: Address,
  claim: ClaimRequest,
): Promise<string | undefined> {
  try {
    await chain.client.simulateContract({
      account: from,
      address: chain.contracts.bridge,
      abi: bridgeAbi,
      functionName: claimFunction(claim),
      args: claimArguments(claim),
    })
    return undefined
  } catch (error) {
    const reverted =
      error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error
    return reverted.data?.errorName ?? reverted.reason ?? 'an unnamed error'
  }
}

/**
 * Executes a claim on the bridge of its destination network.
 * @throws DevnetError with the name of the contract's error when the bridge would refuse it; then nothing is sent.
 */
export async function sendClaim(
  chain: DevnetChain,
  from: Address,
  claim: ClaimRequest,
): Promise<TransactionReceipt> {
  const refusal = await findClaimError(chain, from, claim)
  if (refusal !== undefined)
    throw new DevnetError(`the bridge of network ${chain.networkId} answers ${refusal}`)
  return send(chain.client, { from, to: chain.contracts.bridge, data: encodeClaim(claim) })
}

/** The call of the bridge that makes the claim. */
export function encodeClaim(claim: ClaimRequest): Hex {
  return encodeFunctionData({
    abi: bridgeAbi,
    functionName: claimFunction(claim),
    args: claimArguments(claim),
  })
}

function claimFunction({ leafType }: ClaimRequest): 'claimAsset' | 'claimMessage' {
  return leafType === 0 ? 'claimAsset' : 'claimMessage'
}

function claimArguments(claim: ClaimRequest): ClaimArguments {
  return [
    // The ABI's type has exactly 32 elements. viem checks the number when it encodes.
    claim.smtProofLocalExitRoot as ClaimArguments[0],
    claim.smtProofRollupExitRoot as ClaimArguments[1],
    claim.globalIndex,
    claim.mainnetExitRoot,
    claim.rollupExitRoot,
    claim.originNetwork,
    claim.originAddress,
    claim.destinationNetwork,
    claim.destinationAddress,
    claim.amount,
    claim.metadata,
  ]
}
