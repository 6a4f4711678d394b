import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../src/config/config.types.js'
import { loadConfig } from '../../src/config/load.js'
import { EXAMPLE_TOML } from './exampleConfig.js'

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
