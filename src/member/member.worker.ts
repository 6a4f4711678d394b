import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { IndexerWorkerData, StopMessage } from '../indexer/indexerMessages.js'
import { lowerThreadPriority } from '../indexer/thread/threadPriority.js'
import { runMember } from './memberThread.js'

if (isMainThread || parentPort === null) throw new Error('member.worker must run in a worker thread')
const port = parentPort
const stop = new AbortController()
port.on('message', (message: StopMessage) => {
  if (message.type === 'stop') stop.abort()
})
lowerThreadPriority()
await runMember(workerData as IndexerWorkerData, stop.signal, (message) => port.postMessage(message))
port.close()
