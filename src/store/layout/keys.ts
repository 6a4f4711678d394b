import type { Address } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import { writeUint32BigEndian, writeUint48BigEndian } from './bytes.js'
import { CLAIM_LINKS_PER_CHUNK, type ListKind } from './tables.js'

/** Keys of the tables. Integers are big-endian, so that keys sort as their numbers do. Keys are fresh bytes, except those of `metaKey`. */

const ascii = new TextEncoder()

/** Names in table `meta`. */
export type MetaName =
  | 'schema'
  | 'identity'
  | 'checkpoint'
  | 'origin'
  | 'epoch'
  | 'finalized'
  | 'undoFloor'
  | 'counters'
  | 'depositSenders'
  | 'claimSenders'
  | 'exitState'
  | 'polledLeaves'
  | 'commits'
  | 'startOvers'
  | 'catchingUp'
  | 'perTransactionFrom'
  | 'timesFall'
  | 'settledInsideBlocks'
  | 'senderCorrections'
  | 'claimsCompared'
  | 'log'
  | 'logPlace'
  | 'haltReason'
  | 'headPlace'
  | 'feed'
  | 'claimableTold'
  | 'feedFile'
  | 'lastReorg'

const metaKeys = new Map<MetaName, Uint8Array>()

/** Shared bytes: do not write into them. */
export function metaKey(name: MetaName): Uint8Array {
  let key = metaKeys.get(name)
  if (key === undefined) {
    key = ascii.encode(name)
    metaKeys.set(name, key)
  }
  return key
}

/** Key of one uint32: an ordinal, a dictionary id, the first ordinal of a chunk, or a network. */
export function uint32Key(value: number): Uint8Array {
  const key = new Uint8Array(4)
  writeUint32BigEndian(key, 0, value)
  return key
}

/** Key of two uint32: (network, version), (source network, chunk number) or (source network, deposit count). */
export function uint32PairKey(first: number, second: number): Uint8Array {
  const key = new Uint8Array(8)
  writeUint32BigEndian(key, 0, first)
  writeUint32BigEndian(key, 4, second)
  return key
}

/** Key of the chunk that holds row `ordinal`. */
export function chunkKey(ordinal: number, rowsPerChunk: number): Uint8Array {
  return uint32Key(ordinal - (ordinal % rowsPerChunk))
}

/** Table `claimLinks`: key of the chunk that holds the link of a deposit. */
export function claimLinkKey(sourceNetwork: number, depositCount: number): Uint8Array {
  return uint32PairKey(sourceNetwork, Math.floor(depositCount / CLAIM_LINKS_PER_CHUNK))
}

/** Table `feed`. */
export function feedKey(sequence: number): Uint8Array {
  return blockKey(sequence)
}

/** Table `headers`. */
export function blockKey(block: number): Uint8Array {
  const key = new Uint8Array(6)
  writeUint48BigEndian(key, 0, block)
  return key
}

/** Table `lineages`. */
export function lineageKey(lineage: number): Uint8Array {
  return Uint8Array.of(lineage >>> 8, lineage)
}

/** Table `regrownStretches`. */
export function lineageStretchKey(lineage: number, depositCount: number): Uint8Array {
  const key = new Uint8Array(6)
  key[0] = lineage >>> 8
  key[1] = lineage
  writeUint32BigEndian(key, 2, depositCount)
  return key
}

/** Table `tokenIds`, and list key of `mappingsByOriginToken`. */
export function tokenKey(network: NetworkId, address: Address): Uint8Array {
  const key = new Uint8Array(24)
  writeUint32BigEndian(key, 0, network)
  key.set(address, 4)
  return key
}

/** Numbers of the trees in table `treeTiles`. */
export const trees = { localExitTree: 0, l1InfoTree: 1 } as const

export type Tree = (typeof trees)[keyof typeof trees]

/** Table `treeTiles`. */
export function tileKey(tree: Tree, lineage: number, group: number, index: number): Uint8Array {
  const key = new Uint8Array(8)
  key[0] = tree
  key[1] = lineage >>> 8
  key[2] = lineage
  key[3] = group
  writeUint32BigEndian(key, 4, index)
  return key
}

/** Table `listHeads`. */
export function listHeadKey(kind: ListKind, listKey: Uint8Array): Uint8Array {
  const key = new Uint8Array(1 + listKey.length)
  key[0] = kind
  key.set(listKey, 1)
  return key
}

/** Table `lists`: full chunk `chunkNumber` of a list. @param headKey as made by `listHeadKey`. */
export function listChunkKey(headKey: Uint8Array, chunkNumber: number): Uint8Array {
  const key = new Uint8Array(headKey.length + 4)
  key.set(headKey)
  writeUint32BigEndian(key, headKey.length, chunkNumber)
  return key
}

const networkTexts = new Map<number, string>()

/** List key of a network, as text with one character per byte. */
export function networkText(network: number): string {
  let text = networkTexts.get(network)
  if (text === undefined) {
    text = latin1(uint32Key(network))
    // A user may deposit to any uint32 as destination network, so the cache is bounded.
    if (networkTexts.size < 1000) networkTexts.set(network, text)
  }
  return text
}

/** A key as text, one character per byte: for maps and sets. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
