import { WORD } from './abiBytes.js'
import type { Hash } from './chainEvent.js'

/** Longest metadata that a list shows, in bytes. Longer metadata is left out, never cut: a page of 1,000 rows stays below 10 MiB. */
export const LISTED_METADATA_BYTES = 4_096

/** Longest metadata that the answer about one deposit shows, and that a claim call is made with. */
export const WHOLE_METADATA_BYTES = 16 * 1024 ** 2

/** What is said of metadata that is too long to be shown. */
export interface MetadataDigest {
  readonly length: number
  /** keccak-256. */
  readonly hash: Hash
}

export function isWholeMetadata(metadata: Uint8Array | MetadataDigest): metadata is Uint8Array {
  return metadata instanceof Uint8Array
}

/** Metadata as a record shows it: whole, or null with its length and hash beside it. */
export function shownMetadata(metadata: Uint8Array | MetadataDigest): {
  readonly metadata: Uint8Array | null
  readonly metadataLength: number | undefined
  readonly metadataHash: Hash | undefined
} {
  return isWholeMetadata(metadata)
    ? { metadata, metadataLength: undefined, metadataHash: undefined }
    : { metadata: null, metadataLength: metadata.length, metadataHash: metadata.hash }
}

/** Longest name or symbol; a longer one is left out. */
const MAX_CHARACTERS = 256
const MAX_BYTES_PER_CHARACTER = 4
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What metadata says of its token. Null: it does not say, or the text is longer than 256 characters. */
export interface TokenMetadata {
  readonly name: string | null
  readonly symbol: string | null
  readonly decimals: number | null
}

const NOTHING: TokenMetadata = { name: null, symbol: null, decimals: null }

/**
 * Reads `abi.encode(string name, string symbol, uint8 decimals)`, which is how the bridge encodes a token. Anybody can
 * send any metadata, so every offset and length is checked, and what does not decode is null, never an error.
 */
export function decodeTokenMetadata(metadata: Uint8Array): TokenMetadata {
  if (metadata.length < 3 * WORD) return NOTHING
  const name = stringAt(metadata, 0)
  const symbol = stringAt(metadata, WORD)
  const decimals = readUint(metadata, 2 * WORD)
  if (name === undefined || symbol === undefined || decimals === undefined || decimals > 0xff) return NOTHING
  return { name: toText(name), symbol: toText(symbol), decimals }
}

/** A view of the string whose offset stands at `head`; undefined when the metadata ends before the string does. */
function stringAt(metadata: Uint8Array, head: number): Uint8Array | undefined {
  const offset = readUint(metadata, head)
  if (offset === undefined || offset + WORD > metadata.length) return undefined
  const size = readUint(metadata, offset)
  if (size === undefined || offset + WORD + size > metadata.length) return undefined
  return metadata.subarray(offset + WORD, offset + WORD + size)
}

/** The value of a word; undefined when it is no uint32: offsets, lengths and uint8 are never larger. */
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
