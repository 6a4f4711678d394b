import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../src/config/config.types.js'
import { loadConfig } from '../../src/config/load.js'
import { SERVED } from './traffic.js'

/** A configuration of the service for stores in `folder`. No chain is asked. */
export function queryConfig(folder: string): Config {
  const file = join(folder, 'bench.toml')
  const lines = [`data_dir = "${join(folder, 'data')}"`, ...SERVED.flatMap(networkLines)]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return loadConfig({ file, environment: {} }).config
}

function networkLines(networkId: number): string[] {
  const address = (last: number) => `"0x${last.toString(16).padStart(40, '0')}"`
  return [
    '[[networks]]',
    `network_id = ${networkId}`,
    `chain_id = ${1000 + networkId}`,
    'rpc = ["http://127.0.0.1:1"]',
    `bridge = ${address(1)}`,
    `global_exit_root_manager = ${address(2)}`,
    ...(networkId === 0 ? [`rollup_manager = ${address(3)}`] : []),
    'start_block = 1',
  ]
}
