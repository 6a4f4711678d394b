import { Piscina } from 'piscina'
import { routes } from '../api/routes.js'
import type { StatusBoardHandle } from '../board/statusBoard.js'
import type { Config } from '../config/config.types.js'
import type { OperationId, QueryByOperation } from '../query/queries.js'
import type { Logger } from '../telemetry/logger.js'
import type { PoolMetrics } from '../telemetry/metrics.js'
import type { CompiledMerkle } from '../wasm/wasmModule.js'
import { BatchDispatcher, type PoolStats } from './batchDispatcher.js'
import { type BatchTask, createSlotMemory, type SlotMemory } from './batchSlots.js'
import type { PoolRequest } from './requestLanes.js'

/** What every worker starts from: plain data, the wasm module compiled once, the shared status board. */
export interface QueryWorkerData {
  readonly config: Config
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  readonly slots: SlotMemory
}

export interface QueryPoolOptions extends Omit<QueryWorkerData, 'slots'> {
  readonly logger: Logger
  readonly metrics: PoolMetrics
  /** A query found that a store contradicts itself: `service/main` marks the shard halted (`corrupt_store`). null = not known which. */
  onCorruptStore(networkId: number | null, message: string): void
  /** Milliseconds of running time: a batch does not count as stuck because the whole process stood still. */
  readonly now?: () => number
  /** How idle workers wait; Piscina's own default unless a test compares. */
  readonly atomics?: 'sync' | 'async' | 'disabled'
  /** The worker's file; another one in tests. */
  readonly workerFile?: URL
}

export interface QueryPool {
  /** Queues a request for this loop turn's batch. @returns false when the queue is full or the pool drains: ask again later. */
  submit(request: PoolRequest): boolean
  /** False while the pool answers nothing. */
  isAlive(): boolean
  stats(): PoolStats
  /** Takes nothing new, answers what waits, then ends the threads. */
  close(): Promise<void>
}

/** A worker's JavaScript heap; one that passes it dies alone, the process lives. */
const WORKER_HEAP_MB = 1024
/**
 * Memory for a worker's newest objects, three times what V8 has in use of it between two collections. With twice V8's own
 * measure the collector, helper threads included, takes 6 of a page's 91 µs less (9 rounds in turn, November 2026, Node 20).
 */
const WORKER_YOUNG_MB = 96

/** Two batches per worker: it finds the next one without a round trip. */
const BATCHES_PER_WORKER = 2

/**
 * Piscina requires a worker's file before it imports it. A thread that is ended while it requires a module ends the process
 * (Node 20.20: "IsGraphAsync must be used on an instantiated module"), as when a pool closes that replaces a dead worker.
 */
const NO_REQUIRED_MODULES = ['--no-experimental-require-module']

/**
 * The only way to the data: a fixed number of threads that read every shard. Requests of one loop turn go as one task.
 * @throws whatever a worker throws while it opens the shards: then there is no pool.
 */
export async function startQueryPool(options: QueryPoolOptions): Promise<QueryPool> {
  const { config, compiled, status, logger, metrics } = options
  const { workers, maxQueue } = config.pool
  const maxInFlight = workers * BATCHES_PER_WORKER
  // One more, for the batch whose answers are being sent.
  const slots = createSlotMemory(maxInFlight + 1)
  const workerData: QueryWorkerData = { config, compiled, status, slots }
  const piscina = new Piscina<BatchTask, ArrayBuffer | undefined>({
    filename: (options.workerFile ?? new URL('./query.worker.js', import.meta.url)).href,
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: BATCHES_PER_WORKER,
    atomics: options.atomics ?? 'sync',
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    execArgv: [...process.execArgv, ...NO_REQUIRED_MODULES],
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB, maxYoungGenerationSizeMb: WORKER_YOUNG_MB },
    workerData,
  })
  let isClosing = false
  piscina.on('error', (error: unknown) => logger.error('query worker failed', { error }))
  piscina.on('workerDestroy', () => {
    if (!isClosing) metrics.workerRestarted()
  })
  const dispatcher = new BatchDispatcher({
    run: (task) => piscina.run(task, { transferList: task.queries === undefined ? [] : [task.queries] }),
    slots,
    workers,
    maxInFlight,
    maxWaiting: maxQueue,
    logger,
    metrics,
    now: options.now ?? (() => performance.now()),
    onCorruptStore: options.onCorruptStore,
  })
  try {
    // An empty batch per worker: the shards are open and the modules loaded before the first request comes.
    await Promise.all(
      Array.from({ length: workers }, () => piscina.run({ slot: 0, queries: new ArrayBuffer(0) })),
    )
  } catch (error) {
    isClosing = true
    await piscina.destroy()
    throw error
  }
  return {
    submit: (request) => dispatcher.submit(request, estimateBytes(request.operation, request.query)),
    isAlive: () => dispatcher.isAlive(),
    stats: () => dispatcher.stats(),
    close: async () => {
      await dispatcher.drain()
      isClosing = true
      await piscina.destroy()
    },
  }
}

function estimateBytes<K extends OperationId>(operation: K, query: QueryByOperation[K]): number {
  // A union of functions takes an intersection; operation and query belong together by construction.
  const estimate = routes[operation].estimateBytes as (query: QueryByOperation[K]) => number
  return estimate(query)
}
