import type { RateLimitConfig } from '../../config/config.types.js'
import { headerLines } from '../wire/headers.js'
import type { HttpRequest } from '../wire/uws.js'
import { AddressRanges } from './addressRanges.js'
import { ApiKeys } from './apiKeys.js'
import { clientAddress, clientName } from './clientAddress.js'
import { ipFromBytes } from './ipAddress.js'
import { type Allowance, type Balance, TokenBuckets } from './tokenBuckets.js'

/** Whether a request may go on, and the header lines that tell the client how it stands. */
export interface Verdict {
  readonly isAllowed: boolean
  readonly lines: string
  readonly remaining: number
  readonly retryAfterSec: number
}

/** A tier of clients under one allowance. */
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
    return { ...balance, lines: this.policy + this.standing(balance) }
  }

  private standing({ remaining, resetSec }: Balance): string {
    return headerLines([['RateLimit', `"${this.name}";r=${remaining};t=${resetSec}`]])
  }
}

/** Asks each client's bucket. Clients are told apart by a known API key, else by address. */
export class RateGate {
  private readonly addresses: Tier
  private readonly holders: Tier
  private readonly keys: ApiKeys
  private readonly trusted: AddressRanges
  private readonly exempt: AddressRanges
  private readonly now: () => number

  /** @param now milliseconds; passed in so that tests own the time. */
  constructor(config: RateLimitConfig, now: () => number = () => performance.now()) {
    const { tokensPerSec, burst, keyTokensPerSec, keyBurst, maxClients } = config
    this.addresses = new Tier('address', { tokensPerSec, burst }, maxClients)
    this.holders = new Tier('key', { tokensPerSec: keyTokensPerSec, burst: keyBurst }, maxClients)
    this.keys = new ApiKeys(config.apiKeys)
    this.trusted = new AddressRanges(config.trustedProxies)
    this.exempt = new AddressRanges(config.allow)
    this.now = now
  }

  /**
   * @param peer binary address of the connection's other end.
   * @returns undefined for a client that is never limited.
   */
  admit(peer: ArrayBuffer, req: HttpRequest, cost: number): Verdict | undefined {
    const address = clientAddress(ipFromBytes(peer), this.trusted, () => forwardedFor(req))
    if (this.exempt.has(address)) return undefined
    const key = this.keys.positionOf(req.getHeader('x-api-key'), req.getHeader('authorization'))
    return key < 0
      ? this.addresses.admit(clientName(address), cost, this.now())
      : this.holders.admit(String(key), cost, this.now())
  }
}

/** `getHeader` knows the first line only: the one that a client sent, not the one that a proxy added. */
function forwardedFor(req: HttpRequest): string {
  const lines: string[] = []
  req.forEach((name, value) => {
    if (name === 'x-forwarded-for') lines.push(value)
  })
  return lines.join(',')
}
