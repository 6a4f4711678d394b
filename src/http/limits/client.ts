import { hash, timingSafeEqual } from 'node:crypto'
import { type IpAddress, isV4 } from './ipAddress.js'

/** Name of the client's bucket. All of an IPv6 /64 is one client, which could use another address for each request. */
export function clientName(address: IpAddress): string {
  return (isV4(address) ? address.subarray(12) : address.subarray(0, 8)).join('.')
}

/** Name of the bucket of a site, the IPv6 /48 that an operator of a network gets: it has 65,536 of /64. Undefined for IPv4. */
export function siteName(address: IpAddress): string | undefined {
  return isV4(address) ? undefined : address.subarray(0, 6).join('.')
}

const MAX_KEY_LENGTH = 256
/** `Bearer `, and a key. */
const MAX_AUTHORIZATION_LENGTH = 7 + MAX_KEY_LENGTH
const BEARER = /^bearer +(\S+)$/i

/** The API keys that are accepted, of which only the SHA-256 is known. */
export class ApiKeys {
  private readonly hashes: readonly Buffer[]

  /** @param hashes 64 hex digits each. */
  constructor(hashes: readonly string[]) {
    this.hashes = hashes.map((hex) => Buffer.from(hex, 'hex'))
  }

  /**
   * Finds the key that a request carries, as `X-API-Key` or as a bearer token. It is compared with every key in constant time,
   * so that the time does not show how much of a guess is right.
   * @returns the key's position, or −1 for no key or an unknown one.
   */
  positionOf(apiKey: string, authorization: string): number {
    if (this.hashes.length === 0) return -1
    const key = apiKey !== '' ? apiKey : bearerOf(authorization)
    if (key === '' || key.length > MAX_KEY_LENGTH) return -1
    const digest = hash('sha256', key, 'buffer')
    let position = -1
    for (let at = 0; at < this.hashes.length; at++)
      if (timingSafeEqual(digest, this.hashes[at]!)) position = at
    return position
  }
}

/** @returns '' for anything else. */
function bearerOf(authorization: string): string {
  // Not for the pattern to find out: it would try each blank of kilobytes.
  if (authorization.length > MAX_AUTHORIZATION_LENGTH) return ''
  return BEARER.exec(authorization)?.[1] ?? ''
}
