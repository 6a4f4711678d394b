import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { OperatorError } from '../../errors/operatorError.js'
import { demandOf } from '../../service/startLimits.js'
import { makeDataFolder } from '../../store/folder/dataFolder.js'
import { type Demand, deadlyLimits, judgeLimits, readLimits } from '../../telemetry/processLimits.js'

/** What a check found. A check that fails throws, and the message says why. */
export interface Finding {
  readonly outcome: 'ok' | 'warn'
  readonly detail: string
}

export interface Check {
  readonly what: string
  run(): Promise<Finding> | Finding
}

const LITTLE_SPACE_BYTES = 10 * 2 ** 30
const MODERN_GLIBC = '2.38'

/** Checks that need no configuration. */
export const machineChecks: readonly Check[] = [
  { what: 'Node', run: nodeVersion },
  { what: 'C library', run: cLibrary },
  { what: 'HTTP server', run: httpServer },
  { what: 'LMDB', run: () => storeWorksIn(tmpdir()) },
  {
    what: 'hashing',
    run: async () => ok((await import('../../wasm/wasmModule.js')).compileMerkleModule().name),
  },
]

/** Checks the limits of this process for a service of this configuration; without one, for the smallest service. */
export function limitChecks(config: Config | undefined): Check[] {
  const limits = readLimits()
  if (limits === undefined) return [{ what: 'limits', run: () => ok('this system does not report them') }]
  const findings = judgeLimits(limits, config === undefined ? SMALLEST : demandOf(config))
  return findings.map(({ what, outcome, detail }) => ({
    what,
    run: () => {
      if (outcome === 'fail') throw new OperatorError(detail)
      return { outcome, detail }
    },
  }))
}

/** The L1 and one L2. */
const SMALLEST: Demand = { networks: 2, workers: 1, storeBytes: 0 }

/** Checks the data folder of a configuration, and the stores in it. */
export function folderChecks(config: Config): Check[] {
  const { dataDir } = config
  return [
    { what: 'data folder', run: () => dataFolder(dataDir) },
    { what: 'file system', run: () => fileSystem(dataDir) },
    { what: 'LMDB in the data folder', run: () => storeWorksIn(dataDir) },
    ...config.networks.map((network) => ({
      what: `store of network ${network.networkId}`,
      run: () => storeIdentity(dataDir, network),
    })),
  ]
}

const ok = (detail: string): Finding => ({ outcome: 'ok', detail })
const warn = (detail: string): Finding => ({ outcome: 'warn', detail })

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new OperatorError(`${process.versions.node} is older than 20.19`)
  return ok(`${process.versions.node}, ABI ${process.versions.modules}, ${process.platform} ${process.arch}`)
}

function glibcVersion(): string | undefined {
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime
}

function cLibrary(): Finding {
  const version = glibcVersion()
  return version === undefined ? warn('not glibc: the native addons may not load') : ok(`glibc ${version}`)
}

async function httpServer(): Promise<Finding> {
  const { loadUws } = await import('../../http/wire/uws.js')
  const { name, version } = loadUws()
  const glibc = glibcVersion()
  const isOld = glibc !== undefined && glibc.localeCompare(MODERN_GLIBC, 'en', { numeric: true }) < 0
  const reason = isOld ? `; the modern build needs glibc ${MODERN_GLIBC}` : ''
  return ok(`${name} ${version}, native${reason}`)
}

async function storeWorksIn(folder: string): Promise<Finding> {
  assertStoreIsSafe()
  const { testStoreIn } = await import('../../store/selfTest.js')
  await testStoreIn(folder)
  return ok('writes and reads a store')
}

/** @throws OperatorError under limits at which the system ends a process that opens a store. */
function assertStoreIsSafe(): void {
  const limits = readLimits()
  if (limits === undefined) return
  const deadly = deadlyLimits(limits)
  if (deadly.length > 0)
    throw new OperatorError(`not tried: ${deadly.map(({ what }) => what).join(', ')} is limited`)
}

function dataFolder(dataDir: string): Finding {
  makeDataFolder(dataDir)
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const detail = `${dataDir}, ${Math.floor(free / 2 ** 30)} GiB free`
  return free < LITTLE_SPACE_BYTES ? warn(detail) : ok(detail)
}

async function fileSystem(dataDir: string): Promise<Finding> {
  const { unsafeFileSystem } = await import('../../store/folder/fileSystem.js')
  const name = unsafeFileSystem(dataDir)
  if (name === undefined) return ok('a local one, as far as the system reports')
  return warn(`${name}: keep the data on a local disk or a block volume`)
}

async function storeIdentity(dataDir: string, network: NetworkConfig): Promise<Finding> {
  const { shardDirectory } = await import('../../store/shardDirectory.js')
  const directory = shardDirectory(dataDir, network.networkId)
  if (!existsSync(join(directory, 'data.mdb'))) return ok('does not exist yet')
  const { lockFolder } = await import('../../store/folder/folderLock.js')
  const { openShardStoreSnapshot } = await import('../../store/shardStore.js')
  const { checkIdentity } = await import('../../store/storeIdentity.js')
  const { readPerTransactionFrom } = await import('../../shard/position/chainPosition.js')
  const lock = lockFolder(dataDir, 'read')
  try {
    const store = openShardStoreSnapshot(directory)
    try {
      store.refresh()
      checkIdentity(store, network, directory)
      const from = readPerTransactionFrom(store)
      const count = from === undefined ? '' : `; logs are numbered per transaction from block ${from} on`
      return ok(`made for this network${count}`)
    } finally {
      store.release()
      await store.close()
    }
  } finally {
    lock.release()
  }
}
