import { Piscina } from 'piscina'
import type { StatusBoardHandle } from '../board/statusBoard.js'
import type { Config } from '../config/config.types.js'
import type { QueryThreadTimesHandle } from '../telemetry/counts/queryThreadTimes.js'
import type { PoolMetrics } from '../telemetry/frontCounts.js'
import type { Logger } from '../telemetry/logger.js'
import type { CompiledMerkle } from '../wasm/wasmModule.js'
import { BatchDispatcher, type PoolStats } from './batchDispatcher.js'
import { type BatchTask, createSlotMemory, type SlotMemory } from './batchSlots.js'
import type { PoolRequest } from './requestLanes.js'

/** What every worker gets at its start: plain data, the wasm module compiled once, the shared status board. */
export interface QueryWorkerData {
  readonly config: Config
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  readonly slots: SlotMemory
  /** Where each thread counts its time. */
  readonly times: QueryThreadTimesHandle
}

export interface QueryPoolOptions extends Omit<QueryWorkerData, 'slots'> {
  readonly logger: Logger
  readonly metrics: PoolMetrics
  /** A query found that a store contradicts itself: the service halts the network (`corrupt_store`). null = not known which. */
  onCorruptStore(networkId: number | null, message: string): void
  /** Milliseconds of running time: a batch does not count as stuck because the whole process stood still. */
  readonly now?: () => number
  /** How idle workers wait, as Piscina's option says; tests compare the values. */
  readonly atomics?: 'sync' | 'async' | 'disabled'
  /** File of the worker; tests pass another one. */
  readonly workerFile?: URL
}

export interface QueryPool {
  /** Queues a request for the batch of this turn of the event loop. @returns false when its lane is full or the pool drains. */
  submit(request: PoolRequest): boolean
  /** False while the pool answers nothing. */
  isAlive(): boolean
  stats(): PoolStats
  /** Takes nothing new, answers what waits, then ends the threads. */
  close(): Promise<void>
}

/** Limit of a worker's JavaScript heap. A worker that exceeds it dies, the process does not. */
const WORKER_HEAP_MB = 1024
/**
 * Size of a worker's young generation: three semi-spaces of twice V8's default size. With it a page takes 6 µs less of garbage
 * collection, out of 91 µs of CPU time (9 rounds in turn, November 2026, Node 20).
 */
const WORKER_YOUNG_MB = 96

/** Two, so that a worker finds its next batch without a round trip. */
const BATCHES_PER_WORKER = 2

/**
 * Piscina calls `require` on a worker's file before it imports it. A thread that is terminated inside `require` of a module ends
 * the process (Node 20.20: "IsGraphAsync must be used on an instantiated module"). That happens when a pool closes while it
 * replaces a dead worker.
 */
const NO_REQUIRED_MODULES = ['--no-experimental-require-module']

/** Flags of Node that load code into each thread. Flags of the whole process (`--max-old-space-size`) are refused for a thread. */
const FLAGS_WITH_FILE = ['--import', '--require', '-r', '--loader', '--experimental-loader']

/** Those of this process's flags that its query threads get as well. */
export function threadFlags(execArgv: readonly string[]): string[] {
  return execArgv.filter((flag, at) => {
    const [name] = flag.split('=', 1)
    return (
      flag === '--enable-source-maps' ||
      FLAGS_WITH_FILE.includes(name!) ||
      (at > 0 && FLAGS_WITH_FILE.includes(execArgv[at - 1]!))
    )
  })
}

/**
 * Starts a fixed number of query threads, each of which reads every shard. Every query goes through this pool; those of one
 * turn of the event loop go to a thread as one task.
 * @throws what a worker throws while it opens the shards.
 */
export async function startQueryPool(options: QueryPoolOptions): Promise<QueryPool> {
  const { config, compiled, status, times, logger, metrics } = options
  const { workers, maxQueue } = config.pool
  const maxInFlight = workers * BATCHES_PER_WORKER
  // One more than in flight, for the batch whose answers are being sent.
  const slots = createSlotMemory(maxInFlight + 1)
  const workerData: QueryWorkerData = { config, compiled, status, slots, times }
  const piscina = new Piscina<BatchTask, ArrayBuffer | undefined>({
    filename: (options.workerFile ?? new URL('../../bundle/threads/query.worker.js', import.meta.url)).href,
    minThreads: workers,
    maxThreads: workers,
    concurrentTasksPerWorker: BATCHES_PER_WORKER,
    atomics: options.atomics ?? 'sync',
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    execArgv: [...threadFlags(process.execArgv), ...NO_REQUIRED_MODULES],
    resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB, maxYoungGenerationSizeMb: WORKER_YOUNG_MB },
    workerData,
  })
  let isClosing = false
  piscina.on('error', (error: unknown) => logger.error('query worker failed', { error }))
  piscina.on('workerDestroy', () => {
    if (!isClosing) metrics.workerRestarted()
  })
  const endThreads = (): Promise<void> => {
    isClosing = true
    return piscina.destroy()
  }
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
    endThreads,
  })
  try {
    // An empty batch per worker, so that shards are open and modules loaded before the first request.
    await Promise.all(
      Array.from({ length: workers }, () => piscina.run({ slot: 0, queries: new ArrayBuffer(0) })),
    )
  } catch (error) {
    await endThreads()
    throw error
  }
  return dispatcher
}
