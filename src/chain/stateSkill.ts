import type { Clock } from './clock.js'

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
  #restsUntil = Number.NEGATIVE_INFINITY
  #misleadsUntil = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** False while the endpoint is not worth a question. */
  get isOffered(): boolean {
    return this.isAnswering && this.#clock.now() >= this.#misleadsUntil
  }

  /** False while it refuses, or told what is not so: what it tells may be the state of another block. */
  get isAnswering(): boolean {
    return this.#clock.now() >= this.#restsUntil
  }

  /** Refusals are counted from here again. */
  answered(): void {
    this.#refusals = 0
  }

  /** @returns true when this was one refusal too many. */
  refused(): boolean {
    if (++this.#refusals < REFUSALS_BEFORE_REST) return false
    this.#refusals = 0
    this.#restsUntil = this.#clock.now() + RECHECK_MS
    return true
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
    this.#restsUntil = this.#clock.now() + RECHECK_MS
  }
}
