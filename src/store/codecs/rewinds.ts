import { readUint32, writeUint32 } from './bytes.js'

/**
 * Meta `epoch`: number of reorgs followed u32, number of rewinds u32, then the newest rewinds, oldest first, each three u32
 * as in `Rewind`. Written outside undo, so that it never goes back.
 */

/**
 * Rows were taken back, by a reorg or by BackwardLET. Numbers below these mean the same rows as before; those at and above
 * may have been given to other rows since.
 */
export interface Rewind {
  /** Deposit count. */
  readonly deposits: number
  /** Claim ordinal. Claims below may have come into force again, or gone out of it. */
  readonly claims: number
  /** Token mapping ordinal. */
  readonly tokenMappings: number
}

/** Rewinds kept. Who has missed more must take every row for changed. */
const KEPT = 64

const HEAD_BYTES = 8
const REWIND_BYTES = 12

/** @param entry undefined in a shard that never took anything back. */
export function decodeEpoch(entry: Uint8Array | undefined): number {
  return entry === undefined ? 0 : readUint32(entry, 0)
}

export function decodeRewindCount(entry: Uint8Array | undefined): number {
  // The epoch stood alone in shards of schema 1.
  return entry === undefined || entry.length < HEAD_BYTES ? 0 : readUint32(entry, 4)
}

/** The entry with one rewind more; a reorg begins an epoch. @returns fresh bytes. */
export function appendRewind(
  entry: Uint8Array | undefined,
  { deposits, claims, tokenMappings }: Rewind,
  { isReorg }: { isReorg: boolean },
): Uint8Array {
  const before = entry?.subarray(Math.max(HEAD_BYTES, entry.length - REWIND_BYTES * (KEPT - 1)))
  const length = before?.length ?? 0
  const bytes = new Uint8Array(HEAD_BYTES + length + REWIND_BYTES)
  writeUint32(bytes, 0, decodeEpoch(entry) + (isReorg ? 1 : 0))
  writeUint32(bytes, 4, decodeRewindCount(entry) + 1)
  if (before !== undefined) bytes.set(before, HEAD_BYTES)
  writeUint32(bytes, HEAD_BYTES + length, deposits)
  writeUint32(bytes, HEAD_BYTES + length + 4, claims)
  writeUint32(bytes, HEAD_BYTES + length + 8, tokenMappings)
  return bytes
}

/** What the newest `missed` rewinds left untouched all together; nothing when not all of them are kept. */
export function untouchedBy(entry: Uint8Array | undefined, missed: number): Rewind {
  let deposits = Number.POSITIVE_INFINITY
  let claims = Number.POSITIVE_INFINITY
  let tokenMappings = Number.POSITIVE_INFINITY
  const from = (entry?.length ?? 0) - REWIND_BYTES * missed
  if (missed > 0 && (entry === undefined || from < HEAD_BYTES))
    return { deposits: 0, claims: 0, tokenMappings: 0 }
  for (let at = from; entry !== undefined && at < entry.length; at += REWIND_BYTES) {
    deposits = Math.min(deposits, readUint32(entry, at))
    claims = Math.min(claims, readUint32(entry, at + 4))
    tokenMappings = Math.min(tokenMappings, readUint32(entry, at + 8))
  }
  return { deposits, claims, tokenMappings }
}
