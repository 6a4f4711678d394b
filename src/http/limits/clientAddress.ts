import type { AddressRanges } from './addressRanges.js'
import { type IpAddress, isV4, parseIp } from './ipAddress.js'

/**
 * Who asks: the connection's other end, or, where that is a trusted proxy, the last address in `X-Forwarded-For` that is
 * none. What stands left of it was written by the client and says nothing.
 * @param forwarded reads all lines of the header, joined by commas, in order: some proxies add a line of their own.
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

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write them. */
function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)
  if (bracketed !== null) return bracketed[1]!
  return /^[\d.]+:\d+$/.test(entry) ? entry.slice(0, entry.indexOf(':')) : entry
}

/** Name of the client's bucket. An IPv6 client owns a /64 at least, and could ask from another address each time. */
export function clientName(address: IpAddress): string {
  const bytes = isV4(address) ? address.subarray(12) : address.subarray(0, 8)
  return bytes.join('.')
}
