import type { Clock } from '../../telemetry/clocks.js'
import type { RpcFailure, RpcFailureKind } from '../rpc/rpcFailure.js'

/** First and longest pause after failures in a row: short enough for a network to recover within a minute. */
const FIRST_PAUSE_MS = 250
const PAUSE_CAP_MS = 15_000
const FIRST_RATE_PAUSE_MS = 1_000
const RATE_PAUSE_CAP_MS = 30_000
/** The pause for a node that is a few blocks behind, or keeps less history: nothing else is wrong with it. */
const SHORT_PAUSE_MS = 500
const UNABLE_WEIGHT = 0.5
const UNABLE: ReadonlySet<RpcFailureKind> = new Set(['behind', 'gone', 'tooMuch'])
/** Errors weigh half after this long without another one. */
const ERROR_HALF_LIFE_MS = 60_000
/** Share of the newest latency in the average. */
const LATENCY_WEIGHT = 0.2

/** How well one endpoint has served lately, and until when it is not asked. */
export class EndpointHealth {
  readonly #clock: Clock
  #failuresInARow = 0
  #pausedUntil = 0
  #latencyMs = 0
  #errors = 0
  #errorsAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** False during the pause after a failure. */
  get isReady(): boolean {
    return this.#clock.now() >= this.#pausedUntil
  }

  get pausedUntil(): number {
    return this.#pausedUntil
  }

  /** True after a failure, until something succeeds. */
  get isFailing(): boolean {
    return this.#failuresInARow > 0
  }

  /**
   * Lower is better; 1 point = one place in the configured order. A second of latency weighs two places. An error weighs one
   * and a half places, half as much after a minute; all errors together weigh four places at most.
   */
  get score(): number {
    const age = this.#clock.now() - this.#errorsAt
    return (this.#latencyMs / 1000) * 2 + Math.min(4, this.#errors * 1.5 * 0.5 ** (age / ERROR_HALF_LIFE_MS))
  }

  succeeded(): void {
    this.#failuresInARow = 0
  }

  /** To be called for light calls only: a wide `eth_getLogs` is slow everywhere. */
  measured(latencyMs: number): void {
    this.#latencyMs += (latencyMs - this.#latencyMs) * LATENCY_WEIGHT
  }

  failed(failure: RpcFailure | undefined): void {
    const now = this.#clock.now()
    const isUnable = failure !== undefined && UNABLE.has(failure.kind)
    this.#errors =
      this.#errors * 0.5 ** ((now - this.#errorsAt) / ERROR_HALF_LIFE_MS) + (isUnable ? UNABLE_WEIGHT : 1)
    this.#errorsAt = now
    if (isUnable) {
      this.#pausedUntil = now + SHORT_PAUSE_MS
      return
    }
    const isRate = failure?.kind === 'rateLimit'
    const first = isRate ? FIRST_RATE_PAUSE_MS : FIRST_PAUSE_MS
    const cap = isRate ? RATE_PAUSE_CAP_MS : PAUSE_CAP_MS
    const pause = Math.min(cap, first * 2 ** Math.min(this.#failuresInARow, 20))
    this.#failuresInARow++
    // Between half and all of the pause: clients that failed together must not come back together.
    const jittered = pause * (0.5 + this.#clock.random() / 2)
    this.#pausedUntil = now + Math.max(jittered, failure?.retryAfterMs ?? 0)
  }
}
