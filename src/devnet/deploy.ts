import type { Abi, Address } from 'viem'
import { encodeDeployData, encodeFunctionData, getAddress, getContractAddress } from 'viem/utils'
import { readCompiledContract } from './compiledContracts.js'
import { rollupManagerAbi } from './contractAbis.js'
import type { ContractName } from './contractNames.js'
import { type DevnetClient, type DevnetContracts, send } from './devnetChain.js'

/** ETH that an L2's bridge holds from the start, to pay claims, as on a real L2. */
const l2BridgeBalanceWei = 10n ** 24n

export interface TestTokenDetails {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

/**
 * Deploys the L1's contracts and registers the L2s: the first of `l2ChainIds` becomes network 1, and so on.
 * `operator` must not have sent a transaction yet: the contracts get each other's addresses, which follow from its first
 * nonces.
 */
export async function deployL1(
  client: DevnetClient,
  operator: Address,
  token: TestTokenDetails,
  l2ChainIds: readonly number[],
): Promise<DevnetContracts & { readonly rollupManager: Address }> {
  const [bridge, globalExitRootManager, rollupManager] = addressesOfFirstNonces(operator)
  await deploy(client, operator, 'Bridge', [0, globalExitRootManager, operator])
  await deploy(client, operator, 'GlobalExitRootManagerL1', [bridge, rollupManager])
  await deploy(client, operator, 'RollupManager', [globalExitRootManager, operator])
  for (const chainId of l2ChainIds) {
    const data = encodeFunctionData({
      abi: rollupManagerAbi,
      functionName: 'createNewRollup',
      args: [BigInt(chainId)],
    })
    await send(client, { from: operator, to: rollupManager, data })
  }
  return {
    bridge,
    globalExitRootManager,
    rollupManager,
    ...(await deployExtras(client, operator, token)),
  }
}

/** Deploys an L2's contracts. Its bridge has the address of the L1's, as on real networks, because sender and nonce are equal. */
export async function deployL2(
  client: DevnetClient,
  operator: Address,
  token: TestTokenDetails,
  networkId: number,
): Promise<DevnetContracts> {
  const [bridge, globalExitRootManager] = addressesOfFirstNonces(operator)
  await deploy(client, operator, 'Bridge', [networkId, globalExitRootManager, operator])
  await deploy(client, operator, 'GlobalExitRootManagerL2', [bridge, operator])
  await client.setBalance({ address: bridge, value: l2BridgeBalanceWei })
  return { bridge, globalExitRootManager, ...(await deployExtras(client, operator, token)) }
}

async function deployExtras(
  client: DevnetClient,
  operator: Address,
  { name, symbol, decimals }: TestTokenDetails,
): Promise<Pick<DevnetContracts, 'token' | 'bridgeCaller' | 'messageReceiver'>> {
  return {
    token: await deploy(client, operator, 'TestToken', [name, symbol, decimals]),
    bridgeCaller: await deploy(client, operator, 'BridgeCaller', []),
    messageReceiver: await deploy(client, operator, 'MessageReceiver', []),
  }
}

async function deploy(
  client: DevnetClient,
  from: Address,
  name: ContractName,
  args: readonly unknown[],
): Promise<Address> {
  const { abi, bytecode }: { abi: Abi; bytecode: `0x${string}` } = readCompiledContract(name)
  const receipt = await send(client, { from, data: encodeDeployData({ abi, bytecode, args }) })
  return getAddress(receipt.contractAddress!)
}

function addressesOfFirstNonces(from: Address): [Address, Address, Address] {
  return [
    getContractAddress({ from, nonce: 0n }),
    getContractAddress({ from, nonce: 1n }),
    getContractAddress({ from, nonce: 2n }),
  ]
}
