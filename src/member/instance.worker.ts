import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { StopMessage } from '../indexer/indexerMessages.js'
import { lowerThreadPriority } from '../indexer/thread/threadPriority.js'
import { type InstanceData, runInstance } from './instanceThread.js'

if (isMainThread || parentPort === null) throw new Error('instance.worker must run in a worker thread')
const port = parentPort
const stop = new AbortController()
port.on('message', (message: StopMessage) => {
  if (message.type === 'stop') stop.abort()
})
lowerThreadPriority()
await runInstance(workerData as InstanceData, stop.signal, (message) => port.postMessage(message))
port.close()
