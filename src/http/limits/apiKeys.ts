import { hash, timingSafeEqual } from 'node:crypto'

const MAX_KEY_LENGTH = 256
const BEARER = /^bearer +(\S+)$/i

/** API keys, known by their SHA-256 only. */
export class ApiKeys {
  private readonly hashes: readonly Buffer[]

  /** @param hashes 64 hex digits each. */
  constructor(hashes: readonly string[]) {
    this.hashes = hashes.map((hex) => Buffer.from(hex, 'hex'))
  }

  /**
   * Which key a request carries, as `X-API-Key` or as a bearer token. Compares with every key in constant time, so the time
   * tells nothing of where a guess is wrong.
   * @returns its position, or −1 for none or an unknown one.
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
