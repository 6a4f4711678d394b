import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { CellData } from './cellMessages.js'
import { runCell } from './cellThread.js'

if (isMainThread || parentPort === null) throw new Error('cell.worker must run in a worker thread')
// `startCell` passes exactly this.
runCell(workerData as CellData, parentPort)
