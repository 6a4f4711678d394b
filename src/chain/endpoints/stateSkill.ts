import type { Clock } from '../../telemetry/clocks.js'

/** Refusals in a row before an endpoint counts as one that answers no contract calls: gateways refuse now and then. */
const REFUSALS_BEFORE_REST = 3
/** It is asked again after this long: gateways change their backends. */
const RECHECK_MS = 10 * 60_000
/** One that is on another branch, or not there yet, is with the others again, or out of step, after so long. */
const STRAY_MS = 30_000

/** Whether one endpoint tells what contracts hold at a block, as far as it has shown. */
export class StateSkill {
  /** Whether it runs `claimedWordsProgram`; undefined until tried. */
  takesPrograms: boolean | undefined
  readonly #clock: Pick<Clock, 'now'>
  #refusals = 0
  #refusesUntil = Number.NEGATIVE_INFINITY
  #contradictedUntil = Number.NEGATIVE_INFINITY
  #misleadsUntil = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** False while the endpoint is not worth a question. */
  get isOffered(): boolean {
    return !this.isRefusing && !this.isMisleading && !this.isContradicted
  }

  /** True once it refused too often, until it is due to be asked again. */
  get isRefusing(): boolean {
    return this.#clock.now() < this.#refusesUntil
  }

  /** What it tells may be the state of another block. */
  get isMisleading(): boolean {
    return this.#clock.now() < this.#misleadsUntil
  }

  /** It told what is not so. */
  get isContradicted(): boolean {
    return this.#clock.now() < this.#contradictedUntil
  }

  /** Refusals are counted from here again. One that refuses goes on resting: some answer for the newest block only. */
  answered(): void {
    this.#refusals = 0
  }

  refused(): void {
    if (++this.#refusals < REFUSALS_BEFORE_REST) return
    this.#refusals = 0
    this.#refusesUntil = this.#clock.now() + RECHECK_MS
  }

  /** It told the state of another block than it was asked for. */
  misled(): void {
    this.#refusals = 0
    this.#misleadsUntil = this.#clock.now() + RECHECK_MS
  }

  /** It has another block there than the others, or none yet. */
  strayed(): void {
    this.#misleadsUntil = this.#clock.now() + STRAY_MS
  }

  /** Another endpoint tells otherwise, and its word counts. */
  contradicted(): void {
    this.#refusals = 0
    this.#contradictedUntil = this.#clock.now() + RECHECK_MS
  }
}
