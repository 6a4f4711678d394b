import type { LogsProblem } from '../rpc/rangeErrors.js'

/** Answers with more logs than this make the next window smaller: memory stays bounded, and commits stay short. */
const TARGET_LOGS = 10_000
/**
 * Width of the first window: a full one of a busy chain has hundreds of megabytes, and nothing is known of the chain yet.
 * Doubling makes up for it within a few questions.
 */
const FIRST_SPAN = 1_000
/** Full windows that must succeed before the width doubles, in the open and below a width that failed before. */
const GROW_AFTER = 2
const GROW_AFTER_NEAR_WALL = 16
const GROW_AFTER_CAP = 512
/** An error that we can't read may pass by itself once; the second one in a row halves the window. */
const UNKNOWN_TRIES = 2

/** How many blocks one endpoint is asked for at once. Shrinks on what the endpoint says, grows back with success. */
export class LogRange {
  #span: number
  /** Configured, then lowered for good by a width that the provider states. */
  #max: number
  /** Narrowest width that failed without a stated limit: growing past it takes patience. */
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

  /** A window of `span` blocks was refused, in words that say nothing to us. */
  refused(span: number): void {
    this.#successes = 0
    if (++this.#unknown >= UNKNOWN_TRIES) this.shrink({ type: 'tooWide' }, span)
  }

  /** A window of `span` blocks had no answer at all. That may be its width; mostly it is not: no wall is remembered. */
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
    // Only full windows prove that the width is served; half of the target leaves room for the doubling.
    if (span < this.#span || logs * 2 > TARGET_LOGS) return
    const next = Math.min(this.#span * 2, this.#max)
    if (++this.#successes < (next >= this.#wall ? this.#patience : GROW_AFTER)) return
    this.#successes = 0
    this.#span = next
  }
}
