/** Addresses that can be named by their slot. 16,383 still takes two bytes, as `slot + 1`. */
export const ADDRESS_SLOTS = 2 ** 14 - 1
/** Longer metadata are written out each time. So what a reader allocates stays in proportion to what it was sent. */
export const MOST_KEPT_METADATA = 1_024

export const ADDRESS_BYTES = 20
export const HASH_BYTES = 32

/**
 * What the writer of a command has written so far, and its reader has read so far: both keep it in the same way, so what comes again
 * is only named. All positions are bytes of the command; 0, where its version stands, means none.
 */
export class CommandMemory {
  /** By slot: the address that stood there last, and the metadata that came with it last. An address has one slot, and shares it. */
  readonly addressAt = new Int32Array(ADDRESS_SLOTS)
  readonly metadataAt = new Int32Array(ADDRESS_SLOTS)
  readonly metadataLength = new Int32Array(ADDRESS_SLOTS)
  /** Slot of the last address. Metadata are compared with those that came with it before: most deposits repeat their token's. */
  slot = 0
  /** Hash of the transaction of the last event or sender. */
  transactionAt = 0
  /** Of the last header or sender; in front of the first header, the batch's first block. */
  blockNumber = 0
  timestampSec = 0
  /** The next deposit among rows. */
  depositCount = 0
  /** The next row of each kind whose sender is told. */
  depositOrdinal = 0
  claimOrdinal = 0

  /** Puts an address into its slot, and with it that it has come with no metadata yet. */
  keepAddress(slot: number, at: number): void {
    this.addressAt[slot] = at
    this.metadataLength[slot] = 0
  }

  keepMetadata(at: number, length: number): void {
    if (length > MOST_KEPT_METADATA) return
    this.metadataAt[this.slot] = at
    this.metadataLength[this.slot] = length
  }
}

/**
 * The slot of an address. Part of the format. Who chooses addresses that share a slot makes a command longer, by 20 bytes each, and
 * nothing slower.
 */
export function addressSlot(bytes: Uint8Array, at: number): number {
  let hash = 0
  for (let word = at; word < at + ADDRESS_BYTES; word += 4)
    hash = Math.imul(
      hash ^ (bytes[word]! | (bytes[word + 1]! << 8) | (bytes[word + 2]! << 16) | (bytes[word + 3]! << 24)),
      0x9e37_79b1,
    )
  return ((hash ^ (hash >>> 15)) >>> 0) % ADDRESS_SLOTS
}

/** Whether two stretches of memory hold the same bytes. */
export function areSame(a: Uint8Array, atA: number, b: Uint8Array, atB: number, length: number): boolean {
  for (let index = 0; index < length; index++) if (a[atA + index] !== b[atB + index]) return false
  return true
}
