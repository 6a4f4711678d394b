import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { JsonWriter } from '../../src/api/present/jsonWriter.js'
import { createStatusBoard } from '../../src/board/statusBoard.js'
import { createVersionReader } from '../../src/board/version.js'
import type { HealthSource } from '../../src/health/healthSource.types.js'
import { chooseTransport } from '../../src/http/chooseTransport.js'
import { servedNetworks } from '../../src/http/servedNetworks.js'
import { startHttpServer } from '../../src/http/server.js'
import { answerers } from '../../src/pool/answerers.js'
import { decodeReplies } from '../../src/pool/batchMessages.js'
import { createTagWriter } from '../../src/pool/digestTag.js'
import { QueryWriter } from '../../src/pool/queryCodec.js'
import { type QueryPool, startQueryPool } from '../../src/pool/queryPool.js'
import type { PoolRequest } from '../../src/pool/requestLanes.js'
import { createBatchRunner } from '../../src/pool/runBatch.js'
import { openShardReaders } from '../../src/shard/queries/shardReaders.js'
import { prepareStores } from '../../src/store/openStores.js'
import { createQueryThreadTimes } from '../../src/telemetry/counts/queryThreadTimes.js'
import { createLogger } from '../../src/telemetry/logger.js'
import {
  compileMerkleModule,
  createHasher,
  createRowWriter,
  createTextDigest,
} from '../../src/wasm/wasmModule.js'
import { queryConfig } from '../query/queryConfig.js'
import { SERVED } from '../query/traffic.js'
import type { IndexerData, ToIndexer } from './indexerProcess.js'

/** What the process tells its parent. */
export interface ServicePorts {
  /** Answers are kept in the front. */
  readonly cached: number
  /** The same, without a cache: every request goes through the pool. */
  readonly uncached: number
  /** Without a cache and without a pool: the thread that listens reads the stores itself. */
  readonly alone: number
}

/*
 * The service's own front and query pool over seeded stores, without chains: `node serviceProcess.js <folder> <bridges> <seeded>`.
 * One front thread listens on all ports, so that all answers come from one process. Orders for its indexer come from the parent.
 */

const [, , folder, bridges, seeded] = process.argv
const config = queryConfig(folder!)
const status = createStatusBoard([...SERVED])
const compiled = compileMerkleModule()
prepareStores(config)
const workerData: IndexerData = {
  config,
  compiled,
  status,
  bridges: Number(bridges),
  seeded: Number(seeded),
}
const indexer = new Worker(new URL('./indexerProcess.js', import.meta.url), { workerData })
indexer.once('error', (error) => {
  throw error
})
await once(indexer, 'message')
indexer.on('message', (message) => process.send!(message))
process.on('message', (order: ToIndexer) => indexer.postMessage(order))

const logger = createLogger({ ...config.log, level: 'error' }, {})
const pool = await startQueryPool({
  config,
  compiled,
  status,
  times: createQueryThreadTimes(config.pool.workers),
  logger,
  metrics: { batchFinished: ignore, workerRestarted: ignore, rejected: ignore },
  onCorruptStore: (networkId, message) => {
    throw new Error(`network ${networkId}: ${message}`)
  },
})
process.on('disconnect', () => process.exit())
process.send!({
  cached: await listen(pool, config.http.cacheBytes),
  uncached: await listen(pool, 0),
  alone: await listen(answerHere(), 0),
} satisfies ServicePorts)

async function listen(answering: Pick<QueryPool, 'submit'>, cacheBytes: number): Promise<number> {
  const server = await startHttpServer({
    transport: chooseTransport(config.http).transport,
    config: { ...config, http: { ...config.http, port: 0, cacheBytes } },
    pool: answering,
    status,
    health: noHealth(),
    networks: servedNetworks(config, createHasher(compiled)),
    logger,
    metrics: {
      requestFinished: ignore,
      requestAborted: ignore,
      rateLimited: ignore,
      cacheHit: ignore,
      connectionCut: ignore,
      connectionRefused: ignore,
      slowReaderCut: ignore,
    },
  })
  return server.port
}

/** Answers the requests of a loop turn as one batch, as a pool worker does, in this thread. */
function answerHere(): Pick<QueryPool, 'submit'> {
  const shards = openShardReaders({ config, compiled, status })
  const rowWriter = createRowWriter(compiled)
  const createWriter = (): JsonWriter =>
    new JsonWriter(undefined, (nodes, target, at) => shards.hasher.formatNodes(nodes, target, at), rowWriter)
  const { run } = createBatchRunner(
    shards,
    answerers,
    createVersionReader(status),
    createWriter,
    config.http.maxResponseBytes,
    createTagWriter(createTextDigest(compiled)),
  )
  const slot = new Uint8Array(1 << 20)
  const writer = new QueryWriter()
  let waiting: PoolRequest[] = []
  const flush = (): void => {
    const requests = waiting
    waiting = []
    for (const request of requests) writer.append(request)
    const reply = run(writer.take(), slot)
    const replies = decodeReplies(reply === undefined ? slot : new Uint8Array(reply))
    for (const [at, request] of requests.entries()) request.deliver(replies[at]!)
  }
  return {
    submit: (request) => {
      if (waiting.push(request) === 1) setImmediate(flush)
      return true
    },
  }
}

function ignore(): void {}

/** Probes are not what is measured here. */
function noHealth(): HealthSource {
  const refuse = (): never => {
    throw new Error('no probes here')
  }
  return { health: refuse, syncStatus: refuse, readiness: refuse }
}
