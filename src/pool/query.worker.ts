import { isMainThread, workerData } from 'node:worker_threads'
import { JsonWriter } from '../api/present/jsonWriter.js'
import { createVersionReader } from '../board/version.js'
import { openShardReaders } from '../shard/queries/shardReaders.js'
import { warmUp } from '../shard/queries/warmUp.js'
import { QueryThreadTimes } from '../telemetry/counts/queryThreadTimes.js'
import { createRowWriter, createTextDigest } from '../wasm/wasmModule.js'
import { answerers } from './answerers.js'
import { createTagWriter } from './digestTag.js'
import type { QueryWorkerData } from './queryPool.js'
import { createBatchRunner } from './runBatch.js'
import { createWorkerTask } from './workerTask.js'

if (isMainThread) throw new Error('query.worker runs only as a worker of the query pool')

/**
 * Longest time to read sets into memory before the first task. The start of the pool waits for it, and so do requests to a worker
 * that replaces a dead one; what is not read by then is read by the first query that needs it. With 250 ms, which is enough for a
 * million bridges, a restart at 200,000 took a tenth longer.
 */
const WARM_UP_MS = 50

// `startQueryPool` passes exactly this.
const data = workerData as QueryWorkerData

const shards = openShardReaders(data)
warmUp(shards, WARM_UP_MS)

/** Wasm writes branches, which are most of a proof's text, and rows, which are all of a page's. */
const rowWriter = createRowWriter(data.compiled)
const createWriter = (): JsonWriter =>
  new JsonWriter(undefined, (nodes, target, at) => shards.hasher.formatNodes(nodes, target, at), rowWriter)

/** Each task answers one batch under fresh snapshots, released at its end. No timers: between tasks the thread sleeps. */
export default createWorkerTask(
  data.slots,
  createBatchRunner(
    shards,
    answerers,
    createVersionReader(data.status),
    createWriter,
    data.config.http.maxResponseBytes,
    createTagWriter(createTextDigest(data.compiled)),
  ),
  new QueryThreadTimes(data.times),
)
