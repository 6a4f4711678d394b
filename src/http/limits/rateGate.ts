import type { RateLimitConfig } from '../../config/config.types.js'
import { headerLines } from '../wire/headers.js'
import type { WireRequest } from '../wire/wire.js'
import { ApiKeys, clientName, siteName } from './client.js'
import { AddressRanges, type IpAddress, ipOfPeer } from './ipAddress.js'
import { type Allowance, type Balance, TokenBuckets } from './tokenBuckets.js'
import type { TrustedProxies } from './trustedProxies.js'

/** Whether a request is allowed, and the header lines that tell the client its balance. */
export interface Verdict {
  readonly isAllowed: boolean
  readonly lines: string
  readonly needed: number
  readonly tokens: number
  readonly retryAfterSec: number
}

/** Who sent a request, as far as limits go. */
export interface Caller {
  /** Whether it is a trusted proxy for itself, not for a client: one that asks whether we are well. */
  readonly isProxy: boolean
  /** @returns undefined for a client that is never limited. */
  take(tokens: number): Verdict | undefined
  /** Has a request cost something else than `take` took for it. @returns as `take`. */
  settle(taken: number, tokens: number): Verdict | undefined
}

const UNLIMITED = { take: () => undefined, settle: () => undefined } as const

/** A site has the allowance of so many clients: some providers give a home less than a /48, so more than one may ask at a time. */
const CLIENTS_PER_SITE = 16

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
    return this.told(this.buckets.take(client, cost, nowMs))
  }

  settle(client: string, taken: number, cost: number): Verdict {
    return this.told(this.buckets.settle(client, taken, cost))
  }

  private told(balance: Balance): Verdict {
    const { remaining, resetSec } = balance
    const line = headerLines([['RateLimit', `"${this.name}";r=${remaining};t=${resetSec}`]])
    return { ...balance, lines: this.policy + line }
  }
}

/** The rate limit. A client is known by its API key, else by its address, and has one token bucket; an IPv6 site has one, too. */
export class RateGate {
  private readonly byAddress: Tier
  private readonly bySite: Tier
  private readonly byKey: Tier
  private readonly keys: ApiKeys
  private readonly proxies: TrustedProxies
  private readonly exempt: AddressRanges
  private readonly onUnnamedProxy: () => void
  private readonly now: () => number
  private hasTold = false

  /**
   * @param onUnnamedProxy called once, when a client is refused that seems to be a proxy with clients of its own.
   * @param now milliseconds; passed in so that tests control the time.
   */
  constructor(
    config: Omit<RateLimitConfig, 'trustedProxies'>,
    proxies: TrustedProxies,
    onUnnamedProxy: () => void,
    now: () => number = () => performance.now(),
  ) {
    const { tokensPerSec, burst, keyTokensPerSec, keyBurst, maxClients } = config
    this.byAddress = new Tier('address', { tokensPerSec, burst }, maxClients)
    const ofSite = { tokensPerSec: CLIENTS_PER_SITE * tokensPerSec, burst: CLIENTS_PER_SITE * burst }
    this.bySite = new Tier('site', ofSite, maxClients)
    this.byKey = new Tier('key', { tokensPerSec: keyTokensPerSec, burst: keyBurst }, maxClients)
    this.keys = new ApiKeys(config.apiKeys)
    this.proxies = proxies
    this.exempt = new AddressRanges(config.allow)
    this.onUnnamedProxy = onUnnamedProxy
    this.now = now
  }

  /** @param peer the connection's other end, as its transport tells it. */
  caller(peer: ArrayBuffer | string, request: WireRequest): Caller {
    const address = this.proxies.clientOf(peer, request)
    const isProxy = this.proxies.has(address)
    if (this.exempt.has(address)) return { isProxy, ...UNLIMITED }
    const key = this.keys.positionOf(request.getHeader('x-api-key'), request.getHeader('authorization'))
    const take = (tokens: number): Verdict => {
      if (key >= 0) return this.byKey.admit(String(key), tokens, this.now())
      const verdict = this.takeFrom(address, tokens)
      if (!(verdict.isAllowed || this.hasTold)) this.lookForProxy(peer, request)
      return verdict
    }
    const settle = (taken: number, tokens: number): Verdict =>
      key >= 0 ? this.byKey.settle(String(key), taken, tokens) : this.settleWith(address, taken, tokens)
    return { isProxy, take, settle }
  }

  private lookForProxy(peer: ArrayBuffer | string, request: WireRequest): void {
    if (request.getHeader('x-forwarded-for') === '' || this.proxies.has(ipOfPeer(peer))) return
    this.hasTold = true
    this.onUnnamedProxy()
  }

  /** What one client is refused for its own bucket costs its neighbours nothing. */
  private takeFrom(address: IpAddress, tokens: number): Verdict {
    const nowMs = this.now()
    const site = siteName(address)
    if (site === undefined) return this.byAddress.admit(clientName(address), tokens, nowMs)
    const ofSite = this.bySite.admit(site, tokens, nowMs)
    if (!ofSite.isAllowed) return ofSite
    const own = this.byAddress.admit(clientName(address), tokens, nowMs)
    if (!own.isAllowed) this.bySite.settle(site, tokens, 0)
    return own.isAllowed && ofSite.tokens < own.tokens ? ofSite : own
  }

  private settleWith(address: IpAddress, taken: number, tokens: number): Verdict {
    const own = this.byAddress.settle(clientName(address), taken, tokens)
    const site = siteName(address)
    if (site === undefined) return own
    const ofSite = this.bySite.settle(site, taken, tokens)
    return ofSite.tokens < own.tokens ? ofSite : own
  }
}
