import type { Address, ContractFunctionArgs, Hex, TransactionReceipt } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import {
  bridgeAbi,
  bridgeCallerAbi,
  globalExitRootManagerL1Abi,
  globalExitRootManagerL2Abi,
  messageReceiverAbi,
  rollupManagerAbi,
  tokenAbi,
} from './contractAbis.js'
import type { Devnet } from './devnet.js'
import { type DevnetChain, send } from './devnetChain.js'

/* Steps of users and of the networks' operators. Each is one or two transactions. */

export interface BridgeStep {
  readonly from: Address
  readonly destinationNetwork: number
  readonly destinationAddress: Address
  /** Base units: of the token, or wei. */
  readonly amount: bigint
  /** Whether to publish the new exit root at once (on the L1: as a new L1 info leaf). */
  readonly forced: boolean
}

/** Deposits ETH, or an ERC-20 of the chain, native or wrapped. The sender must own it. */
export async function bridgeAsset(
  { client, contracts }: DevnetChain,
  step: BridgeStep & { readonly token?: Address },
): Promise<TransactionReceipt> {
  const { from, token } = step
  if (token !== undefined) await approve({ client }, token, from, contracts.bridge, step.amount)
  const data = encodeFunctionData({
    abi: bridgeAbi,
    functionName: 'bridgeAsset',
    args: [
      step.destinationNetwork,
      step.destinationAddress,
      step.amount,
      token ?? '0x0000000000000000000000000000000000000000',
      step.forced,
      '0x',
    ],
  })
  return send(client, { from, to: contracts.bridge, data, value: token === undefined ? step.amount : 0n })
}

/** Deposits a message. Its amount is the ETH sent with it. */
export async function bridgeMessage(
  { client, contracts }: DevnetChain,
  step: BridgeStep & { readonly metadata: Hex },
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({
    abi: bridgeAbi,
    functionName: 'bridgeMessage',
    args: [step.destinationNetwork, step.destinationAddress, step.forced, step.metadata],
  })
  return send(client, { from: step.from, to: contracts.bridge, data, value: step.amount })
}

export type BatchedDeposit = ContractFunctionArgs<typeof bridgeCallerAbi, 'payable', 'bridgeAll'>[1][number]

/** Makes several deposits in one transaction through a contract, so that the bridge's caller is not `tx.from`. */
export async function bridgeThroughContract(
  { client, contracts }: DevnetChain,
  from: Address,
  deposits: readonly BatchedDeposit[],
): Promise<TransactionReceipt> {
  let value = 0n
  for (const { isMessage, token, amount } of deposits) {
    if (isMessage || BigInt(token) === 0n) value += amount
    else await approve({ client }, token, from, contracts.bridgeCaller, amount)
  }
  const data = encodeFunctionData({
    abi: bridgeCallerAbi,
    functionName: 'bridgeAll',
    args: [contracts.bridge, deposits],
  })
  return send(client, { from, to: contracts.bridgeCaller, data, value })
}

export type ReceiverCall = ContractFunctionArgs<
  typeof messageReceiverAbi,
  'nonpayable',
  'callOnNextMessage'
>[0][number]

/**
 * Leaves calls with the network's message receiver, which makes them while it takes its next message: a claim or a deposit inside
 * the claim of that message. It pays `value` from what it has, the message's ETH included.
 */
export function callOnNextMessage(
  { client, contracts }: DevnetChain,
  from: Address,
  calls: readonly ReceiverCall[],
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({
    abi: messageReceiverAbi,
    functionName: 'callOnNextMessage',
    args: [calls],
  })
  return send(client, { from, to: contracts.messageReceiver, data })
}

/** Mints test tokens for an account, or for a contract in the name of an account. */
export async function mintToken(
  { client, contracts }: DevnetChain,
  to: Address,
  amount: bigint,
  from: Address = to,
): Promise<void> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, amount] })
  await send(client, { from, to: contracts.token, data })
}

/** Publishes the network's deposits that were made without `forced`. */
export async function updateGlobalExitRoot({ client, contracts }: DevnetChain, from: Address): Promise<void> {
  const data = encodeFunctionData({ abi: bridgeAbi, functionName: 'updateGlobalExitRoot' })
  await send(client, { from, to: contracts.bridge, data })
}

/**
 * Settles an L2 on the L1: a local exit root of the L2 becomes its leaf of the rollup exit tree.
 * @param root any root that the bridge ever had, even between two deposits of one transaction. Default: its current root.
 */
export async function settle(
  { chains, accounts }: Devnet,
  l2: DevnetChain,
  root?: Hex,
): Promise<TransactionReceipt> {
  const { bridge } = l2.contracts
  const settled =
    root ?? (await l2.client.readContract({ address: bridge, abi: bridgeAbi, functionName: 'getRoot' }))
  const data = encodeFunctionData({
    abi: rollupManagerAbi,
    functionName: 'settleLocalExitRoot',
    args: [l2.networkId, settled],
  })
  const [{ client, contracts }] = chains
  return send(client, { from: accounts.operator, to: contracts.rollupManager!, data })
}

/**
 * Injects the L1's newest global exit root, as of a block, into an L2. Roots between two injections are never injected.
 * @returns the root, or undefined when the L2 has it already or the L1 has none.
 */
export async function inject(
  { chains, accounts }: Devnet,
  l2: DevnetChain,
  blockTag: 'latest' | 'finalized' = 'latest',
): Promise<Hex | undefined> {
  const [l1] = chains
  const manager = {
    address: l1.contracts.globalExitRootManager,
    abi: globalExitRootManagerL1Abi,
    blockTag,
  } as const
  const globalExitRoot = await l1.client.readContract({ ...manager, functionName: 'getLastGlobalExitRoot' })
  const known = await l1.client.readContract({
    ...manager,
    functionName: 'globalExitRootMap',
    args: [globalExitRoot],
  })
  if (known === 0n || (await isInjected(l2, globalExitRoot))) return undefined
  const data = encodeFunctionData({
    abi: globalExitRootManagerL2Abi,
    functionName: 'insertGlobalExitRoot',
    args: [globalExitRoot],
  })
  await send(l2.client, { from: accounts.operator, to: l2.contracts.globalExitRootManager, data })
  return globalExitRoot
}

/** Removes an injected global exit root from an L2. */
export async function removeInjected(
  { accounts }: Devnet,
  l2: DevnetChain,
  globalExitRoot: Hex,
): Promise<void> {
  const data = encodeFunctionData({
    abi: globalExitRootManagerL2Abi,
    functionName: 'removeGlobalExitRoots',
    args: [[globalExitRoot]],
  })
  await send(l2.client, { from: accounts.operator, to: l2.contracts.globalExitRootManager, data })
}

/** Whether claims on the L2 may use the global exit root now. */
export async function isInjected({ client, contracts }: DevnetChain, globalExitRoot: Hex): Promise<boolean> {
  const insertedAt = await client.readContract({
    address: contracts.globalExitRootManager,
    abi: globalExitRootManagerL2Abi,
    functionName: 'globalExitRootMap',
    args: [globalExitRoot],
  })
  return insertedAt !== 0n
}

async function approve(
  { client }: Pick<DevnetChain, 'client'>,
  token: Address,
  owner: Address,
  spender: Address,
  amount: bigint,
): Promise<void> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, amount] })
  await send(client, { from: owner, to: token, data })
}
