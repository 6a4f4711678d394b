import type { NetworkConfig } from '../../config/config.types.js'
import { RetryableError } from '../../errors/chainErrors.js'
import type { Address } from '../../protocol/chainEvent.js'
import { decodeHex, encodeHex } from '../../protocol/hex.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import type { SenderAnswer, SenderLog, SenderQuestion, TraceBudget } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import type { EndpointPool } from '../endpoints/endpointPool.js'
import { isHistoryGone, isMethodMissing, RpcFailure } from '../rpc/rpcFailure.js'
import { senderKey } from '../senderKey.js'
import { type BridgeTrace, readBridgeTrace } from './callTrace.js'
import { matchCallers } from './matchCallers.js'
import {
  ADDRESS,
  readByHash,
  readFromBlocks,
  type Transaction,
  Wanted,
  ZERO_ADDRESS,
} from './readTransactions.js'

/** Transactions read at a time. */
const TRANSACTIONS_AT_ONCE = 100
const TRACES_IN_FLIGHT = 4
/** Default time for traces. In backfill senders are stored in order, so a slow tracer is waited for, but not for long. */
const TRACE_MS = 5_000
const TRACE_MS_PER_QUESTION = 100
/** Tries for one trace that is refused: behind a load balancer the next call mostly meets another node. */
const TRIES_WHERE_REFUSED = 3

/** Finds the senders of deposits and claims. */
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

  /** @see ChainClient.canTrace */
  canTrace(): boolean {
    const isReady = (endpoint: Endpoint) =>
      endpoint.serves('trace') && endpoint.traces.isReady(Number.POSITIVE_INFINITY)
    return this.#network.callTraces !== 'off' && this.#pool.endpoints.some(isReady)
  }

  /** @see ChainClient.resolveSenders */
  async resolve(
    questions: readonly SenderQuestion[],
    signal: AbortSignal,
    budget: TraceBudget = {
      totalMs: TRACE_MS + questions.length * TRACE_MS_PER_QUESTION,
      eachMs: TRACE_MS,
    },
  ): Promise<Map<string, SenderAnswer>> {
    const senders = new Map<string, SenderAnswer>()
    const times = { deadlineMs: this.#clock.now() + budget.totalMs, eachMs: budget.eachMs }
    for (let start = 0; start < questions.length; start += TRANSACTIONS_AT_ONCE) {
      const chunk = questions.slice(start, start + TRANSACTIONS_AT_ONCE)
      const transactions = await this.#readTransactions(chunk, signal, budget.isThorough === true)
      let next = 0
      const resolveOneByOne = async () => {
        for (let index = next++; index < chunk.length; index = next++) {
          const transaction = transactions.get(encodeHex(chunk[index]!.transactionHash))
          if (transaction !== undefined)
            await this.#resolveOne(chunk[index]!, transaction, times, senders, signal)
        }
      }
      await Promise.all(Array.from({ length: TRACES_IN_FLIGHT }, resolveOneByOne))
    }
    return senders
  }

  async #resolveOne(
    question: SenderQuestion,
    transaction: Transaction,
    times: TraceTimes,
    senders: Map<string, SenderAnswer>,
    signal: AbortSignal,
  ): Promise<void> {
    // A transaction that calls the bridge directly makes one log by that call. If it has more logs of the bridge, inner calls
    // made the others.
    const isDirect = transaction.to === this.#network.bridge && question.logs.length === 1
    const needsTrace = !isDirect && question.logs.some(isCallerSought)
    const traced = needsTrace ? await this.#trace(question, transaction, times, signal) : noTrace
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
        isProvisional: isCallerSought(log) && !isKnown && traced.isOpen,
        isTraceFailed: traced.isFailed,
      })
    }
  }

  /** @returns transactions by hash, without those that no endpoint knows. @throws RetryableError when none answers. */
  async #readTransactions(
    questions: readonly SenderQuestion[],
    signal: AbortSignal,
    isThorough: boolean,
  ): Promise<ReadonlyMap<string, Transaction>> {
    const blocks = new Map(
      questions.map(({ transactionHash, blockNumber }) => [encodeHex(transactionHash), blockNumber]),
    )
    const wanted = new Wanted(blocks)
    const answersBefore = this.#answersToOthers()
    let answers = 0
    const read = (task: (endpoint: Endpoint) => Promise<unknown>) =>
      this.#pool.tryEach(
        (endpoint) => endpoint.serves('logs'),
        async (endpoint) => {
          await task(endpoint)
          answers++
          // That an endpoint lacks a transaction must not count as its failure: blocks are still read from it.
          return wanted.isOver ? true : undefined
        },
        signal,
      )
    const late = new Set<Endpoint>()
    const giveUp = () => {
      if (!isThorough) wanted.allAsked(late.size)
    }
    await read(async (endpoint) => {
      const { isInTime, failure } = await readByHash(wanted, endpoint, signal)
      if (!isInTime) late.add(endpoint)
      if (endpoint.isAlone) giveUp()
      // Another endpoint answers sooner than the blocks of one that hangs.
      if (isInTime || endpoint.isAlone) await readFromBlocks(wanted, endpoint, signal, failure)
    })
    giveUp()
    if ([...late].some(({ isAlone }) => !isAlone) && !wanted.isOver) {
      answers = 0
      await read((endpoint) => readFromBlocks(wanted, endpoint, signal))
    }
    // What was asked for beside a call that hangs, or not at all, is not unknown for that.
    if (late.size > 0 && !wanted.isOver) {
      answers = 0
      await read(async (endpoint) => {
        if (!late.has(endpoint)) return
        const { failure } = await readByHash(wanted, endpoint, signal, true)
        if (failure !== undefined && !wanted.isOver) throw failure
      })
    }
    // That a transaction hangs is its own fault only where other calls are answered.
    const isOutage = !wanted.isComplete && !wanted.isAnswered && this.#answersToOthers() === answersBefore
    if ((answers === 0 && !wanted.isOver) || isOutage)
      throw new RetryableError('no endpoint answers for transactions now')
    return wanted.found
  }

  #answersToOthers(): number {
    return this.#pool.endpoints.reduce((sum, { answers }) => sum + answers, 0)
  }

  async #trace(
    question: SenderQuestion,
    { blockNumber }: Transaction,
    { deadlineMs, eachMs }: TraceTimes,
    signal: AbortSignal,
  ): Promise<TraceResult> {
    const serves = (endpoint: Endpoint) => endpoint.serves('trace')
    if (this.#network.callTraces === 'off' || !this.#pool.endpoints.some(serves)) return noTrace
    const leftMs = deadlineMs - this.#clock.now()
    if (leftMs <= 0) return { trace: undefined, isOpen: true, isFailed: false }
    const hash = encodeHex(question.transactionHash)
    // Rounded up: the clock has fractions of milliseconds, which a timer does not take.
    const spent = AbortSignal.timeout(Math.ceil(Math.min(leftMs, eachMs)))
    let isFailed = false
    const { answer } = await this.#pool.tryEach(
      (endpoint) => serves(endpoint) && endpoint.traces.isReady(blockNumber),
      async (endpoint) => {
        // Another endpoint has used up the time: that says nothing about this one.
        if (spent.aborted) return undefined
        try {
          const root = await this.#callTracer(endpoint, hash, AbortSignal.any([signal, spent]))
          const trace = bridgeTraceOf(root, this.#network.bridge, endpoint)
          endpoint.traces.answered(blockNumber)
          return trace
        } catch (error) {
          signal.throwIfAborted()
          if (spent.aborted) endpoint.traces.failed()
          else if (!(error instanceof RpcFailure) || error.kind === 'rateLimit' || error.kind === 'network')
            throw error
          else if (this.#noteFailure(error, endpoint, blockNumber)) return undefined
          isFailed = true
          return undefined
        }
      },
      signal,
    )
    return { trace: answer, isOpen: answer === undefined, isFailed }
  }

  async #callTracer(endpoint: Endpoint, hash: string, signal: AbortSignal): Promise<unknown> {
    const options = { tracer: 'callTracer', tracerConfig: { withLog: true } }
    for (let tries = 1; ; tries++) {
      try {
        return await endpoint.call('debug_traceTransaction', [hash, options], signal)
      } catch (error) {
        const isLast = tries === TRIES_WHERE_REFUSED || !endpoint.traces.hasTraced
        if (isLast || !(error instanceof RpcFailure) || !isTracerMissing(error)) throw error
      }
    }
  }

  /** Remembers a failure. @returns false when it concerns this transaction only. */
  #noteFailure(failure: RpcFailure, endpoint: Endpoint, block: number): boolean {
    if (isTracerMissing(failure)) {
      this.#logger.debug('endpoint offers no call traces now', { endpoint: endpoint.alias })
      return endpoint.traces.refused()
    }
    if (isHistoryGone(failure)) {
      endpoint.traces.gone(block)
      return true
    }
    endpoint.traces.failed()
    return false
  }
}

/** Whether a trace must show the caller. Messages name their sender, and set claims have no caller. */
function isCallerSought({ kind, leafType }: SenderLog): boolean {
  return kind !== 'claimSet' && (kind !== 'deposit' || leafType !== 1)
}

interface TraceTimes {
  readonly deadlineMs: number
  readonly eachMs: number
}

interface TraceResult {
  readonly trace: BridgeTrace | undefined
  /** No trace was available now; a later question may get one. */
  readonly isOpen: boolean
  /** A tracer failed on this transaction. */
  readonly isFailed: boolean
}

const noTrace: TraceResult = { trace: undefined, isOpen: false, isFailed: false }

const NO_TRACER =
  /tracer.{0,30}(not |unknown|unsupported|unavailable)|(no such|unknown|unsupported|invalid).{0,20}tracer/i

function isTracerMissing(failure: RpcFailure): boolean {
  return isMethodMissing(failure) || NO_TRACER.test(failure.providerWords().text)
}

/**
 * @throws RpcFailure `body` when the trace is malformed, nested deeper than any chain's calls, or lacks a successful call of
 * the bridge, although the transaction has a log of the bridge.
 */
function bridgeTraceOf(root: unknown, bridge: string, { alias }: Endpoint): BridgeTrace {
  try {
    const trace = readBridgeTrace(root, bridge)
    if (trace.calls.length > 0) return trace
  } catch {
    // Reported below, like a trace without calls.
  }
  throw new RpcFailure('body', `${alias}: a trace is malformed, or lacks the call that made the log`)
}

function addressBytes(text: string): Address {
  return decodeHex(text)!
}
