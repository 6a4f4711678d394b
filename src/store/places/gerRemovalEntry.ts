import type { Hash } from '../../protocol/chainEvent.js'
import { readUint32, writeUint32 } from '../layout/bytes.js'
import { EVENT_PLACE_BYTES, type EventPlace, readEventPlace, writeEventPlace } from './eventPlace.js'

/** Table `gerRemovals`. */
export interface GerRemovalEntry {
  readonly globalExitRoot: Hash
  /** The injection that was taken back. */
  readonly injectionOrdinal: number
  /** undefined for a removal from before schema 8. */
  readonly place: EventPlace | undefined
}

export function encodeGerRemovalEntry({
  globalExitRoot,
  injectionOrdinal,
  place,
}: GerRemovalEntry): Uint8Array {
  const bytes = new Uint8Array(36 + (place === undefined ? 0 : EVENT_PLACE_BYTES))
  bytes.set(globalExitRoot, 0)
  writeUint32(bytes, 32, injectionOrdinal)
  if (place !== undefined) writeEventPlace(bytes, 36, place)
  return bytes
}

export function decodeGerRemovalEntry(bytes: Uint8Array): GerRemovalEntry {
  return {
    globalExitRoot: bytes.subarray(0, 32),
    injectionOrdinal: readUint32(bytes, 32),
    place: bytes.length === 36 ? undefined : readEventPlace(bytes, 36),
  }
}
