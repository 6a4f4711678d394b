import type { NetworkConfig } from '../../config/config.types.js'
import { FatalError, RetryableError } from '../../errors/chainErrors.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import type { ContractReads, Judgement, StateCheck } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import type { EndpointPool } from '../endpoints/endpointPool.js'
import { isHistoryGone, isUnknownBlock, RpcFailure } from '../rpc/rpcFailure.js'
import { contractReadsBy, type StateTask } from './contractReadsBy.js'
import { type JudgeContext, judge } from './stateJudge.js'

/** When endpoints fail to answer, `ask` throws for this long. After it, the caller goes on without an answer. */
const PATIENCE_MS = 60_000
/** The longest wait for an endpoint that pauses after a failure, even if it asked for a longer pause. */
const LONGEST_REST_MS = 15_000

/** The outcome of asking one endpoint after the other. */
interface Turn<T> {
  readonly answer: { readonly value: T | undefined; readonly endpoint: Endpoint } | undefined
  /** Some endpoint that may be able to answer failed. */
  readonly failed: boolean
  /** Some endpoint said that it no longer keeps that state. */
  readonly isGone: boolean
}

/**
 * Reads contract state at a block. Some endpoints keep little state, some refuse such calls, some answer with the newest state
 * whatever the block. So the endpoints are asked in turn, and one that refuses again and again is not asked for a while. A
 * failure here says nothing about an endpoint's blocks and logs.
 */
export class ContractStates {
  readonly #network: NetworkConfig
  readonly #pool: EndpointPool
  readonly #clock: Clock
  readonly #logger: Logger
  /** The endpoint that answered the last `ask`: when that answer contradicts what is stored, this endpoint is in doubt. */
  #lastAnswerer: Endpoint | undefined
  #failingSinceMs: number | undefined

  constructor(network: NetworkConfig, pool: EndpointPool, clock: Clock, logger: Logger) {
    this.#network = network
    this.#pool = pool
    this.#clock = clock
    this.#logger = logger
  }

  /**
   * For reads that the caller can do without: they only compare what is stored already.
   * @returns undefined when the contract does not answer, or no endpoint can.
   * @throws RetryableError while an endpoint that may be able to answer fails, for a minute at most; or the signal's reason.
   */
  async ask<T>(task: StateTask<T>, signal: AbortSignal): Promise<T | undefined> {
    const { answer, failed } = await this.#inTurn(() => true, task, signal)
    if (answer !== undefined || !failed) {
      this.#failingSinceMs = undefined
      this.#lastAnswerer = answer?.endpoint ?? this.#lastAnswerer
      return answer?.value
    }
    this.#failingSinceMs ??= this.#clock.now()
    if (this.#clock.now() - this.#failingSinceMs > PATIENCE_MS) return undefined
    throw this.#silence()
  }

  /**
   * For reads that the caller can't do without.
   * @param preferred the endpoint to ask first.
   * @param takesNewest a newer block's state does as well: if no other endpoint is left, one that answers with it is asked.
   * @returns undefined when the contract does not answer.
   * @throws FatalError `pruned_history` when no endpoint keeps that state any more, `state_unavailable` when none answers
   *   contract calls at all; RetryableError, or the signal's reason.
   */
  async need<T>(
    task: StateTask<T>,
    signal: AbortSignal,
    {
      preferred,
      takesNewest = false,
    }: { readonly preferred?: Endpoint; readonly takesNewest?: boolean } = {},
  ): Promise<T | undefined> {
    const first = await this.#inTurn((endpoint) => endpoint === preferred, task, signal)
    if (first.answer !== undefined) return first.answer.value
    const second = await this.#inTurn((endpoint) => endpoint !== preferred, task, signal)
    if (second.answer !== undefined) return second.answer.value
    // If no other is left, an endpoint that refused lately is asked before its pause is over: without an answer the network
    // stands still.
    const isLeft = ({ state }: Endpoint) =>
      !state.isOffered && !state.isContradicted && (takesNewest || !state.isMisleading)
    const third = await this.#inTurn(isLeft, task, signal, { isOffered: isLeft })
    if (third.answer !== undefined) return third.answer.value
    this.#pool.assertStateOfRightChain()
    if (first.failed || second.failed || third.failed) throw this.#silence()
    const network = `network ${this.#network.networkId}`
    if (first.isGone || second.isGone || third.isGone)
      throw new FatalError(`no endpoint of ${network} keeps the state that is asked for`, {
        reason: 'pruned_history',
      })
    throw new FatalError(`no endpoint of ${network} answers contract calls (eth_call)`, {
      reason: 'state_unavailable',
    })
  }

  #silence(): RetryableError {
    return new RetryableError(`no endpoint of network ${this.#network.networkId} answers a contract call now`)
  }

  /** @see ChainClient.checkContradiction */
  checkContradiction<T>(
    check: StateCheck,
    stored: T,
    ask: (reads: ContractReads) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<Judgement<T>> {
    const context: JudgeContext = {
      bridge: this.#network.bridge,
      logger: this.#logger,
      doubted: this.#lastAnswerer,
      inTurn: async (accepts, task) => {
        const isAnswer = (value: unknown): boolean => value !== undefined
        return (await this.#inTurn(accepts, task, signal, { isAnswer })).answer?.value
      },
    }
    const askEndpoint: StateTask<T> = (endpoint, signal) =>
      ask(contractReadsBy(this.#network, (question) => question(endpoint, signal)))
    return judge(context, check, stored, askEndpoint, signal)
  }

  /** Counts one more refusal. @returns whether the endpoint is now left alone. */
  #countRefusal({ alias, state }: Endpoint): boolean {
    const isKnown = state.isRefusing
    state.refused()
    if (!isKnown && state.isRefusing)
      this.#logger.warn('endpoint answers no contract calls', { endpoint: alias })
    return state.isRefusing
  }

  /** @see ChainClient.readsManyWords */
  readsManyWords(): boolean {
    return this.#lastAnswerer?.state.takesPrograms === true
  }

  /** The getters, each answered by any endpoint that can. */
  reads(until: (signal: AbortSignal) => AbortSignal): ContractReads {
    return contractReadsBy(this.#network, (question, signal) => this.ask(question, until(signal)))
  }

  /** Asks one endpoint after the other until one answers. That the contract reverts is an answer, too. */
  async #inTurn<T>(
    accepts: (endpoint: Endpoint) => boolean,
    task: StateTask<T>,
    signal: AbortSignal,
    {
      isAnswer = () => true,
      isOffered = ({ state }) => state.isOffered,
    }: {
      readonly isAnswer?: (value: T | undefined) => boolean
      readonly isOffered?: (endpoint: Endpoint) => boolean
    } = {},
  ): Promise<Turn<T>> {
    const isAsked = (endpoint: Endpoint) =>
      endpoint.serves('state') && isOffered(endpoint) && accepts(endpoint)
    let isUndecided = false
    let isGone = false
    await this.#pool.untilReady(isAsked, LONGEST_REST_MS, signal)
    const { answer, failed } = await this.#pool.tryEach(
      isAsked,
      async (endpoint) => {
        try {
          const value = await task(endpoint, signal)
          endpoint.state.answered()
          return isAnswer(value) ? { value, endpoint } : undefined
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error
          if (error.kind === 'gone' || isHistoryGone(error)) isGone = true
          else if (isUnknownBlock(error)) throw new RpcFailure('behind', error.message, error.providerWords())
          else if (!isRefusal(error)) throw error
          else if (!this.#countRefusal(endpoint)) isUndecided = true
          return undefined
        }
      },
      signal,
    )
    return { answer, failed: failed || isUndecided, isGone }
  }
}

/**
 * Whether the endpoint refused the contract call. Not so when it refused a block that `task` also reads: that says nothing
 * about the state that it keeps.
 */
function isRefusal(failure: RpcFailure): boolean {
  const { status = 0, method } = failure.providerWords()
  if (method === 'eth_getBlockByNumber') return false
  return failure.kind === 'rpc' || (failure.kind === 'http' && status < 500)
}
