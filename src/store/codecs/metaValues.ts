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
