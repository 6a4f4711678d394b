import { statfsSync } from 'node:fs'
import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client'
import type { StatusBoardHandle } from '../board/statusBoard.js'
import type { Config } from '../config/config.types.js'
import { registerNetworkMetrics } from '../health/networkMetrics.js'
import type { StoreGuard } from '../store/openStores.js'
import type { StoreFigures } from '../store/shardStore.types.js'
import { buildInfo } from '../telemetry/buildInfo.js'
import { IndexerCountsReader } from '../telemetry/counts/indexerCounts.js'
import { registerIndexerMetrics } from '../telemetry/counts/indexerMetrics.js'
import { queryThreadTimesReader } from '../telemetry/counts/queryThreadTimes.js'
import { type NamedThread, registerThreadMetrics, watchOwnThread } from '../telemetry/counts/threadTimes.js'
import { FrontCountsReader } from '../telemetry/frontCounts.js'
import { gaugeOf } from '../telemetry/metrics.js'
import { readProcessMemory } from '../telemetry/processMemory.js'
import { standardError, standardOutput } from '../telemetry/standardStreams.js'
import type { Fronts } from './fronts.js'

/** Names of the parts that were chosen at the start, for `bds_build_info`. */
export interface BuildParts {
  readonly hasher: string
  readonly transport: string
}

/**
 * Time between two samples of the event loop's lag. Each one wakes the main thread: with prom-client's 10 ms they took most of the
 * CPU time of a service at rest.
 */
const LOOP_SAMPLE_MS = 1_000

/** Gauges of prom-client whose names say that they count: `promtool` refuses them, and the same numbers are told by kind as well. */
const BADLY_NAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** Registers metrics of the process as a whole: build, disk, Node itself, and everything on the status board. */
export function registerServiceMetrics(
  registry: Registry,
  config: Config,
  status: StatusBoardHandle,
  fronts: Pick<Fronts, 'counts' | 'queryTimes'>,
  stores: StoreGuard['stores'],
  parts: BuildParts,
): void {
  const build = { version: buildInfo.version, node: buildInfo.node, ...parts }
  new Gauge({
    name: 'bds_build_info',
    help: 'What runs here; always 1',
    labelNames: Object.keys(build),
    registers: [registry],
  }).set(build, 1)
  gaugeOf(registry, 'bds_disk_free_bytes', 'Bytes free on the disk of the store', () => {
    try {
      const { bavail, bsize } = statfsSync(config.dataDir)
      return bavail * bsize
    } catch {
      // The folder is gone. The other metrics must still be readable.
      return Number.NaN
    }
  })
  if (readProcessMemory() !== undefined) registerMemory(registry)
  new Counter({
    name: 'bds_log_lines_dropped_total',
    help: 'Lines that standard error or standard output did not accept',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(standardError().dropped() + standardOutput().dropped())
    },
  })
  registerNetworkMetrics(registry, status, config.cluster !== undefined)
  registerIndexerMetrics(registry, status.counts)
  registerThreadMetrics(registry, threadsOf(status, fronts))
  registerStores(registry, stores)
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS })
  for (const name of BADLY_NAMED) registry.removeSingleMetric(name)
}

/** Main, the front threads, the query threads of each front thread together, and the indexer threads. */
function threadsOf(
  { networkIds, counts }: StatusBoardHandle,
  fronts: Pick<Fronts, 'counts' | 'queryTimes'>,
): NamedThread[] {
  const ofQueries = fronts.queryTimes.map((handle, at) => ({
    thread: `query ${at + 1}`,
    read: queryThreadTimesReader(handle),
  }))
  const ofFronts = fronts.counts.map((handle, at) => {
    const reader = new FrontCountsReader(handle)
    return { thread: `front ${at + 1}`, read: () => reader.thread() }
  })
  const ofIndexers = networkIds.map((networkId) => {
    const reader = new IndexerCountsReader(counts, networkId)
    return { thread: `indexer ${networkId}`, read: () => reader.thread() }
  })
  return [watchOwnThread('main'), ...ofFronts, ...ofQueries, ...ofIndexers]
}

function registerStores(registry: Registry, stores: StoreGuard['stores']): void {
  const figures: readonly [name: string, help: string, figure: keyof StoreFigures][] = [
    ['bds_lmdb_map_bytes', 'Address space that the file of the store is mapped into', 'mapBytes'],
    ['bds_lmdb_free_bytes', 'Pages of the file of the store that nothing is stored in', 'freeBytes'],
    ['bds_lmdb_readers', 'Snapshots of the store that are open, in all processes', 'readers'],
    [
      'bds_lmdb_oldest_reader_transactions',
      'Commits since the oldest open snapshot: what they freed can not be used again yet',
      'oldestReader',
    ],
  ]
  for (const [name, help, figure] of figures)
    new Gauge({
      name,
      help,
      labelNames: ['network_id'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [networkId, store] of stores) this.set({ network_id: networkId }, store.figures()[figure])
      },
    })
}

/** Only their sum is among Node's own metrics, but a container is killed for the first part alone. */
function registerMemory(registry: Registry): void {
  new Gauge({
    name: 'bds_resident_bytes',
    help: 'Resident memory: what the process needs (anonymous), and pages of files that the system may take back (file)',
    labelNames: ['part'],
    registers: [registry],
    collect() {
      const memory = readProcessMemory()
      this.set({ part: 'anonymous' }, memory?.anonymousBytes ?? Number.NaN)
      this.set({ part: 'file' }, memory?.fileBytes ?? Number.NaN)
    },
  })
}
