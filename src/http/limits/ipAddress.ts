/** An address as 16 bytes. IPv4 addresses are mapped (`::ffff:a.b.c.d`), so that both spellings of one are equal. */
export type IpAddress = Uint8Array

const BYTES = 16
const V4_AT = 12

/** Reads the address that a socket gives: 4 or 16 bytes from uWebSockets.js, text from node:http. */
export function ipOfPeer(peer: ArrayBuffer | string): IpAddress {
  // A link-local address names its interface: `fe80::1%eth0`.
  if (typeof peer === 'string') return parseIp(peer.split('%')[0]!) ?? new Uint8Array(BYTES)
  return ipFromBytes(peer)
}

function ipFromBytes(binary: ArrayBuffer): IpAddress {
  const bytes = new Uint8Array(BYTES)
  if (binary.byteLength === BYTES) bytes.set(new Uint8Array(binary))
  else if (binary.byteLength === BYTES - V4_AT) {
    bytes.set([0xff, 0xff], V4_AT - 2)
    bytes.set(new Uint8Array(binary), V4_AT)
  }
  return bytes
}

/** @returns undefined for anything but an IPv4 or IPv6 address. */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(':')
    ? parseV6(text)
    : parseV4(text, new Uint8Array(BYTES).fill(0xff, V4_AT - 2, V4_AT), V4_AT)
}

export function isV4(address: IpAddress): boolean {
  for (let at = 0; at < V4_AT; at++) if (address[at] !== (at < V4_AT - 2 ? 0 : 0xff)) return false
  return true
}

/** An address as people write it: `192.0.2.1`, `2001:db8::1`. */
export function ipText(address: IpAddress): string {
  if (isV4(address)) return address.subarray(V4_AT).join('.')
  const groups: string[] = []
  for (let at = 0; at < BYTES; at += 2) groups.push(((address[at]! << 8) | address[at + 1]!).toString(16))
  // The parser of addresses shortens zeros as RFC 5952 says.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Fills four bytes of `target`. */
function parseV4(text: string, target: IpAddress, at: number): IpAddress | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  for (const [index, part] of parts.entries()) {
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    target[at + index] = Number(part)
  }
  return target
}

function parseV6(text: string): IpAddress | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groupBytes(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? groupBytes(halves[1]!, true) : []
  if (head === undefined || tail === undefined) return undefined
  const length = head.length + tail.length
  if (halves.length === 1 ? length !== BYTES : length > BYTES - 2) return undefined
  const bytes = new Uint8Array(BYTES)
  bytes.set(head)
  bytes.set(tail, BYTES - tail.length)
  return bytes
}

/** Bytes of `a:b:c`; the last group may be an IPv4 address where `mayEndInV4`. */
function groupBytes(text: string, mayEndInV4: boolean): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
      continue
    }
    const v4 = index === groups.length - 1 && mayEndInV4 ? parseV4(group, new Uint8Array(4), 0) : undefined
    if (v4 === undefined) return undefined
    bytes.push(...v4)
  }
  return bytes
}

const V4_PREFIX_BITS = 96

/** A list of address ranges (`10.0.0.0/8`) and single addresses. */
export class AddressRanges {
  private readonly ranges: readonly { readonly network: IpAddress; readonly bits: number }[]

  /** @param texts ranges that the configuration has checked. */
  constructor(texts: readonly string[]) {
    this.ranges = texts.map((text) => {
      const [address = '', prefix] = text.split('/')
      const network = parseIp(address)
      if (network === undefined) throw new TypeError(`${text} is not an address range`)
      const offset = address.includes(':') ? 0 : V4_PREFIX_BITS
      return { network, bits: prefix === undefined ? 128 : offset + Number(prefix) }
    })
  }

  has(address: IpAddress): boolean {
    return this.ranges.some(({ network, bits }) => isWithin(address, network, bits))
  }
}

function isWithin(address: IpAddress, network: IpAddress, bits: number): boolean {
  const whole = bits >> 3
  for (let at = 0; at < whole; at++) if (address[at] !== network[at]) return false
  const rest = bits & 7
  return rest === 0 || (address[whole]! ^ network[whole]!) >> (8 - rest) === 0
}
