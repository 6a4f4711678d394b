import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../src/config/config.types.js'
import { loadConfig } from '../../src/config/load.js'

/** Text of a configuration file with a layer 1 and one layer 2; tests change single lines of it. */
export const EXAMPLE_TOML = `
data_dir = "./data"
primary_network = 1
[http]
host = "127.0.0.1"
port = 5577
[ops]
host = "127.0.0.1"
port = 9091
[pool]
workers = 1
[[networks]]
network_id = 0
chain_id = 900
rpc = ["http://127.0.0.1:18545/secret-key"]
bridge = "0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe"
global_exit_root_manager = "0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb"
rollup_manager = "0x5132A183E9F3CB7C848b0AAC5Ae0c4f0491B7aB2"
start_block = 0
finality = "latest"
[[networks]]
network_id = 1
chain_id = 901
rpc = ["http://127.0.0.1:18546/secret-key"]
bridge = "0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe"
global_exit_root_manager = "0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA"
`

/** The example configuration, loaded, with its data in `folder` and every port chosen by the system. */
export function loadedConfig(folder: string, changes: Partial<Pick<Config, 'pool'>> = {}): Config {
  const file = join(folder, 'bds.toml')
  writeFileSync(file, EXAMPLE_TOML)
  const { config } = loadConfig({ file, environment: {} })
  return {
    ...config,
    dataDir: join(folder, 'data'),
    http: { ...config.http, port: 0 },
    ops: { ...config.ops, port: 0 },
    ...changes,
  }
}
