import type { StatusBoardHandle } from '../board/statusBoard.js'
import type { Config, RateLimitConfig } from '../config/config.types.js'
import type { HealthBoardHandle } from '../health/healthBoard.js'
import type { QueryThreadTimesHandle } from '../telemetry/counts/queryThreadTimes.js'
import type { FrontCountsHandle } from '../telemetry/frontCounts.js'
import type { CompiledMerkle } from '../wasm/wasmModule.js'

/** What a cell starts with: data that can be sent to a thread. */
export interface CellData {
  /** Position of the cell among those of the process. */
  readonly cell: number
  /** How many cells share the port. */
  readonly cells: number
  /** Name and version of the transport that main has announced. */
  readonly transport: string
  /** With this cell's share of what is for all cells (`cellConfig`). */
  readonly config: Config
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  readonly health: HealthBoardHandle
  readonly counts: FrontCountsHandle
  readonly queryTimes: QueryThreadTimesHandle
}

/** From main to a cell. */
export type CellOrder =
  | { readonly type: 'open'; readonly port: number }
  /** Limit clients by this cell's share from now on. */
  | { readonly type: 'limit'; readonly rateLimit: RateLimitConfig }
  /** Close the port, and the connections when no answer is due on them. */
  | { readonly type: 'drain' }
  /** End the query threads, then the cell itself. */
  | { readonly type: 'stop' }
  /** Close the port and all connections at once, so that the thread can be terminated. */
  | { readonly type: 'cut' }

/** From a cell to main. */
export type CellMessage =
  /** Its query threads have opened the stores. */
  | { readonly type: 'ready' }
  | { readonly type: 'listening'; readonly port: number }
  /** It can't start. */
  | { readonly type: 'failed'; readonly fault: CellFault }
  | { readonly type: 'drained' }
  | { readonly type: 'cut' }
  /** An error that nobody expected: the process should end. */
  | { readonly type: 'died'; readonly message: string }

/** An error on its way to main. `kind` is its class, which a copy loses as it loses all fields but the message. */
export type CellFault =
  | { readonly kind: 'operator' | 'fatal' | 'other'; readonly error: Error }
  | { readonly kind: 'config'; readonly mistakes: readonly string[] }
