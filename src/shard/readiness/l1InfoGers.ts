import type { Config } from '../../config/config.types.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreReader } from '../../store/shardStore.js'
import type { ShardStoreReader } from '../../store/shardStore.types.js'
import type { Settlement } from '../localExitRoots.types.js'
import { ShardView } from '../snapshot/shardView.js'

/** Global exit roots of the L1 info tree from one leaf on, as one snapshot of the L1's shard has them. */
export interface L1InfoGers {
  /** Moves when the L1 takes leaves back. */
  readonly epoch: number
  readonly leafCount: number
  /** Of the leaves from `from` on, in order; copies. */
  readonly globalExitRoots: readonly Hash[]
}

/** Settlements of one network, read from one snapshot of the L1's shard. */
export interface NetworkSettlements {
  /** Increases when a reorg of the L1 takes settlements back. */
  readonly epoch: number
  /** Newest version of the rollup exit tree; later settlements have higher ones. */
  readonly newestVersion: number
  /** From the requested version on, ascending; own memory. */
  readonly settlements: readonly Settlement[]
}

export interface SettlementReader {
  /** @param from chooses the first version, given the snapshot's epoch. */
  readSettlements(networkId: number, from: (epoch: number) => number): NetworkSettlements
}

export interface L1InfoGerReader {
  /** @param from picks the first leaf, knowing the tree of the snapshot. */
  read(from: (tree: Pick<L1InfoGers, 'epoch' | 'leafCount'>) => number): L1InfoGers
  close(): Promise<void>
}

/** Reads the L1's shard from another network's indexer thread. Main has opened it for writing before: the first opener's flags win. */
export function openL1InfoGerReader(config: Config, hasher: TreeHasher): L1InfoGerReader & SettlementReader {
  return l1InfoGersOf(openShardStoreReader(shardDirectory(config.dataDir, L1_NETWORK_ID)), hasher)
}

/** The same of a store of the L1 that is open already; `close` closes it. */
export function l1InfoGersOf(
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
