import { isMainThread, workerData } from 'node:worker_threads'
import { JsonWriter } from '../api/present/jsonWriter.js'
import { createVersionReader } from '../board/shardVersion.js'
import { openShardReaders } from '../shard/queries/shardReaders.js'
import { warmUp } from '../shard/queries/warmUp.js'
import { createRowWriter, createTextDigest } from '../wasm/wasmModule.js'
import { queries } from './answerers.js'
import { createTagWriter } from './digestTag.js'
import type { QueryWorkerData } from './queryPool.js'
import { createBatchRunner } from './runBatch.js'
import { createWorkerTask } from './workerTask.js'

if (isMainThread) throw new Error('query.worker runs only as a worker of the query pool')

/** Sets of a million bridges; a pool that starts waits for them, and so does whoever asks a worker that came for a dead one. */
const WARM_UP_MS = 250

// What `startQueryPool` has put there.
const data = workerData as QueryWorkerData

const shards = openShardReaders(data)
warmUp(shards, WARM_UP_MS)

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
