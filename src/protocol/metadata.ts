import type { Hash } from './chainEvent.js'

/** Longest metadata that a list shows, in bytes. Longer metadata is left out, never cut: a page of 1,000 rows stays below 10 MiB. */
export const LISTED_METADATA_BYTES = 4_096

/** The same where one deposit is asked for, and most that a claim call is made with. */
export const WHOLE_METADATA_BYTES = 16 * 1024 ** 2

/** Stands for metadata that is not shown. */
export interface MetadataDigest {
  readonly length: number
  /** keccak-256. */
  readonly hash: Hash
}

export function isWholeMetadata(metadata: Uint8Array | MetadataDigest): metadata is Uint8Array {
  return metadata instanceof Uint8Array
}
