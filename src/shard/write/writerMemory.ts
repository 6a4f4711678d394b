import type { TreeHasher } from '../../merkle/hasher.js'
import { RollupExitTree } from '../../merkle/rollupExitTree.js'
import type { NetworkId } from '../../protocol/units.js'
import type { SenderNotes } from '../senders.types.js'
import { AddressBook } from './addressBook.js'
import { Dictionaries } from './dictionaries.js'
import { MetadataHashes } from './metadataHashes.js'

/** What the writer remembers between transactions. */
export interface WriterMemory {
  readonly networkId: NetworkId
  readonly hasher: TreeHasher
  readonly rollupExitTree: RollupExitTree
  readonly addresses: AddressBook
  readonly metadataHashes: MetadataHashes
  /** Holds ids of the store: call `forget` after a failed transaction and after a reorg. */
  readonly dictionaries: Dictionaries
  /** Numbers of noted rows that are stored. Kept, since there may be too many to count them again. */
  senderNotes: SenderNotes
}

export function createWriterMemory(
  networkId: NetworkId,
  hasher: TreeHasher,
  senderNotes: SenderNotes,
): WriterMemory {
  const keccak256 = (bytes: Uint8Array) => hasher.hash(bytes)
  return {
    networkId,
    hasher,
    rollupExitTree: new RollupExitTree(hasher),
    addresses: new AddressBook(keccak256),
    metadataHashes: new MetadataHashes(keccak256),
    dictionaries: new Dictionaries(),
    senderNotes,
  }
}
