import type { Hash } from './chainEvent.js'

/** Metadata of a row in a list are shown whole up to this length, and never shortened: a page of 1,000 stays below 10 MiB. */
export const LISTED_METADATA_BYTES = 4_096

/** The same where one deposit is asked for, and most that a claim call is made with. */
export const WHOLE_METADATA_BYTES = 16 * 1024 ** 2

/** What stands for metadata that are not shown. */
export interface MetadataDigest {
  readonly length: number
  /** keccak-256. */
  readonly hash: Hash
}

export function isWholeMetadata(metadata: Uint8Array | MetadataDigest): metadata is Uint8Array {
  return metadata instanceof Uint8Array
}
