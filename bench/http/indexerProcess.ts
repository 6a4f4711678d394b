import { parentPort, workerData } from 'node:worker_threads'
import type { StatusBoardHandle } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import { stepBehindAnswers } from '../../src/indexer/thread/threadPriority.js'
import { type CompiledMerkle, createHasher } from '../../src/wasm/wasmModule.js'
import { Traffic } from '../query/traffic.js'
import { TrafficWriter } from './seedStores.js'

/** What the thread starts from. */
export interface IndexerData {
  readonly config: Config
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  /** All that the traffic has, and how much of it is stored. */
  readonly bridges: number
  readonly seeded: number
}

/** Sent to the thread: go over what is stored; write as fast as it goes; stop that. */
export type ToIndexer = 'prepare' | 'write' | 'pause'

/**
 * A thread that writes what follows on the seeded stores, as an indexer does while it backfills. It says `ready` when its
 * writers are open and the status board is filled, `prepared` after `prepare`, and the number of batches after `pause`.
 */
stepBehindAnswers()
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
