import { checksumMask } from '../../src/protocol/checksumAddress.js'
import { encodeHex } from '../../src/protocol/hex.js'

/** An address in EIP-55 spelling. */
export type Spell = (address: Uint8Array) => string

const KEPT = 1_000_000

/** Spells addresses and remembers the results, so that no question needs a hash. */
export function createSpelling(keccak256: (bytes: Uint8Array) => Uint8Array): Spell {
  const known = new Map<string, string>()
  return (address) => {
    const text = encodeHex(address)
    let spelling = known.get(text)
    if (spelling === undefined) {
      if (known.size > KEPT) known.clear()
      const mask = checksumMask(address, keccak256)
      const isUpper = (digit: number): boolean => (mask[digit >> 3]! & (0x80 >> (digit & 7))) !== 0
      const digits = [...text.slice(2)].map((digit, at) => (isUpper(at) ? digit.toUpperCase() : digit))
      spelling = `0x${digits.join('')}`
      known.set(text, spelling)
    }
    return spelling
  }
}
