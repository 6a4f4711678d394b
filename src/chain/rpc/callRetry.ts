import type { Clock } from '../../telemetry/clocks.js'
import { isUnknownBlock, isUnknownTransaction, RpcFailure } from './rpcFailure.js'

/** Pauses before a call is sent again; longer when the endpoint asks to slow down. */
const PAUSES_MS = [50, 250]
const RATE_PAUSES_MS = [400, 800]
/** One of several nodes behind an address may be a little behind: the next call mostly meets another one. */
const BEHIND_PAUSES_MS = [20, 50, 100, 250]
/** JSON-RPC's code for an internal error. Gateways send it with a status of 5xx when a backend is gone. */
const INTERNAL_ERROR = -32603
/** If the endpoint asks for a longer wait, the call fails: the pool may then ask another endpoint. */
const LONGEST_RETRY_AFTER_MS = 1_000
/** An endpoint that has answered nothing for so long counts as down: another try would only delay asking the others. */
const LIVELY_FOR_MS = 10_000

/**
 * Sends a call again that failed by chance. Gateways drop a share of their requests, so a task of many calls would hardly ever
 * succeed if one dropped call made it fail. Only for endpoints that have answered lately.
 */
export class CallRetry {
  readonly #clock: Clock
  readonly #isAlone: boolean
  #answeredAtMs = Number.NEGATIVE_INFINITY

  /** @param isAlone there is no other endpoint: then a call that timed out is sent once more as well. */
  constructor(clock: Clock, isAlone: boolean) {
    this.#clock = clock
    this.#isAlone = isAlone
  }

  /**
   * @param isWorthATry false for failures after which the caller has a better next step than the same call again.
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
    const askedMs = failure.retryAfterMs ?? 0
    if (pauseMs === undefined || askedMs > LONGEST_RETRY_AFTER_MS) return undefined
    return Math.max(pauseMs, 2 * askedMs)
  }
}

/** Whether the same call may well be answered the next moment. */
function isChance(failure: RpcFailure): boolean {
  const { status = 0, code, text } = failure.providerWords()
  switch (failure.kind) {
    case 'network':
      return true
    case 'body':
      // A text is there when the answer was too long or badly encoded: the next one would be the same.
      return text === ''
    case 'http':
      return status >= 500
    case 'rpc':
      return status >= 500 && code === INTERNAL_ERROR
    default:
      return false
  }
}
