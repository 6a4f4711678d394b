import type { Config } from '../../config/config.types.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreReader } from '../../store/shardStore.js'
import type { ShardStoreReader } from '../../store/shardStore.types.js'
import type { Settlement } from '../localExitRoots.types.js'
import { ShardView } from '../snapshot/shardView.js'

/** Global exit roots of the L1 info tree from one leaf on, in one snapshot of the L1's shard. */
export interface L1InfoGers {
  /** Grows when a reorg of the L1 takes leaves back. */
  readonly epoch: number
  readonly leafCount: number
  /** Roots of the leaves from the chosen one on, in order; copies. */
  readonly globalExitRoots: readonly Hash[]
}

/** Settlements of one network in one snapshot of the L1's shard. */
export interface NetworkSettlements {
  /** Grows when a reorg of the L1 takes settlements back. */
  readonly epoch: number
  /** Newest version of the rollup exit tree; later settlements have higher ones. */
  readonly newestVersion: number
  /** Settlements from the chosen version on, ascending; copies. */
  readonly settlements: readonly Settlement[]
}

export interface SettlementReader {
  /** @param from returns the first version to read, given the snapshot's epoch. */
  readSettlements(networkId: number, from: (epoch: number) => number): NetworkSettlements
}

export interface L1InfoGerReader {
  /** @param from returns the first leaf to read, given the snapshot's tree. */
  read(from: (tree: Pick<L1InfoGers, 'epoch' | 'leafCount'>) => number): L1InfoGers
  close(): Promise<void>
}

/** Opens the L1's shard for another network's indexer thread. Main must have opened it for writing before, as `prepareStores` says. */
export function openL1ShardReader(config: Config, hasher: TreeHasher): L1InfoGerReader & SettlementReader {
  return l1ShardReaderOf(openShardStoreReader(shardDirectory(config.dataDir, L1_NETWORK_ID)), hasher)
}

/** Reads from a store of the L1 that is open already. `close` closes the store. */
export function l1ShardReaderOf(
  store: ShardStoreReader,
  hasher: TreeHasher,
): L1InfoGerReader & SettlementReader {
  const view = new ShardView(L1_NETWORK_ID, store, hasher)
  return {
    read(from) {
      view.refresh()
      try {
        const { epoch, leafCount } = view.l1Info
        const globalExitRoots: Hash[] = []
        for (let index = from({ epoch, leafCount }); index < leafCount; index++)
          globalExitRoots.push(view.l1Info.getLeaf(index).globalExitRoot.slice())
        return { epoch, leafCount, globalExitRoots }
      } finally {
        view.release()
      }
    },
    readSettlements(networkId, from) {
      view.refresh()
      try {
        const { epoch, newestVersion } = view.l1Info
        return {
          epoch,
          newestVersion,
          settlements: view.l1Info.listSettlements(networkId, from(epoch), newestVersion),
        }
      } finally {
        view.release()
      }
    },
    close: () => view.close(),
  }
}
