import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiClient, type BridgeAnswer, createApiClient } from '../../../src/devnet/apiClient.js'
import type { Devnet } from '../../../src/devnet/devnet.js'
import { type ServiceProcess, startService } from '../../support/serviceProcess.js'
import { type Cleaner, tempFolder } from '../../support/tempFolder.js'
import { until } from '../../support/until.js'

/** A real service process over a devnet. */
export interface DevnetService {
  readonly process: ServiceProcess
  readonly configFile: string
  readonly api: ApiClient
  /** Resolves when every network is indexed up to the block that its chain has now. */
  inStep(): Promise<void>
  /** Adds blocks to the L1, and resolves when all blocks below them are indexed and final. */
  inStepAndFinal(): Promise<void>
  /** All bridges, network by network, oldest first. */
  allBridges(): Promise<BridgeAnswer[]>
  /** Kills the process and starts another one on the same store. */
  killAndRestart(): Promise<DevnetService>
}

interface NetworkSync {
  readonly network_id: number
  readonly is_synced: boolean
  readonly synced_block: number
  readonly finalized_block: number | null
  readonly halted: string | null
}

interface Following {
  readonly pollIntervalMs: number
  /** Whether the service subscribes to new heads over WebSocket. */
  readonly isToldOfHeads: boolean
}

/** Starts `bds run` on the devnet, in a folder of the test's own. */
export async function serviceOn(
  context: Cleaner,
  devnet: Devnet,
  following: Following = { pollIntervalMs: 50, isToldOfHeads: false },
): Promise<DevnetService> {
  const folder = tempFolder(context)
  const configFile = join(folder, 'bds.toml')
  writeFileSync(configFile, tomlOf(devnet, join(folder, 'store'), following))
  return serveConfig(context, devnet, configFile)
}

async function serveConfig(context: Cleaner, devnet: Devnet, configFile: string): Promise<DevnetService> {
  const process = await startService(context, configFile)
  const api = createApiClient(process.url)
  const waitFor = async (l1Tag: 'latest' | 'finalized'): Promise<void> => {
    const targets = await Promise.all(
      devnet.chains.map(async ({ client, networkId }) => {
        const head = await client.getBlock()
        const final =
          networkId === 0 && l1Tag === 'finalized' ? await client.getBlock({ blockTag: l1Tag }) : undefined
        return { head: Number(head.number), final: Number(final?.number ?? 0) }
      }),
    )
    await until(
      async () => (await process.read<{ networks: NetworkSync[] }>('/bridge/v1/sync-status')).networks,
      (networks) =>
        networks.every(({ network_id, is_synced, synced_block, finalized_block, halted }) => {
          if (halted !== null) throw new Error(`network ${network_id} halted: ${halted}`)
          const { head, final } = targets[network_id]!
          // A network is synced only after its claims were compared: before that nothing is ready on it.
          return is_synced && synced_block >= head && (finalized_block ?? 0) >= final
        }),
      'indexing up to the heads',
    )
  }
  return {
    process,
    configFile,
    api,
    inStep: () => waitFor('latest'),
    async inStepAndFinal() {
      // `finalized` is two blocks behind the head, and the service asks for it when the head has moved by
      // two.
      await devnet.chains[0].client.mine({ blocks: 3 })
      await waitFor('finalized')
    },
    async allBridges() {
      const lists = devnet.chains.map(({ networkId }) =>
        api.listBridges({ network_id: networkId, page_size: 1000 }),
      )
      return (await Promise.all(lists)).flatMap((newestFirst) => newestFirst.toReversed())
    },
    async killAndRestart() {
      await process.kill('SIGKILL')
      return serveConfig(context, devnet, configFile)
    },
  }
}

function tomlOf({ chains }: Devnet, dataDir: string, following: Following): string {
  const networks = chains.map(({ networkId, chainId, rpcUrl, contracts }) => [
    '[[networks]]',
    `network_id = ${networkId}`,
    `chain_id = ${chainId}`,
    following.isToldOfHeads
      ? `rpc = [{ url = "${rpcUrl}", ws_url = "${rpcUrl.replace('http:', 'ws:')}" }]`
      : `rpc = ["${rpcUrl}"]`,
    `bridge = "${contracts.bridge}"`,
    `global_exit_root_manager = "${contracts.globalExitRootManager}"`,
    ...(contracts.rollupManager === undefined ? [] : [`rollup_manager = "${contracts.rollupManager}"`]),
    `finality = "${networkId === 0 ? 'finalized' : 'latest'}"`,
    `poll_interval_ms = ${following.pollIntervalMs}`,
  ])
  const head = [
    `data_dir = "${dataDir}"`,
    '[http]',
    'port = 0',
    'drain_delay_ms = 0',
    '[ops]',
    'port = 0',
    '[pool]',
    'workers = 1',
  ]
  return [head, ...networks].map((lines) => lines.join('\n')).join('\n\n')
}
