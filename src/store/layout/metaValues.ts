import type { BlockHeader, Hash } from '../../protocol/chainEvent.js'
import type { BlockNumber } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'
import { decodeHeader, encodeHeader } from './smallRows.js'

/** Values of table `meta`. `encode…` returns fresh bytes. */

const counterFields = [
  /** Leaves of the local exit tree = deposits served. */
  'deposits',
  /** Newest lineage of the local exit tree. */
  'lineage',
  'archivedDeposits',
  /** Claims ever made, in force or not. */
  'claims',
  'claimsOutOfForce',
  /** Ids given in the dictionaries. */
  'tokens',
  'metadata',
  'tokenMappings',
  'gerInjections',
  /** Number of removals so far: what was read of the injections is void when it moves. */
  'gerRemovals',
  'l1InfoLeaves',
  /** Newest version of the rollup exit tree. */
  'rollupExitVersion',
  /** 1 while the bridge is in emergency state. */
  'emergencyState',
] as const

/** Meta `counters`: totals that are kept, not counted. All uint32. */
export type Counters = { [Field in (typeof counterFields)[number]]: number }

function noCounters(): Counters {
  return Object.fromEntries(counterFields.map((field) => [field, 0])) as Counters
}

export function encodeCounters(counters: Readonly<Counters>): Uint8Array {
  const bytes = new Uint8Array(4 * counterFields.length)
  for (let index = 0; index < counterFields.length; index++)
    writeUint32(bytes, 4 * index, counters[counterFields[index]!])
  return bytes
}

/** @param bytes undefined in a store that holds nothing yet: all zero. */
export function decodeCounters(bytes: Uint8Array | undefined): Counters {
  const counters = noCounters()
  if (bytes !== undefined)
    for (let index = 0; index < counterFields.length; index++)
      counters[counterFields[index]!] = readUint32(bytes, 4 * index)
  return counters
}

/** Meta `checkpoint`: block u48, then as in table `headers`. */
export function encodeCheckpoint(header: BlockHeader): Uint8Array {
  const bytes = new Uint8Array(76)
  writeUint48(bytes, 0, header.number)
  bytes.set(encodeHeader(header), 6)
  return bytes
}

/** @returns own copies of the hashes. */
export function decodeCheckpoint(bytes: Uint8Array): BlockHeader {
  return decodeHeader(readUint48(bytes, 0) as BlockNumber, Uint8Array.prototype.slice.call(bytes, 6))
}

/** Meta `finalized`, `undoFloor`. */
export function encodeBlockNumber(block: BlockNumber): Uint8Array {
  const bytes = new Uint8Array(6)
  writeUint48(bytes, 0, block)
  return bytes
}

export function decodeBlockNumber(bytes: Uint8Array): BlockNumber {
  return readUint48(bytes, 0) as BlockNumber
}

/** Meta `exitState` (network 0): what the global exit root manager holds now. */
export interface ExitState {
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
  /** Leaves of the local exit tree under `mainnetExitRoot`. */
  readonly mainnetLeafCount: number
  /** Version of the rollup exit tree under `rollupExitRoot`, or UNRESOLVABLE_VERSION. */
  readonly rollupExitVersion: number
}

export function encodeExitState(state: ExitState): Uint8Array {
  const bytes = new Uint8Array(72)
  bytes.set(state.mainnetExitRoot, 0)
  bytes.set(state.rollupExitRoot, 32)
  writeUint32(bytes, 64, state.mainnetLeafCount)
  writeUint32(bytes, 68, state.rollupExitVersion)
  return bytes
}

/** @param bytes undefined before the first exit root. @returns own copies of the roots. */
export function decodeExitState(bytes: Uint8Array | undefined): ExitState {
  const copy = bytes === undefined ? new Uint8Array(72) : Uint8Array.prototype.slice.call(bytes)
  return {
    mainnetExitRoot: copy.subarray(0, 32),
    rollupExitRoot: copy.subarray(32, 64),
    mainnetLeafCount: readUint32(copy, 64),
    rollupExitVersion: readUint32(copy, 68),
  }
}

/** Meta `startOvers`: number of times u32, Unix milliseconds of the next at the earliest u48 (0 = not known yet). */
export function encodeStartOvers(startOvers: {
  readonly count: number
  readonly notBeforeMs: number | undefined
}): Uint8Array {
  const bytes = new Uint8Array(10)
  writeUint32(bytes, 0, startOvers.count)
  writeUint48(bytes, 4, Math.ceil(startOvers.notBeforeMs ?? 0))
  return bytes
}

export function decodeStartOvers(bytes: Uint8Array): { count: number; notBeforeMs: number | undefined } {
  const notBeforeMs = readUint48(bytes, 4)
  return { count: readUint32(bytes, 0), notBeforeMs: notBeforeMs === 0 ? undefined : notBeforeMs }
}

/** Number of commits that changed the shard; undefined in one whose writer did not count yet. */
export function decodeCommits(bytes: Uint8Array | undefined): number | undefined {
  return bytes === undefined ? undefined : readUint48(bytes, 0)
}

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
