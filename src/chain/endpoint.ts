import type { EndpointRole, RpcEndpointConfig } from '../config/config.types.js'
import type { Logger } from '../telemetry/logger.js'
import { CallRetry } from './callRetry.js'
import type { Clock } from './clock.js'
import type { createHttpPost } from './httpPost.js'
import { LogRange } from './logRange.js'
import type { LogReader } from './parseReplies.js'
import type { BlockHead } from './rpcBlocks.js'
import { isUnknownBlock, RpcFailure } from './rpcFailure.js'
import { createRpcTransport, type RpcCall, type RpcOutcome, type RpcTransport } from './rpcTransport.js'
import { StateSkill } from './stateSkill.js'
import { TimestampTrust } from './timestampTrust.js'
import { TokenBucket } from './tokenBucket.js'

/** Calls of one HTTP request: providers cap batches at 100 to 1,000, and one batch is one answer in memory. */
const BATCH_CALLS = 50
/** Calls in flight where batches are refused. */
const SINGLE_CALLS_IN_FLIGHT = 6
/** Longest answer: a window of TARGET_LOGS logs has some 10 MB. Longer counts as too wide a window. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** An endpoint without batches is asked again after this long: gateways change their backends. */
const BATCH_RECHECK_MS = 10 * 60_000

export interface EndpointOptions {
  readonly config: RpcEndpointConfig
  readonly timeoutMs: number
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
  readonly timestamps: TimestampTrust
  readonly state: StateSkill
  /** Newest block that this endpoint has shown. */
  head: BlockHead | undefined
  /** False once a call by block hash was not understood. */
  offersLogsByHash = true
  /** Whether it counts logs per transaction, as far as the chain's first block shows where that makes a difference. */
  perTransactionLogs: { readonly from: number; readonly isShown: boolean } | undefined
  /** False once `debug_traceTransaction` turned out to be missing. */
  offersTraces = true
  /** False once `eth_getBlockReceipts` turned out to be missing. */
  offersBlockReceipts = true
  /** Traces of transactions up to this block are gone. */
  tracesGoneUpTo = -1
  /** The tracer failed; the endpoint itself may be well. */
  tracesRestUntil = Number.NEGATIVE_INFINITY
  readonly #transport: RpcTransport
  readonly #budget: TokenBucket | undefined
  readonly #retry: CallRetry
  readonly #clock: Clock
  readonly #logger: Logger
  #batchRefusedAt: number | undefined

  constructor(options: EndpointOptions) {
    const { config, timeoutMs, logRange, isAlone = false, openPost, clock, logger, logs } = options
    this.alias = config.alias
    this.#role = config.role ?? 'all'
    this.logRange = new LogRange(Math.min(logRange, config.maxLogRange ?? logRange))
    this.timestamps = new TimestampTrust()
    this.state = new StateSkill(clock)
    this.#transport = createRpcTransport({
      url: config.url,
      alias: config.alias,
      timeoutMs,
      maxBodyBytes: MAX_BODY_BYTES,
      logs,
      ...(openPost === undefined ? {} : { openPost }),
    })
    this.#budget = config.maxRps === undefined ? undefined : new TokenBucket(config.maxRps, clock)
    this.#retry = new CallRetry(clock, isAlone)
    this.#clock = clock
    this.#logger = logger
  }

  /** Whether the endpoint is meant to be asked for this. */
  serves(need: Exclude<EndpointRole, 'all'>): boolean {
    return this.#role === 'all' || this.#role === need
  }

  /** @throws RpcFailure, or the signal's reason. */
  async call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    return this.#retry.run(async () => {
      await this.#budget?.take(1, signal)
      return this.#transport.request({ method, params }, signal)
    }, signal)
  }

  /**
   * Several calls, batched where the endpoint takes batches: the calls of one batch meet one backend.
   * @returns outcomes in the order of the calls; a call that failed by itself is an outcome, not an error.
   * @throws RpcFailure when nothing of it was answered (no connection, time-out, asked to slow down).
   */
  async callAll(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes: RpcOutcome[] = []
    for (let start = 0; start < calls.length; start += BATCH_CALLS) {
      const chunk = calls.slice(start, start + BATCH_CALLS)
      for (const outcome of await this.#callChunk(chunk, signal)) outcomes.push(outcome)
    }
    return outcomes
  }

  get takesBatches(): boolean {
    return this.#batchRefusedAt === undefined || this.#clock.now() - this.#batchRefusedAt > BATCH_RECHECK_MS
  }

  async #callChunk(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    if (calls.length === 1 || !this.takesBatches) return this.#callSingly(calls, signal)
    let outcomes: RpcOutcome[]
    try {
      outcomes = await this.#retry.run(async () => {
        await this.#budget?.take(calls.length, signal)
        return this.#transport.requestBatch(calls, signal)
      }, signal)
    } catch (error) {
      if (!(error instanceof RpcFailure) || !mayBeRefusal(error)) throw error
      return this.#withoutBatch(calls, signal)
    }
    if (outcomes.every(isRefusedOutcome)) return this.#withoutBatch(calls, signal)
    this.#batchRefusedAt = undefined
    // A call that the reply left out is asked again by itself.
    const isAskedAgain = calls.map((call, index) => isMissing(outcomes[index]!, call))
    const missing = calls.filter((_, index) => isAskedAgain[index])
    if (missing.length === 0) return outcomes
    const again = await this.#callSingly(missing, signal)
    return outcomes.map((outcome, index) => (isAskedAgain[index] ? again.shift()! : outcome))
  }

  /** The batch as such may be what failed. Whether it was shows when the same calls are answered one by one. */
  async #withoutBatch(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes = await this.#callSingly(calls, signal)
    // Not when one of them failed here too: that one may have been what the endpoint minded.
    if (outcomes.every((outcome) => outcome.ok)) {
      this.#batchRefusedAt = this.#clock.now()
      this.#logger.info('endpoint takes no batches', { endpoint: this.alias })
    }
    return outcomes
  }

  async #callSingly(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcOutcome[]> {
    const outcomes: RpcOutcome[] = new Array(calls.length)
    let next = 0
    const lane = async () => {
      for (let index = next++; index < calls.length; index = next++) {
        const call = calls[index]!
        try {
          outcomes[index] = { ok: true, result: await this.call(call.method, call.params, signal) }
        } catch (error) {
          if (!(error instanceof RpcFailure) || !isAboutTheCall(error)) throw error
          outcomes[index] = { ok: false, failure: error }
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(SINGLE_CALLS_IN_FLIGHT, calls.length) }, lane))
    return outcomes
  }
}

/** The endpoint answered, and only this call has no result. */
function isAboutTheCall(failure: RpcFailure): boolean {
  return failure.kind === 'rpc' || failure.kind === 'body' || failure.kind === 'http'
}

function mayBeRefusal(failure: RpcFailure): boolean {
  const status = failure.providerWords().status ?? 0
  return failure.kind === 'body' || failure.kind === 'rpc' || (failure.kind === 'http' && status < 500)
}

const isRefusedOutcome = (outcome: RpcOutcome): boolean =>
  !outcome.ok &&
  (outcome.failure.kind === 'body' ||
    outcome.failure.providerWords().code === -32600 ||
    /batch/i.test(outcome.failure.providerWords().text))

/**
 * Left out of the reply, or a contract call at a block that this node does not know yet. Not so for headers and logs:
 * they must come from one node.
 */
const isMissing = (outcome: RpcOutcome, { method }: RpcCall): boolean =>
  !outcome.ok &&
  (outcome.failure.kind === 'body' || (method === 'eth_call' && isUnknownBlock(outcome.failure)))
