import { parentPort, workerData } from 'node:worker_threads'
import type { StatusBoardHandle } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import { lowerThreadPriority } from '../../src/indexer/thread/threadPriority.js'
import { type CompiledMerkle, createHasher } from '../../src/wasm/wasmModule.js'
import { Traffic } from '../query/traffic.js'
import { TrafficWriter } from './seedStores.js'

/** What the thread gets at its start. */
export interface IndexerData {
  readonly config: Config
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  /** Number of bridges in the whole traffic, and of those that are stored. */
  readonly bridges: number
  readonly seeded: number
}

/** Orders to the thread: skip what is stored, write as fast as it can, stop writing. */
export type ToIndexer = 'prepare' | 'write' | 'pause'

/*
 * A thread that continues the seeded stores as an indexer does in backfill. It sends `ready` when its writers are open and the
 * status board is filled, `prepared` after `prepare`, and the number of batches after `pause`.
 */

lowerThreadPriority()
const { config, compiled, status, bridges, seeded } = workerData as IndexerData
const traffic = new Traffic(createHasher(compiled), bridges)
const writer = new TrafficWriter(config, compiled, status, traffic)
let isWriting = false
let batches = 0

function write(): void {
  if (!isWriting) return
  if (traffic.isDone) throw new Error('the traffic ended before the run')
  writer.writeBatch()
  batches++
  setImmediate(write)
}

parentPort!.on('message', (order: ToIndexer) => {
  if (order === 'prepare') {
    writer.skipTo(seeded)
    parentPort!.postMessage('prepared')
    return
  }
  isWriting = order === 'write'
  if (isWriting) write()
  else {
    parentPort!.postMessage(batches)
    batches = 0
  }
})
parentPort!.postMessage('ready')
