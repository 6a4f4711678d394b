import type { Hash } from '../../protocol/chainEvent.js'
import type { ClaimOrdinal } from '../../protocol/units.js'
import { readUint32, writeUint32 } from './bytes.js'

/** The claim in force of one deposit. */
export interface ClaimLink {
  readonly claimOrdinal: ClaimOrdinal
  readonly transactionHash: Hash
}

/** Bytes of one link; link i of a chunk starts at i · CLAIM_LINK_BYTES. A chunk ends after its last claimed deposit. */
export const CLAIM_LINK_BYTES = 36

/** `undefined`: not claimed. */
export function encodeClaimLink(bytes: Uint8Array, offset: number, link: ClaimLink | undefined): void {
  if (link === undefined) {
    bytes.fill(0, offset, offset + CLAIM_LINK_BYTES)
    return
  }
  writeUint32(bytes, offset, link.claimOrdinal + 1)
  bytes.set(link.transactionHash, offset + 4)
}

/** @returns undefined when the deposit is not claimed, also beyond the chunk's end. `transactionHash` is a view into `bytes`. */
export function decodeClaimLink(bytes: Uint8Array, offset: number): ClaimLink | undefined {
  if (offset + CLAIM_LINK_BYTES > bytes.length) return undefined
  const ordinalPlusOne = readUint32(bytes, offset)
  if (ordinalPlusOne === 0) return undefined
  return {
    claimOrdinal: (ordinalPlusOne - 1) as ClaimOrdinal,
    transactionHash: bytes.subarray(offset + 4, offset + CLAIM_LINK_BYTES),
  }
}

/** Whether there is a link: `decodeClaimLink` without making one. */
export function hasClaimLink(bytes: Uint8Array, offset: number): boolean {
  return offset + CLAIM_LINK_BYTES <= bytes.length && readUint32(bytes, offset) !== 0
}
