import type { Address, ContractFunctionArgs, Hex, TransactionReceipt } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { bridgeAbi } from './contractAbis.js'
import type { Devnet } from './devnet.js'
import { type DevnetChain, send } from './devnetChain.js'

/*
 * Steps that only the bridges of sovereign networks allow, all but one to their administrator. Each is one transaction on an L2,
 * and throws what `send` throws.
 */

export type ForwardedLeaf = ContractFunctionArgs<typeof bridgeAbi, 'nonpayable', 'forwardLET'>[0][number]

/** Cuts the local exit tree back to its first `leafCount` leaves (BackwardLET). */
export function cutExitTree(devnet: Devnet, l2: DevnetChain, leafCount: number): Promise<TransactionReceipt> {
  return administer(
    devnet,
    l2,
    encodeFunctionData({ abi: bridgeAbi, functionName: 'backwardLET', args: [BigInt(leafCount)] }),
  )
}

/** Appends leaves to the local exit tree without BridgeEvents (ForwardLET). */
export function forwardLeaves(
  devnet: Devnet,
  l2: DevnetChain,
  leaves: readonly ForwardedLeaf[],
): Promise<TransactionReceipt> {
  return administer(
    devnet,
    l2,
    encodeFunctionData({ abi: bridgeAbi, functionName: 'forwardLET', args: [leaves] }),
  )
}

export interface SovereignToken {
  readonly originNetwork: number
  readonly originToken: Address
  /** Token of the L2. */
  readonly token: Address
  /** Whether the bridge pays out what it holds instead of minting. */
  readonly isNotMintable: boolean
}

/** Lets a token of the L2 stand for a token of another network from now on (SetSovereignTokenAddress). */
export function mapSovereignToken(
  devnet: Devnet,
  l2: DevnetChain,
  { originNetwork, originToken, token, isNotMintable }: SovereignToken,
): Promise<TransactionReceipt> {
  const args = [[originNetwork], [originToken], [token], [isNotMintable]] as const
  return administer(
    devnet,
    l2,
    encodeFunctionData({ abi: bridgeAbi, functionName: 'setMultipleSovereignTokenAddress', args }),
  )
}

/** Ends the support of a token that was replaced (RemoveLegacySovereignTokenAddress). */
export function removeLegacyToken(
  devnet: Devnet,
  l2: DevnetChain,
  token: Address,
): Promise<TransactionReceipt> {
  return administer(
    devnet,
    l2,
    encodeFunctionData({
      abi: bridgeAbi,
      functionName: 'removeLegacySovereignTokenAddress',
      args: [token],
    }),
  )
}

/** Changes an account's balance of a token that was replaced into the current token (MigrateLegacyToken). */
export function migrateLegacyToken(
  { client, contracts }: DevnetChain,
  from: Address,
  token: Address,
  amount: bigint,
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({
    abi: bridgeAbi,
    functionName: 'migrateLegacyToken',
    args: [token, amount, '0x'],
  })
  return send(client, { from, to: contracts.bridge, data })
}

/** Marks deposits as claimed without paying them out (SetClaim). They need not exist yet. */
export function setClaims(
  devnet: Devnet,
  l2: DevnetChain,
  globalIndexes: readonly bigint[],
): Promise<TransactionReceipt> {
  return administer(
    devnet,
    l2,
    encodeFunctionData({ abi: bridgeAbi, functionName: 'setMultipleClaims', args: [globalIndexes] }),
  )
}

/** Lets claimed deposits be claimed once more (UpdatedUnsetGlobalIndexHashChain). */
export function unsetClaims(
  devnet: Devnet,
  l2: DevnetChain,
  globalIndexes: readonly bigint[],
): Promise<TransactionReceipt> {
  return administer(
    devnet,
    l2,
    encodeFunctionData({ abi: bridgeAbi, functionName: 'unsetMultipleClaims', args: [globalIndexes] }),
  )
}

function administer(
  { accounts }: Devnet,
  { client, contracts }: DevnetChain,
  data: Hex,
): Promise<TransactionReceipt> {
  return send(client, { from: accounts.operator, to: contracts.bridge, data })
}
