import { zeroAddress } from 'viem'
import { type BatchedDeposit, bridgeThroughContract } from '../../src/devnet/actions.js'
import { startDevnet } from '../../src/devnet/devnet.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { BLOCKS_LEFT_OUT } from './contenders.js'
import type { SourceChain } from './syntheticChain.js'

/** A transaction with this many deposits fills most of a block. */
const DEPOSITS_PER_TRANSACTION = 200

/** The devnet's three anvil nodes with about `bridges` messages on them, deposited through the real contracts. */
export async function startAnvilChain(bridges: number): Promise<SourceChain> {
  const devnet = await startDevnet()
  const { alice, bob } = devnet.accounts
  const transactions = Math.ceil(bridges / devnet.chains.length / DEPOSITS_PER_TRANSACTION)

  const fill = async (chain: DevnetChain): Promise<void> => {
    const deposit: BatchedDeposit = {
      isMessage: true,
      destinationNetwork: chain.networkId === 0 ? 1 : 0,
      destinationAddress: bob,
      amount: 0n,
      token: zeroAddress,
      metadata: '0x',
      forceUpdateGlobalExitRoot: false,
    }
    const deposits = Array.from({ length: DEPOSITS_PER_TRANSACTION }, () => deposit)
    for (let sent = 0; sent < transactions; sent++) await bridgeThroughContract(chain, alice, deposits)
    await chain.client.mine({ blocks: BLOCKS_LEFT_OUT + 1 })
  }
  await Promise.all(devnet.chains.map(fill))
  const networks = devnet.chains.map(async ({ networkId, chainId, rpcUrl, client, contracts }) => ({
    ...{ networkId, chainId, rpc: rpcUrl },
    bridge: contracts.bridge,
    globalExitRootManager: contracts.globalExitRootManager,
    ...(contracts.rollupManager === undefined ? {} : { rollupManager: contracts.rollupManager }),
    lastBlock: Number(await client.getBlockNumber()),
  }))
  return { networks: await Promise.all(networks), stop: devnet.stop }
}
