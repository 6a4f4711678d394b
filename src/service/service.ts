import { setTimeout as delay } from 'node:timers/promises'
import { Registry } from 'prom-client'
import {
  awaitsHead,
  createStatusBoard,
  headPlaces,
  type StatusBoardHandle,
  statusRow,
} from '../board/statusBoard.js'
import { tellSizes } from '../cell/cellSizes.js'
import type { Config } from '../config/config.types.js'
import { OperatorError } from '../errors/operatorError.js'
import { createHealthBoard, HealthBoard } from '../health/healthBoard.js'
import { createHealthMonitor, type HealthMonitor } from '../health/healthMonitor.js'
import { chooseTransport, transportLabel } from '../http/chooseTransport.js'
import { dialectPorts } from '../http/dialectTargets.js'
import { type IndexerHandle, startIndexer } from '../indexer/thread/indexer.js'
import type { RenewalMessage } from '../member/instanceThread.js'
import { startOpsServer } from '../ops/opsServer.js'
import { publishStored } from '../shard/position/storedStatus.js'
import { unsafeFileSystem } from '../store/folder/fileSystem.js'
import { prepareStores } from '../store/openStores.js'
import { buildInfo, bundledThread } from '../telemetry/buildInfo.js'
import { AwakeClock, everySecond, SECOND_MS } from '../telemetry/clocks.js'
import { registerFrontMetrics } from '../telemetry/metrics.js'
import { readLimits } from '../telemetry/processLimits.js'
import { compileMerkleModule } from '../wasm/wasmModule.js'
import { watchRefusals, withConnectionLimits } from './connectionLimits.js'
import { LOST, watchFolder } from './folderHalt.js'
import { startFronts } from './fronts.js'
import { startInstance } from './instance.js'
import { watchProgress } from './progress.js'
import { Rooms } from './rooms.js'
import type { RunningService, ServiceOptions, StartService } from './service.types.js'
import { registerServiceMetrics } from './serviceMetrics.js'
import { sizesHere } from './startLimits.js'

/** Of the shortest silence that ends the process. A pause of the whole process counts as two of them at most, and heartbeats come as often. */
const TICKS_IN_TIMEOUT = 4

/** Longest time that the API port stays closed because a network has not compared its chain's head with its stored blocks. */
const LONGEST_CLOSED_MS = 10_000
const LOOK_EVERY_MS = 10

/**
 * Opens the rooms in order and connects them: what one room needs of another is passed here, as values and functions.
 * Rejects when the service can't start; what was opened is closed again.
 */
export const startService: StartService = async (options) => {
  const rooms = new Rooms()
  try {
    return await open(options, rooms)
  } catch (error) {
    await rooms.closeAll().catch(() => undefined)
    throw error
  }
}

async function open(
  { config: wanted, logger, announce }: ServiceOptions,
  rooms: Rooms,
): Promise<RunningService> {
  // Before anything is opened: it may be refused.
  const { transport, reason } = chooseTransport(wanted.http)
  const transportName = transportLabel(transport)
  const { sharesPorts } = transport
  const sizes = sizesHere(wanted, { sharesPorts, transport: transport.name })
  const config = withConnectionLimits(wanted, sizes, readLimits(), logger)
  const networkIds = config.networks.map(({ networkId }) => networkId)
  const status = createStatusBoard(networkIds)
  const compiled = compileMerkleModule()
  const registry = new Registry()
  const [failed, fail] = firstFault()
  const awake = new AwakeClock(Math.min(SECOND_MS, config.health.heartbeatTimeoutMs / TICKS_IN_TIMEOUT))
  const stopClock = awake.start()
  rooms.add('clock', async () => stopClock())
  const awakeNow = (): number => awake.now()
  const healthBoard = createHealthBoard(networkIds, sizes.cells)
  const health = createHealthMonitor({ config, status, board: new HealthBoard(healthBoard), awakeNow })

  const guard = prepareStores(config)
  rooms.add('stores', () => guard.close())
  // The indexer threads may start long after the ports open. Until then the sync status must count what the lists show.
  for (const [networkId, store] of guard.stores) {
    const row = statusRow(status, networkId)
    publishStored(store, row)
    row.setHeadPlace(headPlaces.unseen)
  }
  const fileSystem = unsafeFileSystem(config.dataDir)
  if (fileSystem !== undefined)
    logger.warn('data_dir is on a file system that is not safe for the store', {
      dataDir: config.dataDir,
      fileSystem,
    })

  const ops = await startOpsServer({
    ...config.ops,
    health,
    metrics: () => registry.metrics(),
  })
  rooms.add('operations port', () => ops.close())

  const progress = watchProgress({ config, announce, fail })
  const indexers = new Map<number, IndexerHandle>()
  const startOne = (inForce: Config, networkId: number): void => {
    const { onMessage } = progress
    // What was read again does not know which stores were renewed.
    const { cluster } = config
    const asStarted = cluster === undefined ? inForce : { ...inForce, cluster }
    const ofCluster = config.cluster === undefined ? {} : { entry: bundledThread('member.worker') }
    indexers.set(
      networkId,
      startIndexer({ config: asStarted, networkId, compiled, status, onMessage, ...ofCluster }),
    )
  }
  for (const { networkId } of config.networks) {
    startOne(config, networkId)
    rooms.add(`indexer of network ${networkId}`, async () => indexers.get(networkId)?.stop(), 'indexers')
  }

  const renewal = new Promise<RenewalMessage>((resolve) => {
    if (config.cluster === undefined) return
    const instance = startInstance({ config, compiled, status, empty: [] }, resolve, fail)
    rooms.add('instance', () => instance.stop())
  })

  /** A fault of a thread ends the start, too: nothing would come of what it waits for. */
  const unlessFailed = <T>(work: Promise<T>): Promise<T> =>
    Promise.race([
      work,
      failed.then((error) => {
        throw error
      }),
    ])
  const watching = { stop: (): void => undefined }
  // Opened before the front threads, so that they are watched until they have ended.
  rooms.add('watch of front threads', async () => watching.stop())
  const ending: { hasBegun: boolean; fault?: Error } = { hasBegun: false }
  const failFront = (error: Error): void => {
    if (ending.hasBegun) ending.fault ??= error
    else fail(error)
  }
  const fronts = startFronts(
    { config, compiled, status, health: healthBoard, sizes, transport: transportName, fail: failFront },
    rooms,
  )
  registerFrontMetrics(registry, fronts.counts)
  const lookAtRefusals = watchRefusals(fronts.counts, config.http, logger)
  /** What each tick does besides, from the moment that the port is open until the service stops. */
  let tickWhileRunning = (): void => undefined
  watching.stop = everySecond(() => {
    fronts.watch(awakeNow())
    lookAtRefusals(awakeNow())
    tickWhileRunning()
  })
  await unlessFailed(fronts.ready)
  await unlessFailed(waitForHeads(status))
  if (reason !== undefined)
    logger.warn('node:http answers in place of uWebSockets.js, and takes more CPU', { reason })
  const port = await unlessFailed(fronts.open())

  const parts = { hasher: compiled.name, transport: transportName }
  registerServiceMetrics(registry, config, status, fronts, guard.stores, parts)
  logger.info('service started', {
    ...parts,
    version: buildInfo.version,
    node: buildInfo.node,
    frontThreads: sizes.cells,
    queryThreads: sizes.cells * sizes.workers,
    networks: status.networkIds,
    dataDir: config.dataDir,
  })
  const lookAtFolder = watchFolder(guard, status, logger)
  tickWhileRunning = () => {
    tick(health, config, fail)
    void lookAtFolder()
  }
  health.setPhase('running')
  const url = `http://${config.http.host}:${port}`
  const opsUrl = `http://${config.ops.host}:${ops.port}`
  const told = config.http.threads === 1 ? '' : `, ${tellSizes(sizes)}`
  const own = dialectPorts(config.dialects).map(
    ([name, dialectPort]) => `, ${name} on http://${config.http.host}:${dialectPort}`,
  )
  announce(`listening on ${url} (operations on ${opsUrl}${own.join('')}${told})`)

  const stop = async (drainDelayMs: number): Promise<void> => {
    health.setPhase('draining')
    ending.hasBegun = true
    if (drainDelayMs > 0) await delay(drainDelayMs)
    tickWhileRunning = () => undefined
    await rooms.closeAll()
    // A front thread that broke down while it drained may have left requests without an answer.
    if (ending.fault !== undefined) throw ending.fault
  }
  let stopping: Promise<void> | undefined
  return {
    url,
    opsUrl,
    health,
    caughtUp: progress.caughtUp,
    failed,
    renewal,
    logSequence: (networkId) => statusRow(status, networkId).get('logSequence') ?? 0,
    setRateLimit: (rateLimit) => fronts.limit(rateLimit),
    restartIndexer: async (inForce, networkId) => {
      await indexers.get(networkId)?.stop()
      if (ending.hasBegun) return
      // The halt was the old thread's to end. The new one halts again if the reason still holds.
      const row = statusRow(status, networkId)
      const reason = row.haltReason()
      if (reason !== LOST) row.replaceHaltReason(reason, 'none')
      startOne(inForce, networkId)
    },
    stop: (drainDelayMs) => {
      stopping ??= stop(drainDelayMs)
      return stopping
    },
    closingRoom: () => rooms.closingNow(),
  }
}

/**
 * Waits until every network has seen its chain's head, since before that none of its deposits is ready. A proxy that does not
 * probe sends requests as soon as the port opens, and a restarted instance must not show fewer ready deposits than before. An
 * endpoint that does not answer keeps the port closed for 10 seconds at most.
 */
async function waitForHeads(status: StatusBoardHandle): Promise<void> {
  const endsAt = performance.now() + LONGEST_CLOSED_MS
  const rows = status.networkIds.map((networkId) => statusRow(status, networkId))
  while (rows.some(awaitsHead) && performance.now() < endsAt) await delay(LOOK_EVERY_MS)
}

function tick(health: HealthMonitor, config: Config, fail: (error: Error) => void): void {
  health.sample()
  for (const networkId of health.silentNetworks())
    fail(
      new OperatorError(
        `the indexer of network ${networkId} has given no sign of life for ${config.health.heartbeatTimeoutMs} ms`,
      ),
    )
}

/** A promise of the first fault, and the function that reports it. */
function firstFault(): [Promise<Error>, (error: Error) => void] {
  let fail: (error: Error) => void = () => undefined
  const failed = new Promise<Error>((resolve) => {
    fail = resolve
  })
  return [failed, fail]
}
