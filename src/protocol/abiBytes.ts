import type { LogColumns } from './chainEvent.js'
import { asDepositCount, type DepositCount } from './units.js'

/** Bytes of one ABI word. */
export const WORD = 32

/** Whether a stretch of memory is all zeros. @param start and `length`: in bytes, multiples of 4. */
export function isZero(words: Int32Array, start: number, length: number): boolean {
  const end = (start + length) / 4
  for (let index = start / 4; index < end; index++) if (words[index] !== 0) return false
  return true
}

/** Contracts and the keys of the store are big-endian; values in the store are little-endian. */
export function readUint32BigEndian(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>>
    0
  )
}

/** Copies a few bytes: up to about a hundred, this is faster than `set` with a view (Node 20). */
export function copyBytes(
  from: Uint8Array,
  atFrom: number,
  length: number,
  to: Uint8Array,
  atTo: number,
): void {
  for (let index = 0; index < length; index++) to[atTo + index] = from[atFrom + index]!
}

/** Whether two byte arrays, hashes among them, hold the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

/** Where each field of a BridgeEvent begins in its data, in bytes, as contracts encode it. */
export const bridgeEventAt = {
  leafType: 31,
  originNetwork: WORD + 28,
  originAddress: 2 * WORD + 12,
  destinationNetwork: 3 * WORD + 28,
  destinationAddress: 4 * WORD + 12,
  amount: 5 * WORD,
  depositCount: 7 * WORD + 28,
  metadataLength: 8 * WORD + 28,
  metadata: 9 * WORD,
} as const

/** As `bridgeEventAt`, of a ClaimEvent of etrog and later. */
export const claimEventAt = {
  globalIndex: 0,
  originNetwork: WORD + 28,
  originAddress: 2 * WORD + 12,
  destinationAddress: 3 * WORD + 12,
  amount: 4 * WORD,
} as const

export function depositCountOf(logs: LogColumns, row: number): DepositCount {
  return asDepositCount(readUint32BigEndian(logs.bytes, logs.dataStart(row) + bridgeEventAt.depositCount))
}
