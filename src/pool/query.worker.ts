import { isMainThread, workerData } from 'node:worker_threads'
import { JsonWriter } from '../api/jsonWriter.js'
import { createRowWriter, createTextDigest } from '../merkle/wasm.js'
import { openShardReaders } from '../shard/reader.js'
import { createTagWriter } from './digestTag.js'
import { queries } from './queries.js'
import type { QueryWorkerData } from './queryPool.js'
import { createBatchRunner } from './runBatch.js'
import { createVersionReader } from './shardVersion.js'
import { createWorkerTask } from './workerTask.js'

if (isMainThread) throw new Error('query.worker runs only as a worker of the query pool')

// What `startQueryPool` has put there.
const data = workerData as QueryWorkerData

const shards = openShardReaders(data)

/** Branches are most of a proof's text, rows all of a page's: wasm writes both. */
const rowWriter = createRowWriter(data.compiled)
const createWriter = (): JsonWriter =>
  new JsonWriter(undefined, (nodes, target, at) => shards.hasher.formatNodes(nodes, target, at), rowWriter)

/** One task = one micro-batch = fresh snapshots, released at its end. No timers here: between tasks the thread sleeps. */
export default createWorkerTask(
  data.slots,
  createBatchRunner(
    shards,
    queries,
    createVersionReader(data.status),
    createWriter,
    data.config.http.maxResponseBytes,
    createTagWriter(createTextDigest(data.compiled)),
  ),
)
