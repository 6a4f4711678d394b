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

const WORD = 32
/** Longest name or symbol; a longer one is left out. */
const MAX_CHARACTERS = 256
const MAX_BYTES_PER_CHARACTER = 4
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What a wrapped token's metadata says of it; null where it does not say, and for a text above 256 characters. */
export interface TokenMetadata {
  readonly name: string | null
  readonly symbol: string | null
  readonly decimals: number | null
}

const NOTHING: TokenMetadata = { name: null, symbol: null, decimals: null }

/**
 * Reads `abi.encode(string name, string symbol, uint8 decimals)` as the bridge makes it. Metadata comes from whoever
 * bridged the token, so every offset and length is checked: what does not decode is null, never an error.
 */
export function decodeTokenMetadata(metadata: Uint8Array): TokenMetadata {
  if (metadata.length < 3 * WORD) return NOTHING
  const name = stringAt(metadata, 0)
  const symbol = stringAt(metadata, WORD)
  const decimals = readUint(metadata, 2 * WORD)
  if (name === undefined || symbol === undefined || decimals === undefined || decimals > 0xff) return NOTHING
  return { name: toText(name), symbol: toText(symbol), decimals }
}

/** The bytes of the string whose offset stands at `head`; undefined when they are not all there. */
function stringAt(metadata: Uint8Array, head: number): Uint8Array | undefined {
  const offset = readUint(metadata, head)
  if (offset === undefined || offset + WORD > metadata.length) return undefined
  const size = readUint(metadata, offset)
  if (size === undefined || offset + WORD + size > metadata.length) return undefined
  return metadata.subarray(offset + WORD, offset + WORD + size)
}

/** A 32-byte big-endian word that fits 4 bytes; undefined when it does not: no offset, length or uint8 is larger. */
function readUint(metadata: Uint8Array, at: number): number | undefined {
  for (let index = at; index < at + WORD - 4; index++) if (metadata[index] !== 0) return undefined
  return new DataView(metadata.buffer, metadata.byteOffset + at + WORD - 4, 4).getUint32(0)
}

function toText(bytes: Uint8Array): string | null {
  if (bytes.length > MAX_CHARACTERS * MAX_BYTES_PER_CHARACTER) return null
  try {
    const text = utf8.decode(bytes)
    // A character outside the basic plane has a `length` of 2.
    return text.length <= MAX_CHARACTERS || [...text].length <= MAX_CHARACTERS ? text : null
  } catch {
    return null
  }
}
