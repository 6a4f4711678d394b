import { parentPort, workerData } from 'node:worker_threads'
import type { IndexerWorkerData, StopMessage } from '../src/indexer/indexerMessages.js'
import { runIndexer } from '../src/indexer/thread/indexerThread.js'
import { createViemClient } from './backfill/viemClient.js'

// An indexer thread like ours, with a chain client that decodes with viem.

const port = parentPort!
const stop = new AbortController()
port.on('message', (message: StopMessage) => {
  if (message.type === 'stop') stop.abort()
})
const post = (message: unknown) => port.postMessage(message)
await runIndexer(workerData as IndexerWorkerData, stop.signal, post, createViemClient)
port.close()
