import type { Clock } from '../../telemetry/clocks.js'

/** After so many refusals in a row an endpoint counts as one that answers no contract calls: gateways refuse now and then. */
const REFUSALS_BEFORE_REST = 3
/** An endpoint that was set aside is asked again after this long: gateways change their backends. */
const RECHECK_MS = 10 * 60_000
/** The same for an endpoint that is on another branch, or a block behind: it catches up soon. */
const STRAY_MS = 30_000

/** Whether one endpoint can be asked for contract state, as far as its answers have shown. */
export class StateSkill {
  /** Whether it runs `claimedWordsProgram`; undefined until that was tried. */
  takesPrograms: boolean | undefined
  readonly #clock: Pick<Clock, 'now'>
  #refusals = 0
  #refusesUntil = Number.NEGATIVE_INFINITY
  #contradictedUntil = Number.NEGATIVE_INFINITY
  #misleadsUntil = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Whether the endpoint should be asked now. */
  get isOffered(): boolean {
    return !this.isRefusing && !this.isMisleading && !this.isContradicted
  }

  /** It refused too often. */
  get isRefusing(): boolean {
    return this.#clock.now() < this.#refusesUntil
  }

  /** It may answer with the state of another block. */
  get isMisleading(): boolean {
    return this.#clock.now() < this.#misleadsUntil
  }

  /** It gave an answer that another endpoint refuted. */
  get isContradicted(): boolean {
    return this.#clock.now() < this.#contradictedUntil
  }

  /** Starts counting refusals anew. It does not end `isRefusing`: some endpoints answer for the newest block only. */
  answered(): void {
    this.#refusals = 0
  }

  refused(): void {
    if (++this.#refusals < REFUSALS_BEFORE_REST) return
    this.#refusals = 0
    this.#refusesUntil = this.#clock.now() + RECHECK_MS
  }

  /** It answered with the state of another block. */
  misled(): void {
    this.#refusals = 0
    this.#misleadsUntil = this.#clock.now() + RECHECK_MS
  }

  /** It has another block at that height than is stored, or none yet. */
  strayed(): void {
    this.#misleadsUntil = this.#clock.now() + STRAY_MS
  }

  /** Another endpoint refuted its answer. */
  contradicted(): void {
    this.#refusals = 0
    this.#contradictedUntil = this.#clock.now() + RECHECK_MS
  }
}
