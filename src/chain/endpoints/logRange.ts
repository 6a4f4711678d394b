import type { LogsProblem } from '../rpc/rangeErrors.js'

/** After an answer with more logs than this the next window is smaller: memory stays bounded, and commits stay short. */
const TARGET_LOGS = 5_000
/**
 * Width of the first window, when nothing is known of the chain yet: a full window of a busy chain has hundreds of megabytes.
 * Doubling makes up for it within a few calls.
 */
const FIRST_SPAN = 1_000
/** Full windows that must succeed before the width doubles. */
const GROW_AFTER = 2
/** The same where the doubled width has failed before. This number doubles with each further failure, up to the cap. */
const GROW_AFTER_NEAR_WALL = 16
const GROW_AFTER_CAP = 512
/** A refusal that we can't read may pass by itself; the second one in a row halves the window. */
const UNKNOWN_TRIES = 2

/** Learns how many blocks one endpoint can be asked for at once: fewer after refusals, more again after successes. */
export class LogRange {
  #span: number
  /** As configured, or less if the provider states a smaller width: that holds for good. */
  #max: number
  /** Narrowest width that failed without a stated limit: it is tried again only after many successes. */
  #wall = Number.POSITIVE_INFINITY
  #patience = GROW_AFTER_NEAR_WALL
  #successes = 0
  #unknown = 0

  constructor(max: number) {
    this.#max = Math.max(1, max)
    this.#span = Math.min(this.#max, FIRST_SPAN)
  }

  /** Blocks of the next window, ≥ 1. */
  get span(): number {
    return this.#span
  }

  /** A window of `span` blocks was refused as too wide or too full. */
  shrink(problem: Extract<LogsProblem, { type: 'tooWide' | 'tooMany' }>, span: number): void {
    this.#successes = 0
    this.#unknown = 0
    const half = Math.max(1, Math.floor(span / 2))
    if (problem.type === 'tooWide' && problem.maxBlocks !== undefined) {
      this.#max = Math.min(this.#max, problem.maxBlocks)
      this.#span = Math.min(this.#span, this.#max)
      return
    }
    if (span === this.#wall) this.#patience = Math.min(GROW_AFTER_CAP, this.#patience * 2)
    this.#wall = Math.min(this.#wall, span)
    this.#span = Math.min(this.#span, half)
  }

  /** A window of `span` blocks was refused, in words that we can't read. */
  refused(span: number): void {
    this.#successes = 0
    if (++this.#unknown >= UNKNOWN_TRIES) this.shrink({ type: 'tooWide' }, span)
  }

  /** A window of `span` blocks had no answer. Its width is rarely the reason, so that it is not remembered as a wall. */
  unanswered(span: number): void {
    this.#successes = 0
    if (++this.#unknown < UNKNOWN_TRIES) return
    this.#unknown = 0
    this.#span = Math.min(this.#span, Math.max(1, Math.floor(span / 2)))
  }

  /** A window of `span` blocks was answered with `logs` logs. */
  succeeded(span: number, logs: number): void {
    this.#unknown = 0
    if (span >= this.#wall) {
      this.#wall = Number.POSITIVE_INFINITY
      this.#patience = GROW_AFTER_NEAR_WALL
    }
    if (logs > TARGET_LOGS && span > 1) {
      this.#successes = 0
      this.#span = Math.min(this.#span, Math.max(1, Math.floor((span * TARGET_LOGS) / logs)))
      return
    }
    // Only full windows prove the width. After more than half of the target, twice the width would be too much.
    if (span < this.#span || logs * 2 > TARGET_LOGS) return
    const next = Math.min(this.#span * 2, this.#max)
    if (++this.#successes < (next >= this.#wall ? this.#patience : GROW_AFTER)) return
    this.#successes = 0
    this.#span = next
  }
}
