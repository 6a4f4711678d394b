import type { EndpointRole, RpcEndpointConfig } from '../../config/config.types.js'
import type { Clock } from '../../telemetry/clocks.js'
import { EndpointCounts } from '../../telemetry/counts/indexerCounts.js'
import type { Logger } from '../../telemetry/logger.js'
import { BatchSize } from '../rpc/batchSize.js'
import { CallBatches } from '../rpc/callBatches.js'
import { CallRetry } from '../rpc/callRetry.js'
import { createHttpPost } from '../rpc/httpPost.js'
import type { LogReader } from '../rpc/parseReplies.js'
import type { RpcBlock } from '../rpc/rpcBlocks.js'
import { RpcFailure } from '../rpc/rpcFailure.js'
import { createRpcTransport, type RpcCall, type RpcOutcome, type RpcTransport } from '../rpc/rpcTransport.js'
import { LogRange } from './logRange.js'
import { Refusal } from './refusal.js'
import { StateSkill } from './stateSkill.js'
import { TimestampTrust } from './timestampTrust.js'
import { TokenBucket } from './tokenBucket.js'
import { TraceSkill } from './traceSkill.js'

export interface EndpointOptions {
  readonly config: RpcEndpointConfig
  readonly timeoutMs: number
  /** Longest answer. A window of TARGET_LOGS logs has about 10 MB; with a longer answer the window counts as too wide. */
  readonly maxBodyBytes: number
  readonly logRange: number
  /** The network has no other endpoint. */
  readonly isAlone?: boolean
  readonly openPost?: typeof createHttpPost
  readonly logs?: LogReader | undefined
  /** Where its calls are counted; absent: nowhere. */
  readonly counts?: EndpointCounts | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** One RPC endpoint: it sends calls within their budget, and holds what was learned of the endpoint. */
export class Endpoint {
  readonly alias: string
  readonly #role: EndpointRole
  readonly logRange: LogRange
  readonly batchSize: BatchSize
  readonly timestamps: TimestampTrust
  readonly state: StateSkill
  readonly traces: TraceSkill
  /** Newest block that this endpoint has shown. */
  head: RpcBlock | undefined
  /** Holds while the endpoint counts as one that does not understand `eth_getLogs` by block hash. */
  readonly logsByHash: Refusal
  /**
   * What its logs of block `from`, the first block of the chain with logs numbered per transaction, have shown: `isShown` when
   * this endpoint numbers them so, too (see `LogPositions`).
   */
  perTransactionLogs: { readonly from: number; readonly isShown: boolean } | undefined
  /** Holds while the endpoint counts as one that does not offer `eth_getBlockReceipts`. */
  readonly blockReceipts: Refusal
  /** The network has no other endpoint. */
  readonly isAlone: boolean
  readonly counts: EndpointCounts
  /** How often it was answered, look-ups aside. */
  answers = 0
  /** Most transactions that one request looks up by hash: fewer after one was not answered in time. */
  lookUpsAtOnce = Number.POSITIVE_INFINITY
  /** Holds while look-ups of transactions by hash have no answer at all. */
  readonly transactionsByHash: Refusal
  readonly #batches: CallBatches
  readonly #lookUps: CallBatches

  constructor(options: EndpointOptions) {
    const {
      config,
      timeoutMs,
      maxBodyBytes,
      logRange,
      isAlone = false,
      openPost = createHttpPost,
      counts = new EndpointCounts(),
      clock,
      logger,
      logs,
    } = options
    this.alias = config.alias
    this.isAlone = isAlone
    this.counts = counts
    this.#role = config.role ?? 'all'
    this.logRange = new LogRange(Math.min(logRange, config.maxLogRange ?? logRange))
    this.batchSize = new BatchSize(clock, config.maxBatch)
    this.timestamps = new TimestampTrust()
    this.state = new StateSkill(clock)
    this.traces = new TraceSkill(clock)
    this.logsByHash = new Refusal(clock)
    this.blockReceipts = new Refusal(clock)
    this.transactionsByHash = new Refusal(clock)
    const budget = config.maxRps === undefined ? undefined : new TokenBucket(config.maxRps, clock)
    const { alias } = config
    const transport = watched(
      createRpcTransport({
        url: config.url,
        proxy: config.proxy,
        alias,
        timeoutMs,
        maxBodyBytes,
        logs,
        openPost: countingBytes(openPost, counts),
      }),
      { alias, counts, clock, logger, onAnswered: () => this.#countSizes() },
    )
    const batches = {
      alias,
      size: this.batchSize,
      isAlone,
      transport,
      retry: new CallRetry(clock, isAlone),
      pay: async (calls: number, signal: AbortSignal) => {
        const waitedMs = (await budget?.take(calls, signal)) ?? 0
        if (waitedMs > 0) counts.waited(waitedMs / 1000)
      },
      logger,
    }
    this.#batches = new CallBatches(batches)
    this.#lookUps = new CallBatches({
      ...batches,
      transport: refusingInTime(transport, clock),
      isLookUp: true,
    })
    this.#countSizes()
  }

  /** Whether the configured role of the endpoint includes this. */
  serves(need: Exclude<EndpointRole, 'all'>): boolean {
    return this.#role === 'all' || this.#role === need
  }

  /** @throws RpcFailure, or the signal's reason. */
  async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const result = await this.#batches.single({ method, params }, signal)
    this.answers++
    return result
  }

  /**
   * Sends several calls, as many in one request as the endpoint allows. One node answers all calls of a request.
   * @returns outcomes in the order of the calls; a call that failed by itself is an outcome, not an error.
   * @throws RpcFailure when no call of a request was answered (no connection, time-out, asked to slow down).
   */
  async callAll(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes = await this.#batches.ask(calls, signal)
    this.answers++
    return outcomes
  }

  /**
   * Like `callAll`, for calls that must not hold up each other: a request without an answer in time leaves a failure of kind `timeout` as
   * the outcome of each of its calls, and counts neither against the endpoint nor against the size of its batches.
   */
  lookUp(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    return this.#lookUps.ask(calls, signal)
  }

  #countSizes(): void {
    this.counts.sizes(this.logRange.span, this.batchSize.size)
  }
}

function countingBytes(openPost: typeof createHttpPost, counts: EndpointCounts): typeof createHttpPost {
  return (options) => {
    const post = openPost(options)
    return async (body, signal, maxBodyBytes) => {
      counts.sent(Buffer.byteLength(body))
      const answer = await post(body, signal, maxBodyBytes)
      counts.received(answer.body.length)
      return answer
    }
  }
}

interface Watch {
  readonly alias: string
  readonly counts: EndpointCounts
  readonly clock: Clock
  readonly logger: Logger
  /** Called after each request. */
  readonly onAnswered: () => void
}

/** The transport with each request counted, and told at level debug: by alias, since addresses are secret. */
function watched(transport: RpcTransport, { alias, counts, clock, logger, onAnswered }: Watch): RpcTransport {
  const watch = async <T>(
    calls: readonly RpcCall[],
    ask: () => Promise<T>,
    failuresIn: (answer: T) => readonly (RpcFailure | undefined)[],
    signal: AbortSignal,
  ): Promise<T> => {
    for (const { method } of calls) counts.called(method)
    const sinceMs = clock.now()
    const over = (failures: readonly (RpcFailure | undefined)[]): void => {
      const durationMs = clock.now() - sinceMs
      counts.requested(calls.length, durationMs / 1000)
      onAnswered()
      let failed = 0
      for (const [at, { method }] of calls.entries()) {
        const failure = failures[at]
        if (failure === undefined) continue
        failed++
        counts.failed(method, failure.kind)
      }
      const kind = failures.find((failure) => failure !== undefined)?.kind
      logger.debug('endpoint was asked', {
        endpoint: alias,
        method: calls[0]?.method,
        calls: calls.length,
        durationMs: Math.round(durationMs),
        ...(kind === undefined ? {} : { failed, kind }),
      })
    }
    try {
      const answer = await ask()
      over(failuresIn(answer))
      return answer
    } catch (error) {
      if (error instanceof RpcFailure && !signal.aborted) over(calls.map(() => error))
      throw error
    }
  }
  return {
    request: (call, signal) =>
      watch(
        [call],
        () => transport.request(call, signal),
        () => [],
        signal,
      ),
    requestBatch: (calls, signal) =>
      watch(
        calls,
        () => transport.requestBatch(calls, signal),
        (outcomes) => outcomes.map((outcome) => (outcome.ok ? undefined : outcome.failure)),
        signal,
      ),
  }
}

/** A refusal that took longer than this holds up others like no answer. */
const LONGEST_REFUSAL_MS = 3_000
const TIMED_OUT = /time(d|-| )? ?out/i

/** Not an answer about the call, which a slow endpoint may give late, and not one that asks to slow down. */
function holdsUp(failure: RpcFailure): boolean {
  const { status = 0, text } = failure.providerWords()
  if (failure.kind === 'rpc') return status >= 500 || TIMED_OUT.test(text)
  return failure.kind !== 'rateLimit'
}

/** The transport for look-ups: what the endpoint fails to answer after a long time counts as without an answer in time. */
function refusingInTime(transport: RpcTransport, clock: Clock): RpcTransport {
  const timed = async <T>(ask: () => Promise<T>): Promise<T> => {
    const sinceMs = clock.now()
    try {
      return await ask()
    } catch (error) {
      const isLate = clock.now() - sinceMs > LONGEST_REFUSAL_MS
      if (!isLate || !(error instanceof RpcFailure) || !holdsUp(error)) throw error
      throw new RpcFailure('timeout', error.message, error.providerWords())
    }
  }
  return {
    request: (call, signal) => timed(() => transport.request(call, signal)),
    requestBatch: (calls, signal) => timed(() => transport.requestBatch(calls, signal)),
  }
}
