import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unixMs } from '../telemetry/clocks.js'
import { startAnvils } from './anvil.js'
import { deployL1, deployL2, type TestTokenDetails } from './deploy.js'
import {
  createDevnetClient,
  type DevnetAccounts,
  type DevnetChain,
  type DevnetClient,
  getDevnetAccounts,
} from './devnetChain.js'

/** An L1 and two L2s with the bridge's contracts on them. */
export interface Devnet {
  /** Holds all files of the devnet; removed at its end. */
  readonly folder: string
  /** The position is the network id: 0 is the L1. */
  readonly chains: readonly [DevnetChain, DevnetChain, DevnetChain]
  readonly accounts: DevnetAccounts
  /** Resolves with the reason when a chain ends without `stop`. */
  readonly failed: Promise<string>
  /** Kills the chains and removes the folder. */
  stop(): Promise<void>
}

/** Start of the folder's name, by which `bds devnet claim` finds running devnets. */
export const devnetFolderPrefix = 'bridge-data-service-devnet-'

// Anvil's default chain id, which wallets expect of a local network, and the next two.
const chainIds = [31337, 31338, 31339] as const
const tokens: readonly [TestTokenDetails, TestTokenDetails, TestTokenDetails] = [
  { name: 'Lighthouse Dollar', symbol: 'LHD', decimals: 6 },
  { name: 'Harbour Token', symbol: 'HBR', decimals: 18 },
  { name: 'Anchor Token', symbol: 'ANC', decimals: 18 },
]

/** The chains' clocks start this far in the past, so that the scenario can let time pass and no block is in the future. */
export const headStartSec = 3600

/**
 * Starts the chains and deploys the contracts, which takes about two seconds.
 * @throws DevnetError when a chain does not start or the contracts were not built.
 */
export async function startDevnet(): Promise<Devnet> {
  const timestampSec = Math.floor(unixMs() / 1000) - headStartSec
  const group = await startAnvils(
    chainIds.map((chainId) => ({ chainId, timestampSec })),
    join(tmpdir(), devnetFolderPrefix),
  )
  try {
    const rpcUrls = group.anvils.map(({ rpcUrl }) => rpcUrl)
    const clients = rpcUrls.map(createDevnetClient) as [DevnetClient, DevnetClient, DevnetClient]
    const accounts = await getDevnetAccounts(clients[0])
    const { operator } = accounts
    const contracts = await Promise.all([
      deployL1(clients[0], operator, tokens[0], chainIds.slice(1)),
      deployL2(clients[1], operator, tokens[1], 1),
      deployL2(clients[2], operator, tokens[2], 2),
    ])
    const chain = (networkId: 0 | 1 | 2): DevnetChain => ({
      networkId,
      chainId: chainIds[networkId],
      rpcUrl: rpcUrls[networkId]!,
      client: clients[networkId],
      contracts: contracts[networkId],
    })
    return {
      folder: group.folder,
      chains: [chain(0), chain(1), chain(2)],
      accounts,
      failed: group.failed,
      stop: group.stop,
    }
  } catch (error) {
    await group.stop()
    throw error
  }
}
