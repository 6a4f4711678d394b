import type { NetworkConfig } from '../../config/config.types.js'
import { FatalError, RetryableError } from '../../errors/chainErrors.js'
import type { Clock } from '../../telemetry/clocks.js'
import type { Logger } from '../../telemetry/logger.js'
import type { ContractReads, Judgement, StateWitness } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import type { EndpointPool } from '../endpoints/endpointPool.js'
import { isHistoryGone, isUnknownBlock, RpcFailure } from '../rpc/rpcFailure.js'
import { contractReadsBy, type StateTask } from './contractReadsBy.js'
import { type Court, judge } from './stateJudge.js'

/** Endpoints that fail to answer hold up what can wait for their answer for so long, then it goes on without. */
const PATIENCE_MS = 60_000
/** An endpoint that rests after a failure is waited for, but not for as long as it may ask for. */
const LONGEST_REST_MS = 15_000

/** What came of asking one endpoint after the other. */
interface Turn<T> {
  readonly answer: { readonly told: T | undefined; readonly teller: Endpoint } | undefined
  /** Some endpoint that may be able to answer did not. */
  readonly failed: boolean
  /** Some endpoint said that it no longer keeps that state. */
  readonly isGone: boolean
}

/**
 * Questions for what the contracts hold at a block. Not every endpoint answers them: some keep little state, some refuse such
 * calls in words of their own, some take them and tell the newest state whatever the block. So each is asked in turn, one
 * that refuses again and again is left alone for a while, and no trouble here is held against its blocks and logs.
 */
export class ContractStates {
  readonly #network: NetworkConfig
  readonly #pool: EndpointPool
  readonly #clock: Clock
  readonly #logger: Logger
  /** The endpoint that answered last what is compared; other questions are asked beside. */
  #teller: Endpoint | undefined
  #failingSinceMs: number | undefined

  constructor(network: NetworkConfig, pool: EndpointPool, clock: Clock, logger: Logger) {
    this.#network = network
    this.#pool = pool
    this.#clock = clock
    this.#logger = logger
  }

  /**
   * What nothing depends on: it compares what is known already.
   * @returns undefined where the contract does not answer, or no endpoint can tell.
   * @throws RetryableError for a minute, while an endpoint that may be able to tell fails; or the signal's reason.
   */
  async ask<T>(task: StateTask<T>, signal: AbortSignal): Promise<T | undefined> {
    const { answer, failed } = await this.#inTurn(() => true, task, signal)
    if (answer !== undefined || !failed) {
      this.#failingSinceMs = undefined
      this.#teller = answer?.teller ?? this.#teller
      return answer?.told
    }
    this.#failingSinceMs ??= this.#clock.now()
    if (this.#clock.now() - this.#failingSinceMs > PATIENCE_MS) return undefined
    throw this.#silence()
  }

  /**
   * What can't be done without.
   * @param preferred is asked first. @param takesNewest the state of a newer block does as well: where no other endpoint is
   *   left, one that tells it is better than none.
   * @returns undefined where the contract does not answer.
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
    if (first.answer !== undefined) return first.answer.told
    const second = await this.#inTurn((endpoint) => endpoint !== preferred, task, signal)
    if (second.answer !== undefined) return second.answer.told
    // Where nobody else is left, one that refused is asked before its time: what can't be done without stands still meanwhile.
    const isLeft = ({ state }: Endpoint) =>
      !state.isOffered && !state.isContradicted && (takesNewest || !state.isMisleading)
    const third = await this.#inTurn(isLeft, task, signal, { isOffered: isLeft })
    if (third.answer !== undefined) return third.answer.told
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

  /** @see ChainClient.askWitness */
  askWitness<T>(
    witness: StateWitness,
    stored: T,
    ask: (reads: ContractReads) => Promise<T | undefined>,
    signal: AbortSignal,
  ): Promise<Judgement<T>> {
    const court: Court = {
      bridge: this.#network.bridge,
      logger: this.#logger,
      accuser: this.#teller,
      inTurn: async (accepts, task) => {
        const isAnswer = (told: unknown): boolean => told !== undefined
        return (await this.#inTurn(accepts, task, signal, { isAnswer })).answer?.told
      },
    }
    const askEndpoint: StateTask<T> = (endpoint, signal) =>
      ask(contractReadsBy(this.#network, (question) => question(endpoint, signal)))
    return judge(court, witness, stored, askEndpoint, signal)
  }

  /** Counts one more refusal. @returns whether it is one too many. */
  #isRefusing({ alias, state }: Endpoint): boolean {
    const isKnown = state.isRefusing
    state.refused()
    if (!isKnown && state.isRefusing)
      this.#logger.warn('endpoint answers no contract calls', { endpoint: alias })
    return state.isRefusing
  }

  /** @see ChainClient.readsManyWords */
  readsManyWords(): boolean {
    return this.#teller?.state.takesPrograms === true
  }

  /** The getters, each asked of whichever endpoint can tell. */
  reads(until: (signal: AbortSignal) => AbortSignal): ContractReads {
    return contractReadsBy(this.#network, (question, signal) => this.ask(question, until(signal)))
  }

  /** Asks one endpoint after the other until one answers, with a value or by the contract's own no. */
  async #inTurn<T>(
    accepts: (endpoint: Endpoint) => boolean,
    task: StateTask<T>,
    signal: AbortSignal,
    {
      isAnswer = () => true,
      isOffered = ({ state }) => state.isOffered,
    }: {
      readonly isAnswer?: (told: T | undefined) => boolean
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
          const told = await task(endpoint, signal)
          endpoint.state.answered()
          return isAnswer(told) ? { told, teller: endpoint } : undefined
        } catch (error) {
          if (!(error instanceof RpcFailure)) throw error
          if (error.kind === 'gone' || isHistoryGone(error)) isGone = true
          else if (isUnknownBlock(error)) throw new RpcFailure('behind', error.message, error.providerWords())
          else if (!isRefusal(error)) throw error
          else if (!this.#isRefusing(endpoint)) isUndecided = true
          return undefined
        }
      },
      signal,
    )
    return { answer, failed: failed || isUndecided, isGone }
  }
}

/**
 * The endpoint answered, and would not: that says nothing against its blocks and logs. One that would not tell a block, which
 * is asked for on the way, says as little of the state that it keeps.
 */
function isRefusal(failure: RpcFailure): boolean {
  const { status = 0, method } = failure.providerWords()
  if (method === 'eth_getBlockByNumber') return false
  return failure.kind === 'rpc' || (failure.kind === 'http' && status < 500)
}
