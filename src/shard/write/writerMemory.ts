import type { TreeHasher } from '../../merkle/hasher.js'
import { RollupExitTree } from '../../merkle/rollupExitTree.js'
import type { NetworkId } from '../../protocol/units.js'
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
}

export function createWriterMemory(networkId: NetworkId, hasher: TreeHasher): WriterMemory {
  const keccak256 = (bytes: Uint8Array) => hasher.hash(bytes)
  return {
    networkId,
    hasher,
    rollupExitTree: new RollupExitTree(hasher),
    addresses: new AddressBook(keccak256),
    metadataHashes: new MetadataHashes(keccak256),
    dictionaries: new Dictionaries(),
  }
}
