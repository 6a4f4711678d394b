import type { Clock } from '../../telemetry/clocks.js'

/** What an endpoint refused is asked for again after this long, then after twice as long, and so on. */
const REFUSED_MS = 5_000
const LONGEST_REFUSED_MS = 60_000

/** Remembers for a while that an endpoint refused something. Only for a while: behind a gateway other nodes may answer it. */
export class Refusal {
  readonly #clock: Pick<Clock, 'now'>
  #times = 0
  #untilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** True until the endpoint may be asked again. */
  get holds(): boolean {
    return this.#clock.now() < this.#untilMs
  }

  /** The endpoint refused. While an earlier refusal holds, a further one changes nothing. */
  refused(): void {
    if (this.holds) return
    this.#untilMs = this.#clock.now() + Math.min(LONGEST_REFUSED_MS, REFUSED_MS * 2 ** this.#times++)
  }

  forget(): void {
    this.#times = 0
    this.#untilMs = Number.NEGATIVE_INFINITY
  }
}
