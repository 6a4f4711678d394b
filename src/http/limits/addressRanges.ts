import { type IpAddress, parseIp } from './ipAddress.js'

const V4_PREFIX_BITS = 96

/** A list of address ranges, `10.0.0.0/8` or single addresses. */
export class AddressRanges {
  private readonly ranges: readonly { readonly network: IpAddress; readonly bits: number }[]

  /** @param texts checked by the configuration. */
  constructor(texts: readonly string[]) {
    this.ranges = texts.map((text) => {
      const [address = '', prefix] = text.split('/')
      const network = parseIp(address)
      if (network === undefined) throw new TypeError(`${text} is no address range`)
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
