import type { NetworkConfig } from '../config/config.types.js'
import { RetryableError } from '../errors/chainErrors.js'
import type { Address } from '../protocol/chainEvent.js'
import { decodeHex, encodeHex } from '../protocol/hex.js'
import type { Logger } from '../telemetry/logger.js'
import { type BridgeTrace, readBridgeTrace } from './callTrace.js'
import type { ResolvedSender, SenderQuestion } from './chainClient.types.js'
import type { Clock } from './clock.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointPool } from './endpointPool.js'
import { matchCallers } from './matchCallers.js'
import { ADDRESS, readTransactions, type Transaction, ZERO_ADDRESS } from './readTransactions.js'
import { isHistoryGone, isMethodMissing, RpcFailure } from './rpcFailure.js'
import { senderKey } from './senderKey.js'

/** Transactions asked for at a time. */
const TRANSACTIONS_AT_ONCE = 100
const TRACES_IN_FLIGHT = 4
/** Time for traces, after which what is left counts as failed: the tip must not wait for a slow tracer. */
const TRACE_BUDGET_MS = 5_000
const TRACE_BUDGET_PER_QUESTION_MS = 100
/** A tracer that failed once is left alone so long; the endpoint itself may be well. */
const TRACER_PAUSE_MS = 5_000

/** Finds out who called the bridge. */
export class SenderResolver {
  readonly #network: NetworkConfig
  readonly #pool: EndpointPool
  readonly #clock: Clock
  readonly #logger: Logger

  constructor(network: NetworkConfig, pool: EndpointPool, clock: Clock, logger: Logger) {
    this.#network = network
    this.#pool = pool
    this.#clock = clock
    this.#logger = logger
  }

  /** @see ChainClient.resolveSenders */
  async resolve(
    questions: readonly SenderQuestion[],
    signal: AbortSignal,
  ): Promise<Map<string, ResolvedSender>> {
    const senders = new Map<string, ResolvedSender>()
    const deadline = this.#clock.now() + TRACE_BUDGET_MS + questions.length * TRACE_BUDGET_PER_QUESTION_MS
    for (let start = 0; start < questions.length; start += TRANSACTIONS_AT_ONCE) {
      const chunk = questions.slice(start, start + TRANSACTIONS_AT_ONCE)
      const transactions = await this.#readTransactions(chunk, signal)
      let next = 0
      const lane = async () => {
        for (let index = next++; index < chunk.length; index = next++) {
          const transaction = transactions.get(encodeHex(chunk[index]!.transactionHash))
          if (transaction !== undefined)
            await this.#resolveOne(chunk[index]!, transaction, deadline, senders, signal)
        }
      }
      await Promise.all(Array.from({ length: TRACES_IN_FLIGHT }, lane))
    }
    return senders
  }

  async #resolveOne(
    question: SenderQuestion,
    transaction: Transaction,
    deadline: number,
    senders: Map<string, ResolvedSender>,
    signal: AbortSignal,
  ): Promise<void> {
    // A call straight to the bridge makes one event of its own: more than one, and the others come from calls within.
    const isDirect = transaction.to === this.#network.bridge && question.logs.length === 1
    const needsTrace = !isDirect && question.logs.some((log) => log.kind !== 'deposit' || log.leafType !== 1)
    const traced = needsTrace ? await this.#trace(question, transaction, deadline, signal) : noTrace
    const callers =
      traced.trace === undefined ? new Map<number, string>() : matchCallers(question.logs, traced.trace)
    const transactionSender = addressBytes(transaction.from)
    for (const log of question.logs) {
      const isMessage = log.kind === 'deposit' && log.leafType === 1 && log.originAddress !== undefined
      const caller = callers.get(log.logIndex)
      const isKnown = caller !== undefined && caller !== ZERO_ADDRESS && ADDRESS.test(caller)
      senders.set(senderKey(question.transactionHash, log.logIndex), {
        caller: isMessage ? log.originAddress! : isKnown ? addressBytes(caller) : transactionSender,
        transactionSender,
        isProvisional: !isMessage && !isKnown && traced.failed,
      })
    }
  }

  /** @returns by hash, those that some endpoint knows. @throws RetryableError when none answers. */
  async #readTransactions(
    questions: readonly SenderQuestion[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Transaction>> {
    const blocks = new Map(
      questions.map(({ transactionHash, blockNumber }) => [encodeHex(transactionHash), blockNumber]),
    )
    const found = new Map<string, Transaction>()
    try {
      await this.#pool.run((endpoint) => readTransactions(blocks, found, endpoint, signal), signal)
    } catch (error) {
      // Some are unknown everywhere: those that are known need not wait for them.
      const { cause } = error instanceof RetryableError ? error : {}
      if (!(cause instanceof RpcFailure) || cause.kind !== 'behind') throw error
    }
    return found
  }

  async #trace(
    question: SenderQuestion,
    transaction: Transaction,
    deadline: number,
    signal: AbortSignal,
  ): Promise<TraceResult> {
    if (this.#network.callTraces === 'off') return noTrace
    const offers = (endpoint: Endpoint) =>
      endpoint.serves('trace') && endpoint.offersTraces && transaction.blockNumber > endpoint.tracesGoneUpTo
    if (!this.#pool.endpoints.some(offers)) return noTrace
    if (this.#clock.now() > deadline) return { trace: undefined, failed: true }
    const hash = encodeHex(question.transactionHash)
    let hasFailed = false
    const { answer, failed } = await this.#pool.tryEach(
      (endpoint) => offers(endpoint) && this.#clock.now() >= endpoint.tracesRestUntil,
      async (endpoint) => {
        try {
          const options = { tracer: 'callTracer', tracerConfig: { withLog: true } }
          const root = await endpoint.call('debug_traceTransaction', [hash, options], signal)
          return bridgeTraceOf(root, this.#network.bridge, endpoint)
        } catch (error) {
          if (!(error instanceof RpcFailure) || error.kind === 'rateLimit' || error.kind === 'network')
            throw error
          if (!this.#learn(error, endpoint, transaction.blockNumber)) hasFailed = true
          return undefined
        }
      },
      signal,
    )
    return { trace: answer, failed: failed || hasFailed || this.#pool.endpoints.some(offers) }
  }

  /** @returns true when the endpoint will never have this trace. */
  #learn(failure: RpcFailure, endpoint: Endpoint, block: number): boolean {
    const { text } = failure.providerWords()
    if (isMethodMissing(failure) || /tracer/i.test(text)) {
      if (endpoint.offersTraces)
        this.#logger.info('endpoint offers no call traces', { endpoint: endpoint.alias })
      endpoint.offersTraces = false
      return true
    }
    if (isHistoryGone(failure)) {
      endpoint.tracesGoneUpTo = Math.max(endpoint.tracesGoneUpTo, block)
      return true
    }
    endpoint.tracesRestUntil = this.#clock.now() + TRACER_PAUSE_MS
    return false
  }
}

interface TraceResult {
  readonly trace: BridgeTrace | undefined
  /** A trace is offered, but could not be had now. */
  readonly failed: boolean
}

const noTrace: TraceResult = { trace: undefined, failed: false }

/** @throws RpcFailure `body` when it is not built as traces are, or nested deeper than any chain's calls. */
function bridgeTraceOf(root: unknown, bridge: string, { alias }: Endpoint): BridgeTrace {
  try {
    return readBridgeTrace(root, bridge)
  } catch {
    throw new RpcFailure('body', `${alias}: a trace is malformed`)
  }
}

function addressBytes(text: string): Address {
  return decodeHex(text)!
}
