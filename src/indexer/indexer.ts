import { Worker } from 'node:worker_threads'
import type { Config } from '../config/config.types.js'
import type { CompiledMerkle } from '../merkle/wasm.js'
import type { StatusBoardHandle } from '../telemetry/statusBoard.js'
import type { IndexerMessage, IndexerWorkerData, StopMessage } from './messages.js'

export interface IndexerOptions {
  readonly config: Config
  readonly networkId: number
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  /** Everything that the thread tells, and `died` when it ended without being asked to. */
  readonly onMessage: (message: IndexerMessage) => void
  /** Entry of the thread; another one in tests. */
  readonly entry?: URL
}

export interface IndexerHandle {
  readonly networkId: number
  /**
   * Asks the thread to end after the transaction at hand and waits until it has: a thread that is cut off inside a
   * transaction would block every writer of its shard for ever. A second call returns the first one's promise.
   */
  stop(): Promise<void>
}

/**
 * Room for the objects of a window in the making: most of them die there. With V8's default of 48 more of them outlive two
 * rounds of its collector and are moved to the old generation first. More than 96 would be felt in the resident memory.
 */
const YOUNG_GENERATION_MB = 96
/**
 * Far above what a window needs (20 MB live at the tip). Without a limit V8 lets the old generation grow to four times
 * what survived before it collects, with this one to a bit more than half as much again.
 */
const OLD_GENERATION_MB = 768

/** Starts the thread that indexes one network. The shard's environment must be open in the main thread already. */
export function startIndexer(options: IndexerOptions): IndexerHandle {
  const { networkId, onMessage, config, compiled, status } = options
  const workerData: IndexerWorkerData = { config, networkId, compiled, status }
  const worker = new Worker(options.entry ?? new URL('./indexer.worker.js', import.meta.url), {
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
