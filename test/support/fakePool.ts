import { createStatusBoard } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import type { QueryReply } from '../../src/pool/batchMessages.js'
import type { ContentCoding } from '../../src/pool/contentCoding.js'
import { type QueryPool, type QueryPoolOptions, startQueryPool } from '../../src/pool/queryPool.js'
import { asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import type { OperationId, QueryByOperation } from '../../src/query/queries.js'
import { createQueryThreadTimes } from '../../src/telemetry/counts/queryThreadTimes.js'
import { createLogger, type Logger } from '../../src/telemetry/logger.js'
import type { CompiledMerkle } from '../../src/wasm/wasmModule.js'
import type { SnapshotCare } from '../unit/pool/storeQuery.js'
import { createGate, type Gate } from './fakeQueryFaults.js'

/** A pool, and what it reports. */
export interface WatchedPool {
  readonly pool: QueryPool
  readonly status: QueryPoolOptions['status']
  readonly logger: Logger
  readonly logLines: string[]
  /** Sizes of the batches that were answered, in order. */
  readonly batchSizes: number[]
  readonly restarts: () => number
  readonly corrupt: [networkId: number | null, message: string][]
}

export async function startWatchedPool(
  options: Omit<QueryPoolOptions, 'logger' | 'metrics' | 'onCorruptStore' | 'times'>,
): Promise<WatchedPool> {
  const batchSizes: number[] = []
  const corrupt: WatchedPool['corrupt'] = []
  const logLines: string[] = []
  let restarts = 0
  const logger = createLogger({ level: 'debug', format: 'json' }, {}, (line) => logLines.push(line))
  const pool = await startQueryPool({
    ...options,
    times: createQueryThreadTimes(options.config.pool.workers),
    logger,
    metrics: {
      batchFinished: (requests) => batchSizes.push(requests),
      workerRestarted: () => restarts++,
      rejected: () => undefined,
    },
    onCorruptStore: (networkId, message) => corrupt.push([networkId, message]),
  })
  return { pool, status: options.status, logger, logLines, batchSizes, restarts: () => restarts, corrupt }
}

/** A real pool whose workers give made-up answers (`fakeQueryWorker`). */
export type FakePool = WatchedPool & { readonly gate: Gate }

export async function startFakePool(
  config: Config,
  options: Partial<Pick<QueryPoolOptions, 'workerFile' | 'atomics'>> = {},
  care: SnapshotCare = 'both ends',
): Promise<FakePool> {
  const gate = createGate()
  const watched = await startWatchedPool({
    config,
    // The module for the worker data. The fake workers need no wasm.
    compiled: { name: 'none', gate, care } as unknown as CompiledMerkle,
    status: createStatusBoard(config.networks.map(({ networkId }) => networkId)),
    workerFile: new URL('./fakeQueryWorker.js', import.meta.url),
    ...options,
  })
  return { ...watched, gate }
}

/** Asks and waits. Requests asked before the next await share a loop turn. */
export function ask<K extends OperationId>(
  pool: QueryPool,
  operation: K,
  query: QueryByOperation[K],
  coding: ContentCoding = 'identity',
): Promise<QueryReply> {
  return new Promise((resolve, reject) => {
    // The body is only valid during the call.
    const deliver = (reply: QueryReply): void =>
      resolve({ ...reply, body: reply.body.slice(), tag: reply.tag.slice() })
    const isTaken = pool.submit({ operation, query, coding, isWanted: () => true, deliver })
    if (!isTaken) reject(new Error('refused'))
  })
}

/** The cheapest query. The `timestamp` of its answer is the deposit count. */
export function askIndex(pool: QueryPool, depositCount: number): Promise<QueryReply> {
  return ask(pool, 'getL1InfoTreeIndex', {
    networkId: asNetworkId(1),
    depositCount: asDepositCount(depositCount),
  })
}

export function jsonOf(reply: QueryReply): unknown {
  return JSON.parse(new TextDecoder().decode(reply.body))
}
