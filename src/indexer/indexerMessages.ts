import type { HaltReason } from '../board/haltReason.js'
import type { StatusBoardHandle } from '../board/statusBoard.js'
import type { Config } from '../config/config.types.js'
import type { CompiledMerkle } from '../wasm/wasmModule.js'

/** What an indexer thread starts with: data that can be sent to a worker. */
export interface IndexerWorkerData {
  readonly config: Config
  readonly networkId: number
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
}

/** From the main thread to the indexer thread. */
export interface StopMessage {
  readonly type: 'stop'
}

/** What the sync loop reports. Numbers that change all the time are on the status board instead. */
export type SyncMessage =
  | {
      readonly type: 'progress'
      readonly networkId: number
      readonly syncedBlock: number
      readonly headBlock: number | undefined
      readonly blocksPerSecond: number
      readonly eventsPerSecond: number
    }
  /** For the first time since the start, the checkpoint is at the head and every sender is known. */
  | { readonly type: 'caughtUp'; readonly networkId: number; readonly block: number }
  | {
      readonly type: 'halted'
      readonly networkId: number
      readonly reason: HaltReason
      readonly message: string
    }
  | { readonly type: 'resumed'; readonly networkId: number; readonly block: number | undefined }
  /** Blocks above `ancestor` were taken back. */
  | {
      readonly type: 'reorg'
      readonly networkId: number
      readonly ancestor: number
      readonly depth: number
    }

/** From the indexer thread to the main thread. */
export type IndexerMessage =
  | SyncMessage
  /** The thread has closed its store and will end by itself. */
  | { readonly type: 'stopped'; readonly networkId: number }
  /** The thread ended without being asked to: the process should end, too. */
  | { readonly type: 'died'; readonly networkId: number; readonly message: string }
