import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { IndexerWorkerData, StopMessage } from '../indexerMessages.js'
import { runIndexer } from './indexerThread.js'
import { lowerThreadPriority } from './threadPriority.js'

if (isMainThread || parentPort === null) throw new Error('indexer.worker must run in a worker thread')
const port = parentPort
const stop = new AbortController()
port.on('message', (message: StopMessage) => {
  if (message.type === 'stop') stop.abort()
})
lowerThreadPriority()
await runIndexer(workerData as IndexerWorkerData, stop.signal, (message) => port.postMessage(message))
port.close()
