/** How fast buckets fill, and how much they hold. */
export interface Allowance {
  readonly tokensPerSec: number
  readonly burst: number
}

/** What is left after a request. */
export interface Balance {
  readonly isAllowed: boolean
  /** Whole tokens left. */
  readonly remaining: number
  /** Seconds until the bucket is full. */
  readonly resetSec: number
  /** Seconds until the same request would be allowed; 0 when it was. */
  readonly retryAfterSec: number
}

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

  take(client: string, cost: number, nowMs: number): Balance {
    const { tokensPerSec, burst } = this.allowance
    const bucket = this.buckets.get(client) ?? { tokens: burst, filledAtMs: nowMs }
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * tokensPerSec) / 1000)
    bucket.filledAtMs = nowMs
    this.buckets.delete(client)
    this.buckets.set(client, bucket)
    if (this.buckets.size > this.maxClients) this.forgetOldest()
    const isAllowed = bucket.tokens >= cost
    if (isAllowed) bucket.tokens -= cost
    return {
      isAllowed,
      remaining: Math.floor(bucket.tokens),
      resetSec: Math.ceil((burst - bucket.tokens) / tokensPerSec),
      retryAfterSec: isAllowed ? 0 : Math.max(1, Math.ceil((cost - bucket.tokens) / tokensPerSec)),
    }
  }

  private forgetOldest(): void {
    for (const client of this.buckets.keys()) {
      this.buckets.delete(client)
      return
    }
  }
}
