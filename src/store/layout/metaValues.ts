import type { BlockHeader, Hash } from '../../protocol/chainEvent.js'
import type { BlockNumber, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'
import { decodeHeader, encodeHeader } from './smallRows.js'

/** Values of table `meta`. `encode…` returns fresh bytes. */

const counterFields = [
  /** Leaves of the local exit tree, which are the deposits served. */
  'deposits',
  /** Newest lineage of the local exit tree. */
  'lineage',
  'archivedDeposits',
  /** Number of claims, in force or not. */
  'claims',
  'claimsOutOfForce',
  /** Ids given out in the dictionary of tokens. */
  'tokens',
  'metadata',
  'tokenMappings',
  'gerInjections',
  /** Number of removed injections so far: readers read the injections anew when it moves. */
  'gerRemovals',
  'l1InfoLeaves',
  /** Newest version of the rollup exit tree. */
  'rollupExitVersion',
  /** 1 while the bridge is in emergency state. */
  'emergencyState',
  /** Events that took a claim back, of which there are rows: none from before schema 8. */
  'unsetClaims',
  /** The same holds. */
  'tokenMigrations',
] as const

/** The fields that stores of schemas before 8 have. Undo that they left has such an entry, too. */
const FIELDS_BEFORE_8 = 13

/** Meta `counters`: totals, newest versions and one flag (`emergencyState`) that each write keeps up to date, so that nobody counts rows. All uint32. */
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

/** @param bytes undefined in an empty store: all counters are zero. Those that an older schema lacks are zero, too. */
export function decodeCounters(bytes: Uint8Array | undefined): Counters {
  const counters = noCounters()
  if (bytes === undefined) return counters
  const fields = bytes.length === 4 * FIELDS_BEFORE_8 ? FIELDS_BEFORE_8 : counterFields.length
  for (let index = 0; index < fields; index++) counters[counterFields[index]!] = readUint32(bytes, 4 * index)
  return counters
}

/** Meta `checkpoint`: block u48, then as in table `headers`. */
export function encodeCheckpoint(header: BlockHeader): Uint8Array {
  const bytes = new Uint8Array(76)
  writeUint48(bytes, 0, header.number)
  bytes.set(encodeHeader(header), 6)
  return bytes
}

/** @returns the hashes are copies. */
export function decodeCheckpoint(bytes: Uint8Array): BlockHeader {
  return decodeHeader(readUint48(bytes, 0) as BlockNumber, Uint8Array.prototype.slice.call(bytes, 6))
}

/** Meta `finalized`, `undoFloor`, `perTransactionFrom`. */
export function encodeBlockNumber(block: BlockNumber): Uint8Array {
  const bytes = new Uint8Array(6)
  writeUint48(bytes, 0, block)
  return bytes
}

export function decodeBlockNumber(bytes: Uint8Array): BlockNumber {
  return readUint48(bytes, 0) as BlockNumber
}

/** Meta `exitState` (network 0): the exit roots that the global exit root manager holds now. */
export interface ExitState {
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
  /** Leaf count of the local exit tree whose root is `mainnetExitRoot`. */
  readonly mainnetLeafCount: number
  /** Version of the rollup exit tree whose root is `rollupExitRoot`, or UNRESOLVABLE_VERSION. */
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

/** @param bytes undefined before the first exit root: all zero then. @returns the roots are copies. */
export function decodeExitState(bytes: Uint8Array | undefined): ExitState {
  const copy = bytes === undefined ? new Uint8Array(72) : Uint8Array.prototype.slice.call(bytes)
  return {
    mainnetExitRoot: copy.subarray(0, 32),
    rollupExitRoot: copy.subarray(32, 64),
    mainnetLeafCount: readUint32(copy, 64),
    rollupExitVersion: readUint32(copy, 68),
  }
}

/**
 * Meta `startOvers`: number of start-overs u32, then the time in Unix milliseconds before which the shard may not start over
 * again u48 (0 = not known yet).
 */
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

/**
 * Meta `claimsCompared`: by source network, ascending, two u32 each: the network, and the number of its first deposits whose claims
 * were compared with the contract.
 */
export function encodeClaimsCompared(compared: ReadonlyMap<NetworkId, number>): Uint8Array {
  const entries = [...compared].sort(([a], [b]) => a - b)
  const bytes = new Uint8Array(8 * entries.length)
  for (const [index, [sourceNetwork, deposits]] of entries.entries()) {
    writeUint32(bytes, 8 * index, sourceNetwork)
    writeUint32(bytes, 8 * index + 4, deposits)
  }
  return bytes
}

export function decodeClaimsCompared(bytes: Uint8Array): Map<NetworkId, number> {
  const compared = new Map<NetworkId, number>()
  for (let at = 0; at < bytes.length; at += 8)
    compared.set(readUint32(bytes, at) as NetworkId, readUint32(bytes, at + 4))
  return compared
}

/** Meta `logPlace`: sequence u48, id of the command 16. */
export function encodeLogPlace(sequence: number, commandId: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(22)
  writeUint48(bytes, 0, sequence)
  bytes.set(commandId, 6)
  return bytes
}

/** @returns the id is a copy. */
export function decodeLogPlace(bytes: Uint8Array): {
  readonly sequence: number
  readonly commandId: Uint8Array
} {
  return { sequence: readUint48(bytes, 0), commandId: Uint8Array.prototype.slice.call(bytes, 6) }
}

/** Meta `feed`: which feed the shard has, and which of its events are kept. */
export interface FeedPlace {
  /** 48 random bits. */
  readonly feedId: number
  /** Of the oldest event that is kept; one more than `newest` while there is none. */
  readonly oldest: number
  /** Sequence of the newest event; 0 before the first. */
  readonly newest: number
}

/** Three u48. */
export function encodeFeedPlace({ feedId, oldest, newest }: FeedPlace): Uint8Array {
  const bytes = new Uint8Array(18)
  writeUint48(bytes, 0, feedId)
  writeUint48(bytes, 6, oldest)
  writeUint48(bytes, 12, newest)
  return bytes
}

export function decodeFeedPlace(bytes: Uint8Array): FeedPlace {
  return { feedId: readUint48(bytes, 0), oldest: readUint48(bytes, 6), newest: readUint48(bytes, 12) }
}

/** Meta `lastReorg`: the newest reorg of the chain that was followed. No undo is kept of it, and a start over keeps it. */
export interface LastReorg {
  /** Newest block that stayed. */
  readonly ancestor: BlockNumber
  /** Newest block that was taken back. */
  readonly lastBlock: BlockNumber
  /** Unix seconds of the instance that noticed it. */
  readonly detectedAtSec: number
}

/** Three u48. */
export function encodeLastReorg({ ancestor, lastBlock, detectedAtSec }: LastReorg): Uint8Array {
  const bytes = new Uint8Array(18)
  writeUint48(bytes, 0, ancestor)
  writeUint48(bytes, 6, lastBlock)
  writeUint48(bytes, 12, detectedAtSec)
  return bytes
}

export function decodeLastReorg(bytes: Uint8Array): LastReorg {
  return {
    ancestor: readUint48(bytes, 0) as BlockNumber,
    lastBlock: readUint48(bytes, 6) as BlockNumber,
    detectedAtSec: readUint48(bytes, 12),
  }
}

/** Number of commits that changed the shard; undefined in a shard of an older build that did not count them. */
export function decodeCommits(bytes: Uint8Array | undefined): number | undefined {
  return bytes === undefined ? undefined : readUint48(bytes, 0)
}

/**
 * A rewind, by a reorg or by BackwardLET, with the first number of each kind that it took back. Numbers below still name the same
 * rows; numbers at and above may name other rows now.
 *
 * Meta `epoch`: number of reorgs followed u32, number of rewinds u32, then the newest rewinds, oldest first, each three u32 in
 * this order. No undo is kept of it, so that it never goes back.
 */
export interface Rewind {
  /** Deposit count. */
  readonly deposits: number
  /** Claim ordinal. Claims below it are the same, but may have come into force or gone out of force. */
  readonly claims: number
  /** Token mapping ordinal. */
  readonly tokenMappings: number
}

/** Number of rewinds kept. A reader that missed more must treat every row as changed. */
const KEPT = 64

const HEAD_BYTES = 8
const REWIND_BYTES = 12

/** Number of reorgs. @param entry undefined in a shard without rewinds. */
export function decodeReorgs(entry: Uint8Array | undefined): number {
  return entry === undefined ? 0 : readUint32(entry, 0)
}

/** Number of rewinds. @param entry undefined in a shard without them. */
export function decodeEpoch(entry: Uint8Array | undefined): number {
  // In shards of schema 1 the entry is the number of reorgs alone.
  return entry === undefined || entry.length < HEAD_BYTES ? 0 : readUint32(entry, 4)
}

/** Adds a rewind to the entry: a new epoch. @returns fresh bytes. */
export function appendRewind(
  entry: Uint8Array | undefined,
  { deposits, claims, tokenMappings }: Rewind,
  { isReorg }: { isReorg: boolean },
): Uint8Array {
  const before = entry?.subarray(Math.max(HEAD_BYTES, entry.length - REWIND_BYTES * (KEPT - 1)))
  const length = before?.length ?? 0
  const bytes = new Uint8Array(HEAD_BYTES + length + REWIND_BYTES)
  writeUint32(bytes, 0, decodeReorgs(entry) + (isReorg ? 1 : 0))
  writeUint32(bytes, 4, decodeEpoch(entry) + 1)
  if (before !== undefined) bytes.set(before, HEAD_BYTES)
  writeUint32(bytes, HEAD_BYTES + length, deposits)
  writeUint32(bytes, HEAD_BYTES + length + 4, claims)
  writeUint32(bytes, HEAD_BYTES + length + 8, tokenMappings)
  return bytes
}

/** Rows below the returned numbers are unchanged by the newest `missed` rewinds. All are 0 when not all of those rewinds are kept. */
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
