import type { WireRequest } from '../wire/wire.js'
import { AddressRanges, type IpAddress, ipOfPeer, parseIp } from './ipAddress.js'

/** The longest text of an address is `[0000:0000:0000:0000:0000:ffff:255.255.255.255]:65535`, with 54 letters. */
const MAX_ENTRY = 64
/** Most entries that are read: nobody has so many proxies behind one another. */
const MAX_ENTRIES = 16

/** The proxies whose word on their clients is believed (`rate_limit.trusted_proxies`), for all who ask who a client is. */
export class TrustedProxies {
  private ranges: AddressRanges

  /** @param texts ranges that the configuration has checked. */
  constructor(texts: readonly string[]) {
    this.ranges = new AddressRanges(texts)
  }

  /** From now on these are trusted. */
  replace(texts: readonly string[]): void {
    this.ranges = new AddressRanges(texts)
  }

  has(address: IpAddress): boolean {
    return this.ranges.has(address)
  }

  /**
   * The client's address: the connection's other end or, if that is a trusted proxy, the last address in `X-Forwarded-For`
   * that is no trusted proxy. The client may have forged everything left of that address, and the header may be kilobytes of
   * commas: it is read from its end, and no further than needed.
   * @param peer the connection's other end, as its transport tells it.
   */
  clientOf(peer: ArrayBuffer | string, request: WireRequest): IpAddress {
    let client = ipOfPeer(peer)
    if (!this.has(client)) return client
    const lines = forwardedLines(request)
    let entries = 0
    for (let line = lines.length - 1; line >= 0; line--) {
      const text = lines[line]!
      for (let end = text.length; end >= 0 && entries < MAX_ENTRIES; entries++) {
        const comma = end === 0 ? -1 : text.lastIndexOf(',', end - 1)
        const address = addressIn(text.slice(comma + 1, end))
        if (address === undefined) return client
        client = address
        if (!this.has(address)) return client
        end = comma
      }
    }
    return client
  }
}

/** All `X-Forwarded-For` lines in order: some proxies add a line of their own behind the client's, and `getHeader` returns only the first. */
function forwardedLines(request: WireRequest): string[] {
  const lines: string[] = []
  request.forEach((name, value) => {
    if (name === 'x-forwarded-for') lines.push(value)
  })
  return lines
}

function addressIn(entry: string): IpAddress | undefined {
  const text = entry.trim()
  return text.length > MAX_ENTRY ? undefined : parseIp(withoutPort(text))
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write them. */
function withoutPort(entry: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)
  if (bracketed !== null) return bracketed[1]!
  return /^[\d.]+:\d+$/.test(entry) ? entry.slice(0, entry.indexOf(':')) : entry
}
