import type { Hex } from 'viem'
import type { FakeBlock } from './fakeChain.js'
import type { FakeLog } from './fakeChainTransaction.js'

/** One JSON-RPC call as it came in. `nth` counts calls of the same method and parameters, from 0. */
export interface FakeCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly nth: number
}

/** Which logs a fault affects. Every given field must match. */
export interface LogMatch {
  readonly blockNumber?: number
  readonly logIndex?: number
  readonly transactionHash?: Hex
  readonly topic0?: Hex
}

export type LogTest = (log: FakeLog, block: FakeBlock) => boolean

/** A chain, or a function that picks one when the fault fires. */
export type BlockSource = readonly FakeBlock[] | (() => readonly FakeBlock[])

/**
 * What an endpoint does wrong. `error` … `hold` replace the answer; the others change what the endpoint sees.
 *
 * - `error`: JSON-RPC error. `http`: an HTTP answer of any kind. `silent`: never answers. `close`: cuts the connection.
 * - `result`: answers `value` whatever was asked. `hold`: answers only after `until`.
 * - `range` / `results`: `eth_getLogs` refuses more blocks / more logs than `limit`.
 * - `lag`: answers as if the newest `blocks` blocks did not exist yet. `branch`: answers from another chain.
 * - `orphanLogs`: logs come from another chain than headers. `hideLogs`: matching logs are left out.
 * - `newestState`: contract calls are answered from the newest block, whatever block is named; with `checks: 'block'` only if
 *   there is such a block.
 * - `noPrograms`: contract calls without a receiver revert.
 * - `logIndex`: logs are numbered per transaction. `logField`: `eth_getLogs` tells some fields of each log otherwise.
 *   `doubledLogs`: it tells each log twice.
 * - `zeroBloom`: headers carry an empty bloom. `finality`: tags safe and finalized are odd.
 */
export type FaultKind =
  | { readonly type: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | {
      readonly type: 'http'
      readonly status: number
      readonly headers?: Record<string, string>
      readonly body?: string
    }
  | { readonly type: 'silent' }
  | { readonly type: 'close' }
  | { readonly type: 'result'; readonly value: unknown }
  | { readonly type: 'hold'; readonly until: Promise<void> }
  | { readonly type: 'range'; readonly limit: number; readonly message?: string }
  | { readonly type: 'results'; readonly limit: number; readonly message?: string }
  | { readonly type: 'lag'; readonly blocks: number }
  | { readonly type: 'branch'; readonly blocks: BlockSource }
  | { readonly type: 'orphanLogs'; readonly blocks: BlockSource }
  | { readonly type: 'hideLogs'; readonly match: LogMatch | LogTest; readonly by?: 'range' | 'hash' | 'both' }
  | { readonly type: 'newestState'; readonly checks?: 'nothing' | 'block' }
  | { readonly type: 'noPrograms' }
  | { readonly type: 'logIndex' }
  | { readonly type: 'logField'; readonly change: (log: Readonly<Record<string, unknown>>) => object }
  | { readonly type: 'doubledLogs' }
  | { readonly type: 'zeroBloom' }
  | { readonly type: 'finality'; readonly mode: 'unsupported' | 'null' | 'zero' }

/** When a fault fires: all given conditions must hold. */
export interface FaultTrigger {
  readonly methods?: readonly string[]
  readonly when?: (call: FakeCall) => boolean
  /** The fault fires this often, then never again. */
  readonly times?: number
  /** This many matching calls pass before the fault fires. */
  readonly skip?: number
}

export type Fault = FaultKind & FaultTrigger

/** A fault that is switched on. */
export class ActiveFault {
  readonly fault: Fault
  /** How often it fired. */
  fired = 0
  private seen = 0
  private readonly remove: (self: ActiveFault) => void

  constructor(fault: Fault, remove: (self: ActiveFault) => void) {
    this.fault = fault
    this.remove = remove
  }

  /** True (and counted) when the fault fires for this call. */
  fires(call: FakeCall): boolean {
    const { methods, when, times, skip } = this.fault
    if (methods && !methods.includes(call.method)) return false
    if (when && !when(call)) return false
    if (this.seen++ < (skip ?? 0)) return false
    if (times !== undefined && this.fired >= times) return false
    this.fired++
    return true
  }

  off(): void {
    this.remove(this)
  }
}

export function blocksOf(source: BlockSource): readonly FakeBlock[] {
  return typeof source === 'function' ? source() : source
}

export function logMatches(match: LogMatch | LogTest, log: FakeLog, block: FakeBlock): boolean {
  if (typeof match === 'function') return match(log, block)
  return (
    (match.blockNumber === undefined || match.blockNumber === block.number) &&
    (match.logIndex === undefined || match.logIndex === log.logIndex) &&
    (match.transactionHash === undefined || match.transactionHash === log.transactionHash) &&
    (match.topic0 === undefined || match.topic0 === log.topics[0])
  )
}
