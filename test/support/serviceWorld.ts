import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FakeWorld } from './fakeChain.js'
import { expectedDeposits } from './fakeChainModel.js'
import { type FakeRpcServer, serveFakeNetwork } from './fakeEndpoint.js'
import type { ServiceProcess } from './serviceProcess.js'
import { type Cleaner, tempFolder } from './tempFolder.js'
import { until } from './until.js'

/** A fake world with an RPC server per network, and configuration files for services that index it. */
export interface ServiceWorld {
  readonly world: FakeWorld
  readonly rpc: ReadonlyMap<number, FakeRpcServer>
  /** A configuration file with free ports, and a data folder of the given name. */
  configFile(dataName: string, perNetwork?: readonly string[]): string
}

export async function serveWorld(context: Cleaner, world: FakeWorld): Promise<ServiceWorld> {
  const folder = tempFolder(context)
  const rpc = new Map<number, FakeRpcServer>()
  for (const networkId of world.networkIds) {
    const server = await serveFakeNetwork(world.network(networkId))
    context.after(() => server.close())
    rpc.set(networkId, server)
  }
  return {
    world,
    rpc,
    configFile: (dataName, perNetwork = []) => {
      const file = join(folder, `${dataName}.toml`)
      const head = [
        `data_dir = "${join(folder, dataName)}"`,
        '[http]\nport = 0\ndrain_delay_ms = 0',
        '[ops]\nport = 0',
        '[log]\nlevel = "debug"',
      ]
      const networks = [...rpc].map(([networkId, { url }]) => {
        const { chainId, contracts } = world.network(networkId)
        return [
          '[[networks]]',
          `network_id = ${networkId}`,
          `chain_id = ${chainId}`,
          `rpc = ["${url}"]`,
          `bridge = "${contracts.bridge}"`,
          `global_exit_root_manager = "${contracts.globalExitRootManager}"`,
          ...(networkId === 0 ? [`rollup_manager = "${contracts.rollupManager}"`] : []),
          ...['start_block = 0', 'finality = "latest"', 'poll_interval_ms = 20', ...perNetwork],
        ]
      })
      writeFileSync(file, [head, ...networks].map((lines) => lines.join('\n')).join('\n\n'))
      return file
    },
  }
}

export interface SyncStatus {
  readonly l1_sync: { readonly synced_block: number; readonly is_synced: boolean }
  readonly bridge_sync: { readonly l1_bridges_indexed: number; readonly l2_bridges_indexed: number }
  readonly networks: readonly {
    readonly network_id: number
    readonly synced_block: number
    readonly current_block: number
    readonly is_synced: boolean
    readonly halted: string | null
    readonly indexed_deposit_count: number
  }[]
}

/** Waits until every network is at the fake world's present head. */
export async function inStep(service: ServiceProcess, world: FakeWorld): Promise<SyncStatus> {
  return until(
    () => service.read<SyncStatus>('/bridge/v1/sync-status'),
    ({ networks }) =>
      networks.every(
        ({ network_id, synced_block, is_synced }) =>
          is_synced && synced_block === world.network(network_id).head.number,
      ),
    'every network in step with its head',
  )
}

export interface BridgeRow {
  readonly tx_hash: string
  readonly deposit_count: number
  readonly ready_for_claim: boolean
  readonly claim_tx_hash: string | null
  readonly l1_info_tree_index: number | null
}

/** The service's answers about the deposits of a network, oldest first. */
export async function toldDeposits(service: ServiceProcess, networkId: number): Promise<BridgeRow[]> {
  const path = `/bridge/v1/bridges?network_id=${networkId}&page_size=1000`
  const { bridges } = await service.read<{ bridges: BridgeRow[] }>(path)
  return bridges
    .map(({ tx_hash, deposit_count, ready_for_claim, claim_tx_hash, l1_info_tree_index }) => ({
      tx_hash,
      deposit_count,
      ready_for_claim,
      claim_tx_hash,
      l1_info_tree_index,
    }))
    .reverse()
}

/** The same facts by brute force from the fake world. */
export function modelDeposits(world: FakeWorld, networkId: number): BridgeRow[] {
  return expectedDeposits(world, networkId).map((deposit) => ({
    tx_hash: deposit.transactionHash,
    deposit_count: deposit.depositCount,
    ready_for_claim: deposit.readyForClaim,
    claim_tx_hash: deposit.claimTransactionHash,
    l1_info_tree_index: deposit.usableIndex,
  }))
}

/** Every answer about the data: all lists of all networks, and index and proof of every deposit. */
export async function everyAnswer(
  service: ServiceProcess,
  world: FakeWorld,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  const ask = async (path: string): Promise<unknown> => {
    const { status, body } = await service.get(path)
    answers[path] = { status, body }
    return body
  }
  await ask('/bridge/v1/token-mappings')
  for (const networkId of world.networkIds) {
    await ask(`/bridge/v1/bridges?network_id=${networkId}&page_size=1000`)
    await ask(`/bridge/v1/claims?network_id=${networkId}&page_size=1000`)
    for (const { depositCount } of world.network(networkId).deposits()) {
      const deposit = `network_id=${networkId}&deposit_count=${depositCount}`
      const found = (await ask(`/bridge/v1/l1-info-tree-index?${deposit}`)) as { l1_info_tree_index?: number }
      await ask(`/bridge/v1/claim-proof?${deposit}&leaf_index=${found.l1_info_tree_index ?? 0}`)
    }
  }
  return answers
}
