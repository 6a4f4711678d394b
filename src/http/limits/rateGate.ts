import type { RateLimitConfig } from '../../config/config.types.js'
import { headerLines } from '../wire/headers.js'
import type { WireRequest } from '../wire/wire.js'
import { ApiKeys, clientAddress, clientName } from './client.js'
import { AddressRanges, ipOfPeer } from './ipAddress.js'
import { type Allowance, type Balance, TokenBuckets } from './tokenBuckets.js'

/** Whether a request is allowed, and the header lines that tell the client its balance. */
export interface Verdict {
  readonly isAllowed: boolean
  readonly lines: string
  readonly remaining: number
  readonly retryAfterSec: number
}

/** Clients that have the same allowance: those known by address, or those with an API key. */
class Tier {
  private readonly name: string
  private readonly buckets: TokenBuckets
  private readonly policy: string

  constructor(name: string, allowance: Allowance, maxClients: number) {
    this.name = name
    this.buckets = new TokenBuckets(allowance, maxClients)
    const windowSec = Math.ceil(allowance.burst / allowance.tokensPerSec)
    this.policy = headerLines([['RateLimit-Policy', `"${name}";q=${allowance.burst};w=${windowSec}`]])
  }

  admit(client: string, cost: number, nowMs: number): Verdict {
    const balance = this.buckets.take(client, cost, nowMs)
    return { ...balance, lines: this.policy + this.balanceLine(balance) }
  }

  private balanceLine({ remaining, resetSec }: Balance): string {
    return headerLines([['RateLimit', `"${this.name}";r=${remaining};t=${resetSec}`]])
  }
}

/** The rate limit. A client is known by its API key, else by its address, and has one token bucket. */
export class RateGate {
  private readonly byAddress: Tier
  private readonly byKey: Tier
  private readonly keys: ApiKeys
  private readonly trusted: AddressRanges
  private readonly exempt: AddressRanges
  private readonly now: () => number

  /** @param now milliseconds; passed in so that tests control the time. */
  constructor(config: RateLimitConfig, now: () => number = () => performance.now()) {
    const { tokensPerSec, burst, keyTokensPerSec, keyBurst, maxClients } = config
    this.byAddress = new Tier('address', { tokensPerSec, burst }, maxClients)
    this.byKey = new Tier('key', { tokensPerSec: keyTokensPerSec, burst: keyBurst }, maxClients)
    this.keys = new ApiKeys(config.apiKeys)
    this.trusted = new AddressRanges(config.trustedProxies)
    this.exempt = new AddressRanges(config.allow)
    this.now = now
  }

  /**
   * @param peer the connection's other end, as its transport tells it.
   * @returns undefined for a client that is never limited.
   */
  admit(peer: ArrayBuffer | string, request: WireRequest, cost: number): Verdict | undefined {
    const address = clientAddress(ipOfPeer(peer), this.trusted, () => forwardedFor(request))
    if (this.exempt.has(address)) return undefined
    const key = this.keys.positionOf(request.getHeader('x-api-key'), request.getHeader('authorization'))
    return key < 0
      ? this.byAddress.admit(clientName(address), cost, this.now())
      : this.byKey.admit(String(key), cost, this.now())
  }
}

/** All `X-Forwarded-For` lines. `getHeader` returns only the first: the client's own, not the one that a proxy added. */
function forwardedFor(request: WireRequest): string {
  const lines: string[] = []
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') lines.push(value)
  })
  return lines.join(',')
}
