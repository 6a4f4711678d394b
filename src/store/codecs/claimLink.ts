import type { ClaimOrdinal } from '../../protocol/units.js'
import { readUint32, writeUint32 } from './bytes.js'

/** The claim in force of one deposit: its ordinal, one more so that 0 is none. */

/** Bytes of one link; link i of a chunk starts at i · CLAIM_LINK_BYTES. A chunk ends after its last claimed deposit. */
export const CLAIM_LINK_BYTES = 4

/** `undefined`: not claimed. */
export function encodeClaimLink(bytes: Uint8Array, offset: number, ordinal: ClaimOrdinal | undefined): void {
  writeUint32(bytes, offset, ordinal === undefined ? 0 : ordinal + 1)
}

/** @returns undefined when the deposit is not claimed, also beyond the chunk's end. */
export function decodeClaimLink(bytes: Uint8Array, offset: number): ClaimOrdinal | undefined {
  if (offset + CLAIM_LINK_BYTES > bytes.length) return undefined
  const ordinalPlusOne = readUint32(bytes, offset)
  return ordinalPlusOne === 0 ? undefined : ((ordinalPlusOne - 1) as ClaimOrdinal)
}

/** Whether the deposit is claimed. */
export function hasClaimLink(bytes: Uint8Array, offset: number): boolean {
  return (
    offset + CLAIM_LINK_BYTES <= bytes.length &&
    (bytes[offset]! | bytes[offset + 1]! | bytes[offset + 2]! | bytes[offset + 3]!) !== 0
  )
}
