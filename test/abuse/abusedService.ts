import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { seedStores } from '../../bench/http/seedStores.js'
import { queryConfig } from '../../bench/query/queryConfig.js'
import { Traffic } from '../../bench/query/traffic.js'
import { memoryOf } from '../../src/telemetry/processMemory.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { freePort } from '../support/freePort.js'
import { type ServiceProcess, startService } from '../support/serviceProcess.js'
import { type Cleaner, tempFolder } from '../support/tempFolder.js'

/** What `src/cli/bds.sh` gives the service on so few processors as these attacks are meant for. */
const AS_STARTED_BY_SCRIPT = { MALLOC_MMAP_THRESHOLD_: '131072', NODE_OPTIONS: '--v8-pool-size=1' }

/** A running `bds` with seeded stores, whose endpoints refuse every connection. */
export interface AbusedService extends ServiceProcess {
  readonly apiPort: number
  readonly opsPort: number
}

/** Bridges from network 0 in the stores. */
export const BRIDGES = 20_000

export interface AbusedOptions {
  /** Most descriptors that the process may have. */
  readonly openFiles?: number
  /** Further tables of the configuration file. */
  readonly settings?: string
}

/** Seeds the stores of one service. @returns a function that gives the service: the one that runs, or another one if that has ended. */
export async function prepareAbusedService(
  context: Cleaner,
  { openFiles, settings = '' }: AbusedOptions,
): Promise<() => Promise<AbusedService>> {
  const folder = tempFolder(context)
  const compiled = compileMerkleModule()
  const traffic = new Traffic(createHasher(compiled), BRIDGES)
  await seedStores(queryConfig(folder), compiled, traffic, BRIDGES, undefined)
  const file = join(folder, 'bench.toml')
  // uWebSockets.js can't take a port again that the system chose, before the system has forgotten its ended connections.
  const port = await freePort()
  appendFileSync(file, `\n[http]\nport = ${port}\n[ops]\nport = 0\n${settings}\n`)
  const launcher = openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh']
  let running: AbusedService | undefined
  return async () => {
    if (running === undefined || hasEnded(running)) {
      await running?.exited
      const service = await startService(context, file, [], AS_STARTED_BY_SCRIPT, launcher)
      const portOf = (url: string): number => Number(new URL(url).port)
      running = { ...service, apiPort: portOf(service.url), opsPort: portOf(service.opsUrl) }
    }
    return running
  }
}

export function hasEnded({ child }: Pick<ServiceProcess, 'child'>): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Bytes that the process needs: its resident memory without mapped files. 0 for one that has ended. */
export function anonymousBytes(service: Pick<ServiceProcess, 'child'>): number {
  if (hasEnded(service)) return 0
  return memoryOf(readFileSync(`/proc/${service.child.pid}/status`, 'latin1'))?.anonymousBytes ?? 0
}
