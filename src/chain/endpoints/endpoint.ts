import type { EndpointRole, RpcEndpointConfig } from '../../config/config.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import { BatchSize } from '../rpc/batchSize.js'
import { CallBatches } from '../rpc/callBatches.js'
import { CallRetry } from '../rpc/callRetry.js'
import type { createHttpPost } from '../rpc/httpPost.js'
import type { LogReader } from '../rpc/parseReplies.js'
import type { BlockHead } from '../rpc/rpcBlocks.js'
import { createRpcTransport, type RpcCall, type RpcOutcome } from '../rpc/rpcTransport.js'
import { LogRange } from './logRange.js'
import { Refusal } from './refusal.js'
import { StateSkill } from './stateSkill.js'
import { TimestampTrust } from './timestampTrust.js'
import { TokenBucket } from './tokenBucket.js'
import { TraceSkill } from './traceSkill.js'

export interface EndpointOptions {
  readonly config: RpcEndpointConfig
  readonly timeoutMs: number
  /** Longest answer: a window of TARGET_LOGS logs has some 10 MB. Longer counts as too wide a window. */
  readonly maxBodyBytes: number
  readonly logRange: number
  /** The network has no other endpoint. */
  readonly isAlone?: boolean
  readonly openPost?: typeof createHttpPost
  readonly logs?: LogReader | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** One RPC endpoint: calls within its budget, and what was learned of its abilities. It judges nothing. */
export class Endpoint {
  readonly alias: string
  readonly #role: EndpointRole
  readonly logRange: LogRange
  readonly batchSize: BatchSize
  readonly timestamps: TimestampTrust
  readonly state: StateSkill
  readonly traces: TraceSkill
  /** Newest block that this endpoint has shown. */
  head: BlockHead | undefined
  /** Whether it did not understand a question for logs by block hash. */
  readonly logsByHash: Refusal
  /** Whether it counts logs per transaction, as far as the chain's first block shows where that makes a difference. */
  perTransactionLogs: { readonly from: number; readonly isShown: boolean } | undefined
  /** Whether `eth_getBlockReceipts` turned out to be missing. */
  readonly blockReceipts: Refusal
  readonly #batches: CallBatches

  constructor(options: EndpointOptions) {
    const {
      config,
      timeoutMs,
      maxBodyBytes,
      logRange,
      isAlone = false,
      openPost,
      clock,
      logger,
      logs,
    } = options
    this.alias = config.alias
    this.#role = config.role ?? 'all'
    this.logRange = new LogRange(Math.min(logRange, config.maxLogRange ?? logRange))
    this.batchSize = new BatchSize(clock, config.maxBatch)
    this.timestamps = new TimestampTrust()
    this.state = new StateSkill(clock)
    this.traces = new TraceSkill(clock)
    this.logsByHash = new Refusal(clock)
    this.blockReceipts = new Refusal(clock)
    const budget = config.maxRps === undefined ? undefined : new TokenBucket(config.maxRps, clock)
    this.#batches = new CallBatches({
      alias: config.alias,
      size: this.batchSize,
      isAlone,
      transport: createRpcTransport({
        url: config.url,
        proxy: config.proxy,
        alias: config.alias,
        timeoutMs,
        maxBodyBytes,
        logs,
        ...(openPost === undefined ? {} : { openPost }),
      }),
      retry: new CallRetry(clock, isAlone),
      pay: async (calls, signal) => budget?.take(calls, signal),
      logger,
    })
  }

  /** Whether the endpoint is meant to be asked for this. */
  serves(need: Exclude<EndpointRole, 'all'>): boolean {
    return this.#role === 'all' || this.#role === need
  }

  /** @throws RpcFailure, or the signal's reason. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    return this.#batches.single({ method, params }, signal)
  }

  /**
   * Several calls, as many in one request as the endpoint takes: the calls of one request meet one backend.
   * @returns outcomes in the order of the calls; a call that failed by itself is an outcome, not an error.
   * @throws RpcFailure when nothing of a request was answered (no connection, time-out, asked to slow down).
   */
  callAll(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    return this.#batches.ask(calls, signal)
  }
}
