import { accessSync, constants, existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config, NetworkConfig } from '../config/config.types.js'
import { OperatorError } from '../errors/operatorError.js'

/** What one look told; a throw means that it failed, and its message says why. */
export interface Finding {
  readonly outcome: 'ok' | 'warn'
  readonly detail: string
}

export interface Check {
  readonly what: string
  run(): Promise<Finding> | Finding
}

const FEW_FILES = 1024
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
    run: async () => ok((await import('../merkle/wasm.js')).compileMerkleModule().name),
  },
  { what: 'open files', run: openFiles },
]

/** Checks of what the configuration names on this machine. */
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
  const { loadUws } = await import('../http/uws.js')
  const { name, version } = loadUws()
  const glibc = glibcVersion()
  const isOld = glibc !== undefined && glibc.localeCompare(MODERN_GLIBC, 'en', { numeric: true }) < 0
  const reason = isOld ? `; the modern build needs glibc ${MODERN_GLIBC}` : ''
  return ok(`${name} ${version}, native${reason}`)
}

async function storeWorksIn(folder: string): Promise<Finding> {
  const { testStoreIn } = await import('../store/selfTest.js')
  await testStoreIn(folder)
  return ok('writes and reads a store')
}

/** Sockets are files: every connection takes one. */
function openFiles(): Finding {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : ''
  const soft = /^Max open files +(\S+)/m.exec(limits)?.[1]
  if (soft === undefined) return ok('this system does not tell')
  if (soft !== 'unlimited' && Number(soft) < FEW_FILES)
    return warn(`${soft} at most: each connection takes one; raise it with ulimit -n or LimitNOFILE`)
  return ok(`${soft} at most`)
}

function dataFolder(dataDir: string): Finding {
  mkdirSync(dataDir, { recursive: true })
  accessSync(dataDir, constants.R_OK | constants.W_OK)
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const detail = `${dataDir}, ${Math.floor(free / 2 ** 30)} GiB free`
  return free < LITTLE_SPACE_BYTES ? warn(detail) : ok(detail)
}

async function fileSystem(dataDir: string): Promise<Finding> {
  const { unsafeFileSystem } = await import('../store/fileSystem.js')
  const name = unsafeFileSystem(dataDir)
  if (name === undefined) return ok('a local one, as far as the system tells')
  return warn(`${name}: keep the data on a local disk or a block volume`)
}

async function storeIdentity(dataDir: string, network: NetworkConfig): Promise<Finding> {
  const { shardDirectory } = await import('../store/shardDirectory.js')
  const directory = shardDirectory(dataDir, network.networkId)
  if (!existsSync(join(directory, 'data.mdb'))) return ok('not made yet')
  const { lockFolder } = await import('../store/folderLock.js')
  const { openShardStoreSnapshot } = await import('../store/shardStore.js')
  const { checkIdentity } = await import('../store/identity.js')
  const { readPerTransactionFrom } = await import('../shard/write/chainPosition.js')
  const lock = lockFolder(dataDir, 'read')
  try {
    const store = openShardStoreSnapshot(directory)
    try {
      store.refresh()
      checkIdentity(store, network, directory)
      const from = readPerTransactionFrom(store)
      const count = from === undefined ? '' : `; logs are counted per transaction from block ${from} on`
      return ok(`made for this network${count}`)
    } finally {
      store.release()
      await store.close()
    }
  } finally {
    lock.release()
  }
}
