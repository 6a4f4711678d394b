import type { Clock } from '../../telemetry/clocks.js'
import { isUnknownBlock, isUnknownTransaction, RpcFailure } from './rpcFailure.js'

/** Pauses before a call is asked again; where there is one refusal too many, a little longer. */
const PAUSES_MS = [50, 250]
const RATE_PAUSES_MS = [400, 800]
/** Of several nodes behind one address one may be a little behind: the next question mostly meets another. */
const BEHIND_PAUSES_MS = [20, 50, 100, 250]
/** JSON-RPC's own code, which gateways send with a 5xx when a backend is gone. */
const INTERNAL_ERROR = -32603
/** A longer wait that the endpoint asks for is a matter of the pool, which may ask another one. */
const LONGEST_RETRY_AFTER_MS = 1_000
/** An endpoint that has answered nothing for so long is not flaky but down: then each further try only delays the others. */
const LIVELY_FOR_MS = 10_000

/**
 * Asks again where one call failed by chance: gateways drop a share of their requests, and a task of many calls would
 * never get through when the first failed call ended it. Only for endpoints that have answered lately.
 */
export class CallRetry {
  readonly #clock: Clock
  readonly #isAlone: boolean
  #answeredAtMs = Number.NEGATIVE_INFINITY

  /** @param isAlone there is no other endpoint: then what was not answered in time is asked once more as well. */
  constructor(clock: Clock, isAlone: boolean) {
    this.#clock = clock
    this.#isAlone = isAlone
  }

  /**
   * @param isWorthATry false for failures that the caller has something better for than the same question again.
   * @throws what the last try threw.
   */
  async run<T>(
    ask: () => Promise<T>,
    signal: AbortSignal,
    isWorthATry: (failure: RpcFailure) => boolean = () => true,
  ): Promise<T> {
    const isLively = this.#clock.now() - this.#answeredAtMs <= LIVELY_FOR_MS
    for (let tries = 0; ; tries++) {
      try {
        const answer = await ask()
        this.#answeredAtMs = this.#clock.now()
        return answer
      } catch (error) {
        const mayTry = isLively && error instanceof RpcFailure && isWorthATry(error)
        const pauseMs = mayTry ? this.#pauseAfter(error, tries) : undefined
        if (pauseMs === undefined) throw error
        await this.#clock.sleep(pauseMs * (0.5 + this.#clock.random() / 2), signal)
      }
    }
  }

  #pauseAfter(failure: RpcFailure, tries: number): number | undefined {
    if (failure.kind === 'timeout') return this.#isAlone && tries === 0 ? PAUSES_MS[0] : undefined
    if (isUnknownBlock(failure) || isUnknownTransaction(failure)) return BEHIND_PAUSES_MS[tries]
    if (failure.kind !== 'rateLimit') return isChance(failure) ? PAUSES_MS[tries] : undefined
    const pauseMs = RATE_PAUSES_MS[tries]
    const toldMs = failure.retryAfterMs ?? 0
    if (pauseMs === undefined || toldMs > LONGEST_RETRY_AFTER_MS) return undefined
    return Math.max(pauseMs, 2 * toldMs)
  }
}

/** The same question may well be answered the next moment. */
function isChance(failure: RpcFailure): boolean {
  const { status = 0, code, text } = failure.providerWords()
  switch (failure.kind) {
    case 'network':
      return true
    case 'body':
      // One that is too long comes again as it was.
      return text === ''
    case 'http':
      return status >= 500
    case 'rpc':
      return status >= 500 && code === INTERNAL_ERROR
    default:
      return false
  }
}
