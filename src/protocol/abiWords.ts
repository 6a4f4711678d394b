import type { Address, Hash } from './chainEvent.js'
import { decodeHexAt, decodeUint32At } from './hex.js'
import { uint256OfParts } from './uint256.js'

/*
 * Reads single ABI words straight from `0x…` text, without decoding the rest to bytes. Every reader refuses a word with
 * digits above its type's width: a contract never writes one.
 */

const WORD_DIGITS = 64
/** The zeros that pad a uint32, a uint64 and an address to a whole word. */
const zerosBeforeUint32 = '0'.repeat(56)
const zerosBeforeUint64 = '0'.repeat(48)
const zerosBeforeAddress = '0'.repeat(24)

/** Character at which the n-th 32-byte word of `0x…` text begins. */
const wordStart = (word: number): number => 2 + word * WORD_DIGITS

/** Number of words in the text: a fraction when the data ends inside a word, NaN when it is no `0x…` text. */
export function wordCount(data: string): number {
  return data.startsWith('0x') ? (data.length - 2) / WORD_DIGITS : Number.NaN
}

/** Value of a uint32 word, or −1. For a smaller type the caller checks the range. */
export function uint32Word(data: string, word: number): number {
  const start = wordStart(word)
  return data.startsWith(zerosBeforeUint32, start) ? decodeUint32At(data, start + 56) : -1
}

/** Value of a uint256 word, or undefined. */
export function uint256Word(data: string, word: number): bigint | undefined {
  const small = uint53Word(data, word)
  if (small >= 0) return BigInt(small)
  const start = wordStart(word)
  let isHex = true
  const value = uint256OfParts((part) => {
    const digits = decodeUint32At(data, start + part * 8)
    if (digits < 0) isHex = false
    return digits
  })
  return isHex ? value : undefined
}

/** Value of a uint64 word, or −1; also −1 when a double can't hold it exactly. */
export function uint53Word(data: string, word: number): number {
  const start = wordStart(word)
  if (!data.startsWith(zerosBeforeUint64, start)) return -1
  const high = decodeUint32At(data, start + 48)
  const low = decodeUint32At(data, start + 56)
  return high < 0 || low < 0 || high > 0x1f_ffff ? -1 : high * 2 ** 32 + low
}

/** The 20 bytes of an address word, in fresh memory, or undefined. */
export function addressWord(data: string, word: number): Address | undefined {
  const start = wordStart(word)
  return data.startsWith(zerosBeforeAddress, start) ? decodeHexAt(data, start + 24, 20) : undefined
}

/** The 32 bytes of a word, in fresh memory, or undefined. */
export function hashWord(data: string, word: number): Hash | undefined {
  return decodeHexAt(data, wordStart(word), 32)
}
