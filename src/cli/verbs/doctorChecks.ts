import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tellSizes } from '../../cell/cellSizes.js'
import type { Config, HttpConfig, NetworkConfig } from '../../config/config.types.js'
import { OperatorError } from '../../errors/operatorError.js'
import { dialectPorts } from '../../http/dialectTargets.js'
import { demandOf, sizesHere } from '../../service/startLimits.js'
import { makeDataFolder } from '../../store/folder/dataFolder.js'
import { glibcVersion } from '../../telemetry/buildInfo.js'
import { usableCores } from '../../telemetry/cores.js'
import { type Demand, deadlyLimits, judgeLimits, readLimits } from '../../telemetry/processLimits.js'
import { reachableUrl } from '../input/configuredUrl.js'

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

/** Checks of the machine. @param config undefined where there is none that can be used. */
export function machineChecks(config: Config | undefined): Check[] {
  return [
    { what: 'Node', run: nodeVersion },
    { what: 'C library', run: cLibrary },
    { what: 'HTTP server', run: () => httpServer(config?.http ?? USUAL_HTTP) },
    ...(config === undefined ? [] : [{ what: 'front threads', run: () => frontThreads(config) }]),
    { what: 'LMDB', run: () => storeWorksIn(tmpdir()) },
    {
      what: 'hashing',
      run: async () => ok((await import('../../wasm/wasmModule.js')).compileMerkleModule().name),
    },
  ]
}

/** What is checked without a configuration. */
const USUAL_HTTP = { transport: 'auto', adaptCore: true } as const

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
const SMALLEST: Demand = { networks: 2, fronts: 1, workers: 1, storeBytes: 0 }

/** Checks the data folder of a configuration, and the stores in it. */
export function folderChecks(config: Config): Check[] {
  const { dataDir } = config
  return [
    { what: 'data folder', run: () => dataFolder(dataDir) },
    { what: 'file system', run: () => fileSystem(dataDir) },
    { what: 'LMDB in the data folder', run: () => storesFitIn(dataDir) },
    ...config.networks.map((network) => ({
      what: `store of network ${network.networkId}`,
      run: () => storeIdentity(dataDir, network),
    })),
  ]
}

/** Checks each NATS server of a cluster by itself; none where the service is alone. */
export function clusterChecks({ cluster }: Config): Check[] {
  if (cluster === undefined) return []
  return cluster.servers.map((server, position) => ({
    what: `NATS server ${position + 1}`,
    run: async () => {
      const { openServers } = await import('../../member/servers.js')
      const { createLogger } = await import('../../telemetry/logger.js')
      const logger = createLogger({ level: 'error', format: 'json' }, { component: 'doctor' })
      const servers = openServers({ ...cluster, servers: [server] }, logger)
      const signal = AbortSignal.timeout(LONGEST_ANSWER_MS)
      try {
        const leases = await servers.openKeyBoard('leases', signal)
        await leases.find('0', signal)
        return ok('takes this instance, and JetStream answers')
      } catch (error) {
        if (!signal.aborted) throw error
        throw new OperatorError(
          `no answer for ${LONGEST_ANSWER_MS / 1000} s: it does not run, does not accept the credentials, or JetStream has no leader`,
        )
      } finally {
        await servers.close()
      }
    },
  }))
}

const LONGEST_ANSWER_MS = 8_000

/** Checks that the ports can be had, or that the service that has them is one of ours. */
export function portChecks({ dataDir, http, ops, dialects }: Config): Check[] {
  const own = dialectPorts(dialects).map(
    ([name, port]) => [`dialects.${name}`, { host: http.host, port }] as const,
  )
  return [...Object.entries({ http, ops }), ...own].map(([section, { host, port }]) => ({
    what: `${section}.port`,
    // A dialect's port tells nobody whose it is: the API's does.
    run: () => portFinding(host, port, dataDir, section === 'ops' ? port : http.port),
  }))
}

async function portFinding(host: string, port: number, dataDir: string, probed: number): Promise<Finding> {
  if (port === 0) return ok('any free port')
  const { takePort } = await import('../../cell/sharedPort.js')
  try {
    const taken = await takePort(host, port)
    taken.release()
    return ok(`${host}:${port} is free`)
  } catch (error) {
    // A folder that no service has had shows that the one that answers is another one.
    if (existsSync(join(dataDir, 'bds.lock')) && (await isAlive(reachableUrl(host, probed))))
      return ok(`${host}:${port} is taken by a running bds`)
    throw error
  }
}

async function isAlive(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(LONGEST_ANSWER_MS) })
    return ((await response.json()) as { readonly status?: unknown }).status === 'alive'
  } catch {
    return false
  }
}

const ok = (detail: string): Finding => ({ outcome: 'ok', detail })
const warn = (detail: string): Finding => ({ outcome: 'warn', detail })

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new OperatorError(`${process.versions.node} is older than 20.19`)
  return ok(`${process.versions.node}, ABI ${process.versions.modules}, ${process.platform} ${process.arch}`)
}

function cLibrary(): Finding {
  const version = glibcVersion()
  return version === undefined ? warn('not glibc: uWebSockets.js does not load') : ok(`glibc ${version}`)
}

async function httpServer(http: Pick<HttpConfig, 'transport' | 'adaptCore'>): Promise<Finding> {
  const { chooseTransport, transportLabel } = await import('../../http/chooseTransport.js')
  const { transport, reason } = chooseTransport(http)
  const label = transportLabel(transport)
  if (http.transport !== 'node' && reason === undefined) return ok(`${label}, native`)
  const told = `${label}, which takes two to three times the CPU`
  return reason === undefined ? ok(`${told}, as http.transport says`) : warn(`${told}: ${reason}`)
}

async function frontThreads(config: Config): Promise<Finding> {
  const { chooseTransport } = await import('../../http/chooseTransport.js')
  const { name, sharesPorts } = chooseTransport(config.http).transport
  const cores = usableCores()
  const sizes = sizesHere(config, { sharesPorts, transport: name })
  const detail = `${tellSizes(sizes)}, on ${Number(cores.toFixed(2))} cores`
  const threads = sizes.cells * (1 + sizes.workers)
  return sizes.cells > 1 && threads > cores ? warn(`${detail}: these threads share cores`) : ok(detail)
}

async function storeWorksIn(folder: string): Promise<Finding> {
  assertStoreIsSafe()
  const { testStoreIn } = await import('../../store/selfTest.js')
  await testStoreIn(folder)
  return ok('writes and reads a store')
}

async function storesFitIn(dataDir: string): Promise<Finding> {
  assertStoreIsSafe()
  const { assertReserve } = await import('../../store/shardStore.js')
  assertReserve(dataDir)
  return storeWorksIn(dataDir)
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
