import { Worker } from 'node:worker_threads'
import type { StatusBoardHandle } from '../../board/statusBoard.js'
import type { Config } from '../../config/config.types.js'
import { bundledThread } from '../../telemetry/buildInfo.js'
import type { CompiledMerkle } from '../../wasm/wasmModule.js'
import type { IndexerMessage, IndexerWorkerData, StopMessage } from '../indexerMessages.js'

export interface IndexerOptions {
  readonly config: Config
  readonly networkId: number
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  /** Gets the thread's messages, and `died` when it ended without being asked to. */
  readonly onMessage: (message: IndexerMessage) => void
  /** The thread's entry file; tests pass another one. */
  readonly entry?: URL
}

export interface IndexerHandle {
  readonly networkId: number
  /**
   * Asks the thread to end after its current transaction, and waits for that: a thread that is killed inside a transaction
   * would block every writer of its shard for ever. A second call returns the first one's promise.
   */
  stop(): Promise<void>
}

/**
 * Half of V8's default. Four times as much took the same CPU time (10.7 s for 300,000 bridges on three networks), and 80 MiB
 * more memory (not counting files).
 */
const YOUNG_GENERATION_MB = 24
/**
 * Far more than is needed (20 MB are live at the tip). V8 derives from it how far the old generation may grow between two full
 * collections, and counts the buffers of answers as well. With 768 there was one full collection per window, which took a
 * fifth of all CPU time (12.1 s against 10.0 s for 300,000 bridges).
 */
const OLD_GENERATION_MB = 4096

/** Starts the thread that indexes one network. The main thread must have opened the shard's environment before. */
export function startIndexer(options: IndexerOptions): IndexerHandle {
  const { networkId, onMessage, config, compiled, status } = options
  const workerData: IndexerWorkerData = { config, networkId, compiled, status }
  const worker = new Worker(options.entry ?? bundledThread('indexer.worker'), {
    name: `indexer ${networkId}`,
    workerData,
    resourceLimits: {
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      maxOldGenerationSizeMb: OLD_GENERATION_MB,
    },
  })
  let stopping: Promise<void> | undefined
  let failure: Error | undefined
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', (code) => {
      if (stopping === undefined || failure !== undefined) {
        const message =
          failure === undefined
            ? `the indexer thread of network ${networkId} ended with code ${code}`
            : failure.message || failure.name
        onMessage({ type: 'died', networkId, message })
      }
      resolve()
    })
  })
  worker.on('message', (message: IndexerMessage) => onMessage(message))
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error))
  })
  return {
    networkId,
    stop: () => {
      stopping ??= (() => {
        worker.postMessage({ type: 'stop' } satisfies StopMessage)
        return ended
      })()
      return stopping
    },
  }
}
