import type { WireRequest } from './wire.js'

/** Header lines of the answer to a request that can't become a WebSocket. */
export const HANDSHAKE_HEADERS = [
  // Whoever sends `Upgrade` has to name it here, too (RFC 9110, section 7.8).
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
] as const

/** 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/

/**
 * Looks at what neither transport looks at before it makes a connection a WebSocket, or each in its own way.
 * @returns why this request can't become one (RFC 6455, section 4.2.1); undefined when it can.
 */
export function handshakeFault(request: WireRequest): string | undefined {
  const found = new Map<string, string>()
  request.forEach((name, value) => {
    const before = found.get(name)
    found.set(name, before === undefined ? value : `${before}, ${value}`)
  })
  const of = (name: string): string => found.get(name) ?? ''
  const connection = of('connection')
    .split(',')
    .map((token) => token.trim().toLowerCase())
  if (of('upgrade').toLowerCase() !== 'websocket' || !connection.includes('upgrade'))
    return 'only WebSockets are served here: Upgrade must be websocket, and Connection must be Upgrade'
  if (of('sec-websocket-version') !== '13') return 'Sec-WebSocket-Version must be 13'
  if (!KEY.test(of('sec-websocket-key'))) return 'Sec-WebSocket-Key must be 16 bytes in base64'
  return undefined
}

/**
 * Whether a page comes from where this request went to.
 * @param origin the request's `Origin`. Its scheme does not count: a proxy in front may be the one that speaks TLS.
 * @param host the request's `Host`.
 */
export function isOwnOrigin(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host: own } = new URL(origin)
  const asked = `${protocol}//${host}`
  return own !== '' && URL.canParse(asked) && new URL(asked).host === own
}
