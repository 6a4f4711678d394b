import type { Config } from '../config/config.types.js'
import { makeDataFolder } from './folder/dataFolder.js'
import { lockFolder } from './folder/folderLock.js'
import { fileBytesOf, shardDirectory } from './shardDirectory.js'
import { assertReserve, openFault, openShardStoreWriter } from './shardStore.js'
import type { ShardStoreWriter } from './shardStore.types.js'
import { checkIdentity, claimIdentity } from './storeIdentity.js'
import { watchStores } from './watchStores.js'

/** Holds every shard open from start to end of the process. */
export interface StoreGuard {
  /** By network, to read what is stored before any other thread starts. */
  readonly stores: ReadonlyMap<number, Omit<ShardStoreWriter, 'transact' | 'close'>>
  /** Looks once whether folder and files are still those that are open. @returns the networks that have lost theirs. */
  lostNetworks(): Promise<number[]>
  /** Closes the shards and lets the data directory go. Call it after all other threads closed theirs. */
  close(): Promise<void>
}

/**
 * Main's first act on the data: locks the directory, opens every shard (the first opener's flags win for the process, so
 * this happens before any other thread starts; opening also clears reader slots of killed processes), and checks that each
 * shard was made for the configured network. Synchronous, and ends with nothing open when it throws.
 * @throws FatalError, one clear line: directory unusable, in use, other schema, other contracts.
 */
export function prepareStores(config: Config): StoreGuard {
  makeDataFolder(config.dataDir)
  const directories = config.networks.map(({ networkId }) => shardDirectory(config.dataDir, networkId))
  // Stores that are there can be served from a full disk.
  if (directories.some((directory) => fileBytesOf(directory) === 0)) assertReserve(config.dataDir)
  const lock = lockFolder(config.dataDir, 'write')
  const stores = new Map<number, ShardStoreWriter>()
  const closeAll = async (): Promise<void> => {
    for (const [networkId, store] of stores) {
      stores.delete(networkId)
      await store.close()
    }
  }
  let lostNetworks: StoreGuard['lostNetworks']
  try {
    for (const network of config.networks) {
      const directory = shardDirectory(config.dataDir, network.networkId)
      try {
        const store = openShardStoreWriter(directory, undefined, (meta) =>
          checkIdentity(meta, network, directory),
        )
        stores.set(network.networkId, store)
        claimIdentity(store, network, directory)
      } catch (error) {
        throw openFault(directory, error)
      }
    }
    lostNetworks = watchStores(config.dataDir, lock.files, [...stores.keys()])
  } catch (error) {
    lock.release()
    // The error that stopped us is the one to tell.
    closeAll().catch(() => undefined)
    throw error
  }
  return { stores, lostNetworks, close: () => closeAll().finally(() => lock.release()) }
}
