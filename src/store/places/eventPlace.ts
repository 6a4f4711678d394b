import type { BlockHeader, EventPosition, Hash } from '../../protocol/chainEvent.js'
import type { BlockNumber } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint32BigEndian, writeUint48 } from '../layout/bytes.js'

/** Where an event stands in its chain, and when it happened. */
export interface EventPlace {
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  readonly logIndex: number
  readonly transactionHash: Hash
}

export const EVENT_PLACE_BYTES = 48

const at = { blockNumber: 0, timestampSec: 6, logIndex: 12, transactionHash: 16 } as const

/** The place of an event of a block. */
export function placeOfEvent(
  { number, timestampSec }: BlockHeader,
  { logIndex, transactionHash }: Pick<EventPosition, 'logIndex' | 'transactionHash'>,
): EventPlace {
  return { blockNumber: number, timestampSec, logIndex, transactionHash }
}

export function writeEventPlace(bytes: Uint8Array, offset: number, place: EventPlace): void {
  writeUint48(bytes, offset + at.blockNumber, place.blockNumber)
  writeUint48(bytes, offset + at.timestampSec, place.timestampSec)
  writeUint32(bytes, offset + at.logIndex, place.logIndex)
  bytes.set(place.transactionHash, offset + at.transactionHash)
}

/** Table `eventPlaces`. @returns fresh bytes. */
export function encodeEventPlace(place: EventPlace): Uint8Array {
  const bytes = new Uint8Array(EVENT_PLACE_BYTES)
  writeEventPlace(bytes, 0, place)
  return bytes
}

/** @returns the hash is a copy. */
export function readEventPlace(bytes: Uint8Array, offset: number): EventPlace {
  return {
    blockNumber: readUint48(bytes, offset + at.blockNumber) as BlockNumber,
    timestampSec: readUint48(bytes, offset + at.timestampSec),
    logIndex: readUint32(bytes, offset + at.logIndex),
    transactionHash: bytes.slice(offset + at.transactionHash, offset + EVENT_PLACE_BYTES),
  }
}

/** Rows that do not tell their event's place themselves; the numbers are stored. */
export const placedKinds = {
  /** By L1 info tree index: the UpdateL1InfoTree. */
  l1InfoLeaf: 1,
  /** By version of the rollup exit tree: the settlement that made it. */
  rollupExitVersion: 2,
  /** By injection ordinal. None of an injection that was found by asking the manager. */
  injection: 3,
} as const

export type PlacedKind = keyof typeof placedKinds

/** Table `eventPlaces`. */
export function eventPlaceKey(kind: PlacedKind, number: number): Uint8Array {
  const key = new Uint8Array(5)
  key[0] = placedKinds[kind]
  writeUint32BigEndian(key, 1, number)
  return key
}
