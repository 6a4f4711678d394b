import { failure } from '../query/answers.js'
import type { HttpMetrics } from '../telemetry/frontCounts.js'
import type { Caller } from './limits/rateGate.js'
import type { Exchange } from './wire/exchange.js'

/** What one request takes from its client's bucket. Without a rate limit there is none. */
export class Payment {
  private readonly metrics: HttpMetrics
  private readonly exchange: Exchange
  private readonly caller: Caller
  private taken = 0

  constructor(metrics: HttpMetrics, exchange: Exchange, caller: Caller) {
    this.metrics = metrics
    this.exchange = exchange
    this.caller = caller
  }

  /** Takes tokens, or refuses the request. @returns whether it may be answered. */
  take(tokens: number): boolean {
    const { caller, exchange, metrics } = this
    const verdict = caller.take(tokens)
    if (verdict === undefined) return true
    this.taken = tokens
    exchange.moreLines = verdict.lines
    if (verdict.isAllowed) return true
    const message = `too many requests: this one takes ${inHundredths(verdict.needed)} tokens, ${inHundredths(Math.max(0, verdict.tokens))} are left`
    exchange.refuse(failure('RATE_LIMIT_EXCEEDED', message, verdict.retryAfterSec))
    metrics.rateLimited(exchange.route)
    return false
  }

  /** Has the request cost what its answer tells, in place of what was taken last. */
  settle(tokens: number): void {
    if (tokens === this.taken) return
    const { lines } = this.caller.settle(this.taken, tokens) ?? {}
    if (lines !== undefined) this.exchange.moreLines = lines
    this.taken = tokens
  }
}

/** Rounded down, but for what sums of floating-point numbers miss. */
function inHundredths(tokens: number): number {
  return Math.floor(tokens * 100 + 1e-4) / 100
}
