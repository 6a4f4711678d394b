import { rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type StatusBoardHandle, type StatusRow, statusRow } from '../board/statusBoard.js'
import { ClusterUnavailableError } from '../cluster/clusterFaults.js'
import type { ClusterServers } from '../cluster/clusterServers.js'
import { type CommandLog, createCommandLog } from '../cluster/commandLog.js'
import { asLogSequence } from '../cluster/logStream.js'
import type { ClusterConfig, Config } from '../config/config.types.js'
import { hideAddresses } from '../config/hideAddresses.js'
import { FatalError } from '../errors/chainErrors.js'
import { OperatorError } from '../errors/operatorError.js'
import type { TreeHasher } from '../merkle/hasher.js'
import { asNetworkId } from '../protocol/units.js'
import { systemClock, unixMs } from '../telemetry/clocks.js'
import { createLogger, type Logger } from '../telemetry/logger.js'
import { type CompiledMerkle, createHasher } from '../wasm/wasmModule.js'
import { openServers } from './servers.js'
import { SnapshotSets, type VerifiedSet } from './snapshotSets.js'
import { Spread } from './spread.js'
import { stageNewest } from './stageNewest.js'
import { takeSnapshot, takeSnapshotLease, WORK_PREFIX } from './takeSnapshot.js'

/** What the thread of an instance starts with: data that can be sent to a worker. */
export interface InstanceData {
  readonly config: Config
  readonly compiled: CompiledMerkle
  /** Of the running service. Absent: before it starts, the thread looks for a snapshot for `empty`, and ends. */
  readonly status?: StatusBoardHandle
  /** Networks whose stores hold nothing yet. */
  readonly empty: readonly number[]
}

/** Stores of these networks are to be replaced: by staged ones, or by the log from its beginning. */
export interface RenewalMessage {
  readonly type: 'renewal'
  readonly networkIds: readonly number[]
  readonly isStaged: boolean
  /** Of these networks, those whose stores differed from their logs. */
  readonly diverged: readonly number[]
  /** Name of the instance whose stores are staged. */
  readonly maker?: string
}

/** Longest time to find a snapshot for empty stores at the start, when no server answers. */
const LONGEST_ASKING_MS = 15_000
const LOOK_EVERY_MS = 1_000
/** How often the schedule is looked at, at most; and of an interval how long those wait that lead, so that others come first. */
const LONGEST_LOOK_MS = 60_000
const LOOKS_PER_INTERVAL = 10
/** After a snapshot that could not be made, and after none could be taken over. */
const RETRY_MS = 30_000
/** Share of a log's room from which on what two snapshots have is removed. */
const NEAR_FULL = 0.7
/** Halts that a snapshot, or the log from its beginning, cures. */
const CURABLE: readonly string[] = ['diverged', 'behind_log', 'corrupt_store']
/** The same network is renewed again only so long after. */
const BETWEEN_RENEWALS_MS = 300_000

/** What one instance does besides its networks: snapshots, stores that it can't follow on, and how many networks it leads. */
export async function runInstance(
  data: InstanceData,
  asked: AbortSignal,
  post: (message: RenewalMessage) => void,
): Promise<void> {
  const { config, compiled, status, empty } = data
  const { cluster } = config
  if (cluster === undefined) throw new FatalError('this instance is in no cluster')
  hideAddresses(config)
  const end = new AbortController()
  const signal = AbortSignal.any([asked, end.signal])
  const logger = createLogger(config.log, { component: 'instance' })
  const servers = openServers(cluster, logger)
  try {
    const parts = { config, cluster, servers, logger, hasher: createHasher(compiled), post }
    if (status === undefined) await adoptForEmpty(parts, empty, signal)
    else await serve({ ...parts, status }, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    end.abort()
    await servers.close()
  }
}

interface Parts {
  readonly config: Config
  readonly cluster: ClusterConfig
  readonly servers: ClusterServers
  readonly logger: Logger
  readonly hasher: TreeHasher
  readonly post: (message: RenewalMessage) => void
}

interface ServingParts extends Parts {
  readonly status: StatusBoardHandle
}

async function openSets(servers: ClusterServers, signal: AbortSignal): Promise<SnapshotSets> {
  const board = await servers.openKeyBoard('leases', signal)
  return new SnapshotSets(board, await servers.openObjectStore(signal), systemClock)
}

async function openLog(servers: ClusterServers, networkId: number, signal: AbortSignal): Promise<CommandLog> {
  return createCommandLog(await servers.openLogStream(asNetworkId(networkId), signal), systemClock)
}

/** Stages the newest snapshot for stores that hold nothing. Without one, or without servers, they read the log from its beginning. */
async function adoptForEmpty(
  { config, servers, logger, hasher, post }: Parts,
  empty: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const asking = new AbortController()
  const timer = setTimeout(() => asking.abort(new OperatorError('no server answers')), LONGEST_ASKING_MS)
  try {
    const sets = await openSets(servers, AbortSignal.any([signal, asking.signal]))
    clearTimeout(timer)
    const options = { config, sets, hasher, logger, signal }
    const openOne = (networkId: number): Promise<CommandLog> => openLog(servers, networkId, signal)
    const set = await stageNewest({ ...options, openLog: openOne }, empty)
    if (set !== undefined)
      post({ type: 'renewal', networkIds: empty, isStaged: true, diverged: [], maker: set.maker })
  } catch (error) {
    if (signal.aborted || !isExpected(error)) throw error
    logger.warn('no snapshot was looked for', { error })
  } finally {
    clearTimeout(timer)
  }
}

async function serve(parts: ServingParts, signal: AbortSignal): Promise<void> {
  const { config, cluster, servers, status, logger } = parts
  await removeWork(config.dataDir)
  const board = await servers.openKeyBoard('leases', signal)
  const leads = (networkId: number): boolean => statusRow(status, networkId).get('leads') === 1
  const networkIds = config.networks.map(({ networkId }) => asNetworkId(networkId))
  const { instance } = cluster
  const spread = new Spread({ board, instance, networkIds, leads, clock: systemClock, logger })
  const sets = await openSets(servers, signal)
  await Promise.all([
    ...(cluster.role === 'any' ? [spread.run(signal)] : []),
    keepSnapshots(parts, sets, signal),
    renewStores(parts, sets, signal),
    showSets(status, sets, signal),
  ])
}

/** Shows on the board which snapshots there are. */
async function showSets(status: StatusBoardHandle, sets: SnapshotSets, signal: AbortSignal): Promise<void> {
  const rows = status.networkIds.map((networkId) => ({ networkId, row: statusRow(status, networkId) }))
  for await (const listed of sets.watch(signal))
    for (const { networkId, row } of rows) {
      const having = listed.filter(({ sequences }) => networkId in sequences)
      row.set('snapshots', having.length)
      row.set('snapshotSequence', having[0]?.sequences[networkId])
      row.set('snapshotMadeMs', having[0]?.madeAtMs)
      row.set('snapshotBytes', having[0]?.bytes[networkId])
    }
}

function countFailure(rows: readonly StatusRow[]): void {
  for (const row of rows) row.add('snapshotFailures', 1)
}

/** Folders of copies that a process could not remove because it was killed. */
async function removeWork(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith(WORK_PREFIX)) rmSync(join(dataDir, name), { recursive: true, force: true })
}

/** Makes a set whenever the newest one is old enough or a log gets full, and takes out of full logs what two sets have. */
async function keepSnapshots(parts: ServingParts, sets: SnapshotSets, signal: AbortSignal): Promise<void> {
  const { config, cluster, servers, logger, status } = parts
  const everyMs = cluster.snapshotEveryMs
  const lookMs = Math.min(LONGEST_LOOK_MS, everyMs === 0 ? LONGEST_LOOK_MS : everyMs / LOOKS_PER_INTERVAL)
  const rows = config.networks.map(({ networkId }) => statusRow(status, networkId))
  const logs = new Map<number, CommandLog>()
  for (const { networkId } of config.networks) logs.set(networkId, await openLog(servers, networkId, signal))
  const isDue = async (): Promise<boolean> => {
    const [newest, older] = await sets.list(signal)
    const isFull = await isAnyNearFull(logs, cluster.maxLogBytes, signal)
    const isRepeatable = rows.every((row) => row.haltReason() === 'none' || row.haltReason() === 'log_full')
    const ageMs = newest === undefined ? Number.POSITIVE_INFINITY : unixMs() - newest.madeAtMs
    if (!isRepeatable || !hasMoved(newest, rows, config)) return false
    // A second set lets a full log go on.
    if (isFull && (older === undefined || ageMs > lookMs)) return true
    return everyMs > 0 && ageMs >= everyMs && rows.every((row) => row.get('caughtUp') === 1)
  }
  for (;;) {
    // Not all at once, and those that lead last.
    const share = rows.some((row) => row.get('leads') === 1) ? 0.6 : 0.3
    await systemClock.sleep(lookMs * (share + 0.4 * systemClock.random()), signal)
    try {
      await forgetOld(logs, await sets.list(signal), cluster.maxLogBytes, logger, signal)
      if (!(await isDue())) continue
      const board = await servers.openKeyBoard('leases', signal)
      const lease = await takeSnapshotLease(board, cluster.instance, signal)
      try {
        if (await isDue()) await takeOne(parts, sets, AbortSignal.any([signal, lease.ended]))
      } finally {
        await lease.release()
      }
    } catch (error) {
      if (signal.aborted || !isExpected(error)) throw error
      countFailure(rows)
      logger.error('no snapshot could be made', { error })
      await systemClock.sleep(RETRY_MS * systemClock.random(), signal)
    }
  }
}

async function takeOne(
  { config, cluster, logger, hasher }: Parts,
  sets: SnapshotSets,
  signal: AbortSignal,
): Promise<void> {
  const startedMs = systemClock.now()
  const set = await takeSnapshot({
    ...{ config, sets, hasher, signal },
    maker: cluster.instance,
    onProgress: () => undefined,
  })
  logger.info('a snapshot was made and verified', {
    set: set.id,
    durationMs: Math.round(systemClock.now() - startedMs),
  })
}

/** Whether any log has gone on since. */
function hasMoved(
  newest: VerifiedSet | undefined,
  rows: readonly StatusRow[],
  { networks }: Config,
): boolean {
  return networks.some(
    ({ networkId }, at) => (rows[at]!.get('logSequence') ?? 0) > (newest?.sequences[networkId] ?? 0),
  )
}

async function isAnyNearFull(
  logs: ReadonlyMap<number, CommandLog>,
  maxLogBytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (const log of logs.values()) if ((await log.usedBytes(signal)) > NEAR_FULL * maxLogBytes) return true
  return false
}

/** Removes from logs that are nearly full what stands at or before both sets. */
async function forgetOld(
  logs: ReadonlyMap<number, CommandLog>,
  sets: readonly VerifiedSet[],
  maxLogBytes: number,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  if (sets.length < 2) return
  for (const [networkId, log] of logs) {
    if ((await log.usedBytes(signal)) <= NEAR_FULL * maxLogBytes) continue
    const upTo = Math.min(...sets.map(({ sequences }) => sequences[networkId] ?? 0))
    const { first } = await log.bounds(signal)
    if (upTo < first) continue
    await log.forget(asLogSequence(upTo), signal)
    logger.info('what two snapshots have was removed from the log', { networkId, upTo })
  }
}

/** Looks for networks whose stores can't be followed on, and has new ones made for them. */
async function renewStores(
  { config, cluster, servers, status, logger, hasher, post }: ServingParts,
  sets: SnapshotSets,
  signal: AbortSignal,
): Promise<void> {
  const openOne = (networkId: number): Promise<CommandLog> => openLog(servers, networkId, signal)
  for (;;) {
    await systemClock.sleep(LOOK_EVERY_MS, signal)
    const networkIds = status.networkIds.filter(
      (networkId) =>
        CURABLE.includes(statusRow(status, networkId).haltReason()) && mayRenew(cluster, networkId),
    )
    if (networkIds.length === 0) continue
    const diverged = networkIds.filter((id) => statusRow(status, id).haltReason() === 'diverged')
    try {
      const options = { config, sets, hasher, logger, signal, openLog: openOne, doubted: cluster.instance }
      const set = await stageNewest(options, networkIds)
      if (set !== undefined) {
        post({ type: 'renewal', networkIds, isStaged: true, diverged, maker: set.maker })
        return
      }
      const bounds = await Promise.all(networkIds.map(async (id) => (await openOne(id)).bounds(signal)))
      if (bounds.every(({ first }) => first === 1)) {
        post({ type: 'renewal', networkIds, isStaged: false, diverged })
        return
      }
      countFailure(networkIds.map((networkId) => statusRow(status, networkId)))
      logger.error('no snapshot can replace what is stored, and the log has no beginning', { networkIds })
    } catch (error) {
      if (signal.aborted || !isExpected(error)) throw error
      countFailure(networkIds.map((networkId) => statusRow(status, networkId)))
      logger.error('no snapshot could be taken over', { networkIds, error })
    }
    await systemClock.sleep(RETRY_MS, signal)
  }
}

/** A cause that a new store does not cure must not keep an instance busy. */
function mayRenew({ renewed = {} }: ClusterConfig, networkId: number): boolean {
  const last = renewed[networkId]
  return last === undefined || unixMs() - last.atUnixMs > BETWEEN_RENEWALS_MS
}

function isExpected(error: unknown): boolean {
  return (
    error instanceof ClusterUnavailableError || error instanceof OperatorError || error instanceof FatalError
  )
}
