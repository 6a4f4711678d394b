/** How fast buckets fill, and how much they hold. */
export interface Allowance {
  readonly tokensPerSec: number
  readonly burst: number
}

/** What is left after a request. */
export interface Balance {
  readonly isAllowed: boolean
  /** Tokens that the request takes. */
  readonly needed: number
  /** Tokens left; below 0 where an answer was longer than its request could tell. */
  readonly tokens: number
  /** Whole tokens left. */
  readonly remaining: number
  /** Seconds until the bucket is full. */
  readonly resetSec: number
  /** Seconds until the same request would be allowed; 0 when it was. */
  readonly retryAfterSec: number
}

/** What a refusal takes: who goes on asking while the bucket is empty does not get the tokens that come back. */
const REFUSAL_TOKENS = 0.1

/** Costs are multiples of 0.01, which sums of floating-point numbers miss by far less than this. */
const ROUNDING = 1e-6

interface Bucket {
  tokens: number
  filledAtMs: number
}

/** A token bucket per client. Their number is bounded: the client that was silent for longest is forgotten. */
export class TokenBuckets {
  private readonly allowance: Allowance
  private readonly maxClients: number
  /** By client; the one that was silent for longest comes first. */
  private readonly buckets = new Map<string, Bucket>()

  constructor(allowance: Allowance, maxClients: number) {
    this.allowance = allowance
    this.maxClients = maxClients
  }

  get size(): number {
    return this.buckets.size
  }

  /** @param cost more than the burst counts as the burst: a full bucket serves any request. */
  take(client: string, cost: number, nowMs: number): Balance {
    const { tokensPerSec, burst } = this.allowance
    const needed = Math.min(cost, burst)
    const bucket = this.buckets.get(client) ?? { tokens: burst, filledAtMs: nowMs }
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * tokensPerSec) / 1000)
    bucket.filledAtMs = nowMs
    this.buckets.delete(client)
    this.buckets.set(client, bucket)
    if (this.buckets.size > this.maxClients) this.forgetOldest()
    const isAllowed = bucket.tokens + ROUNDING >= needed
    const left = bucket.tokens - (isAllowed ? needed : Math.min(needed, REFUSAL_TOKENS))
    // A refusal leaves a debt as it is.
    bucket.tokens = Math.max(Math.min(0, bucket.tokens), left)
    return this.balance(bucket, needed, isAllowed)
  }

  /**
   * Has a request cost something else than `take` took for it. What it is more may leave less than nothing, by one burst at most: the client
   * waits until that is paid.
   * @returns what is left.
   */
  settle(client: string, taken: number, cost: number): Balance {
    const { burst } = this.allowance
    // A bucket that was forgotten is full.
    const bucket = this.buckets.get(client) ?? { tokens: burst, filledAtMs: 0 }
    const difference = Math.min(taken, burst) - Math.min(cost, 2 * burst)
    bucket.tokens = Math.max(-burst, Math.min(burst, bucket.tokens + difference))
    return this.balance(bucket, cost, true)
  }

  private balance({ tokens }: Bucket, needed: number, isAllowed: boolean): Balance {
    const { tokensPerSec, burst } = this.allowance
    return {
      isAllowed,
      needed,
      tokens,
      remaining: Math.max(0, Math.floor(tokens + ROUNDING)),
      resetSec: Math.ceil((burst - tokens) / tokensPerSec - ROUNDING),
      retryAfterSec: isAllowed ? 0 : Math.max(1, Math.ceil((needed - tokens) / tokensPerSec - ROUNDING)),
    }
  }

  private forgetOldest(): void {
    for (const client of this.buckets.keys()) {
      this.buckets.delete(client)
      return
    }
  }
}
