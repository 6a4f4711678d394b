import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../src/config/config.types.js'
import { loadConfig } from '../../src/config/load.js'
import type { BenchNetwork, ContenderTask } from './contenders.js'

/** The service's configuration for a task. */
export function benchConfig({ folder, networks }: ContenderTask): Config {
  const file = join(folder, 'bench.toml')
  const lines = [
    `data_dir = "${join(folder, 'data')}"`,
    '[log]',
    'level = "error"',
    ...networks.flatMap(networkLines),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return loadConfig({ file, environment: {} }).config
}

function networkLines(network: BenchNetwork): string[] {
  const { networkId, chainId, rpc, bridge, globalExitRootManager, rollupManager } = network
  return [
    '[[networks]]',
    `network_id = ${networkId}`,
    `chain_id = ${chainId}`,
    `rpc = ["${rpc}"]`,
    `bridge = "${bridge}"`,
    `global_exit_root_manager = "${globalExitRootManager}"`,
    ...(rollupManager === undefined ? [] : [`rollup_manager = "${rollupManager}"`]),
    'start_block = 1',
    'finality = "latest"',
  ]
}
