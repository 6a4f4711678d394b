import { isIP } from 'node:net'

/** Whether `text` is an IP address, or one with a prefix length behind it: `10.0.0.0/8`, `fd00::/8`, `192.0.2.7`. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)
}
