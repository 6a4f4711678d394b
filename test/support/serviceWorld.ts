import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SyncStatusRecord } from '../../src/query/healthRecords.js'
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
          ...['start_block = 0', 'finality = "latest"', 'poll_interval_ms = 50', ...perNetwork],
        ]
      })
      writeFileSync(file, [head, ...networks].map((lines) => lines.join('\n')).join('\n\n'))
      return file
    },
  }
}

export type SyncStatus = SyncStatusRecord

/** Waits until every network is at the fake world's present head. */
export async function inStep(
  service: ServiceProcess,
  world: FakeWorld,
  withinMs?: number,
): Promise<SyncStatus> {
  return until(
    () => service.read<SyncStatus>('/bridge/v1/sync-status'),
    ({ networks }) =>
      networks.every(
        ({ network_id, synced_block, is_synced }) =>
          is_synced && synced_block === world.network(network_id).head.number,
      ),
    'every network in step with its head',
    withinMs,
  )
}

/**
 * Waits until no sender is provisional or unknown: on a busy machine a trace may come too late for the block, and a correction later
 * changes what is answered.
 */
export async function sendersKnown({ opsUrl }: ServiceProcess): Promise<void> {
  await until(
    async () => (await fetch(`${opsUrl}/metrics`)).text(),
    (metrics) => {
      const counts = [...metrics.matchAll(/^bds_(?:provisional|unknown)_senders\{.*\} (\d+)$/gm)]
      return counts.length > 0 && counts.every(([, count]) => count === '0')
    },
    'every sender known',
    120_000,
  )
}

/** Facts about a deposit by their names on the wire, and in the model. */
const BRIDGE_FACTS = {
  tx_hash: 'transactionHash',
  deposit_count: 'depositCount',
  ready_for_claim: 'readyForClaim',
  claim_tx_hash: 'claimTransactionHash',
  l1_info_tree_index: 'usableIndex',
} as const
type BridgeFacts = Readonly<Record<keyof typeof BRIDGE_FACTS, unknown>>

function factsBy(factOf: (name: keyof BridgeFacts) => unknown): BridgeFacts {
  const names = Object.keys(BRIDGE_FACTS) as (keyof BridgeFacts)[]
  return Object.fromEntries(names.map((name) => [name, factOf(name)])) as BridgeFacts
}

/** What the service tells of the deposits of a network, oldest first. */
export async function toldDeposits(service: ServiceProcess, networkId: number) {
  const path = `/bridge/v1/bridges?network_id=${networkId}&page_size=1000`
  const { bridges } = await service.read<{ bridges: BridgeFacts[] }>(path)
  return bridges.map((row) => factsBy((name) => row[name])).reverse()
}

/** The same facts by brute force from the fake world. */
export function modelDeposits(world: FakeWorld, networkId: number) {
  return expectedDeposits(world, networkId).map((deposit) => factsBy((name) => deposit[BRIDGE_FACTS[name]]))
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
