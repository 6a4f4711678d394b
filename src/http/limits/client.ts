import { hash, timingSafeEqual } from 'node:crypto'
import type { WireRequest } from '../wire/wire.js'
import { type AddressRanges, type IpAddress, isV4, parseIp } from './ipAddress.js'

/**
 * The client's address: the connection's other end or, if that is a trusted proxy, the last address in `X-Forwarded-For`
 * that is no trusted proxy. The client may have forged everything left of that address.
 * @param forwarded reads all lines of the header in order, joined by commas: some proxies add a line of their own.
 */
export function clientAddress(peer: IpAddress, trusted: AddressRanges, forwarded: () => string): IpAddress {
  if (!trusted.has(peer)) return peer
  let client = peer
  for (const entry of forwarded().split(',').reverse()) {
    const address = parseIp(withoutPort(entry.trim()))
    if (address === undefined) return client
    client = address
    if (!trusted.has(address)) return client
  }
  return client
}

/** All `X-Forwarded-For` lines. `getHeader` returns only the first: the client's own, not the one that a proxy added. */
export function forwardedFor(request: WireRequest): string {
  const lines: string[] = []
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') lines.push(value)
  })
  return lines.join(',')
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write them. */
function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)
  if (bracketed !== null) return bracketed[1]!
  return /^[\d.]+:\d+$/.test(entry) ? entry.slice(0, entry.indexOf(':')) : entry
}

/** Name of the client's bucket. All of an IPv6 /64 is one client, which could use another address for each request. */
export function clientName(address: IpAddress): string {
  return (isV4(address) ? address.subarray(12) : address.subarray(0, 8)).join('.')
}

/** Name of the bucket of a site, the IPv6 /48 that an operator of a network gets: it has 65,536 of /64. Undefined for IPv4. */
export function siteName(address: IpAddress): string | undefined {
  return isV4(address) ? undefined : address.subarray(0, 6).join('.')
}

const MAX_KEY_LENGTH = 256
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
    const key = apiKey !== '' ? apiKey : (BEARER.exec(authorization)?.[1] ?? '')
    if (key === '' || key.length > MAX_KEY_LENGTH || this.hashes.length === 0) return -1
    const digest = hash('sha256', key, 'buffer')
    let position = -1
    for (let at = 0; at < this.hashes.length; at++)
      if (timingSafeEqual(digest, this.hashes[at]!)) position = at
    return position
  }
}
