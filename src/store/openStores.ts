import { existsSync } from 'node:fs'
import type { Config } from '../config/config.types.js'
import { FatalError } from '../errors/chainErrors.js'
import { ensureFeed } from './ensureFeed.js'
import { makeDataFolder } from './folder/dataFolder.js'
import { lockFolder } from './folder/folderLock.js'
import { fileBytesOf, restoreMarker, shardDirectory } from './shardDirectory.js'
import { assertReserve, openFault, openShardStoreWriter } from './shardStore.js'
import type { ShardStoreWriter } from './shardStore.types.js'
import { assertWrittenBy, checkIdentity, ensureIdentity } from './storeIdentity.js'
import { watchStores } from './watchStores.js'

/** Keeps every shard open from the start of the process to its end. */
export interface StoreGuard {
  /** By network id. Main reads them before any other thread starts. */
  readonly stores: ReadonlyMap<number, Omit<ShardStoreWriter, 'transact' | 'close'>>
  /** Checks once whether the data folder and the open files are still at their paths. @returns the networks whose files are gone. */
  lostNetworks(): Promise<number[]>
  /** Closes the shards and unlocks the data folder. Call it after all other threads have closed theirs. */
  close(): Promise<void>
}

/**
 * Locks the data folder, opens every shard, and checks that each shard was made for the configured network. Main calls it before
 * any other thread starts, because the flags of whoever opens an LMDB environment first hold for the whole process. Opening also
 * frees the reader slots of killed processes. Synchronous; nothing stays open when it throws.
 * @throws FatalError, one clear line: the folder is unusable, in use or half restored, or a shard has another schema or other contracts.
 */
export function prepareStores(config: Config): StoreGuard {
  makeDataFolder(config.dataDir)
  const directories = config.networks.map(({ networkId }) => shardDirectory(config.dataDir, networkId))
  // A full disk stops only new shards: existing ones can still be served.
  if (directories.some((directory) => fileBytesOf(directory) === 0)) assertReserve(config.dataDir)
  const lock = lockFolder(config.dataDir, 'write')
  // Looked for under the lock, which a restore holds. Without this the networks that it had no time for would be read from the chain again.
  if (existsSync(restoreMarker(config.dataDir))) {
    lock.release()
    throw new FatalError(`a restore into ${config.dataDir} was not finished: run \`bds restore\` again`)
  }
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
        const store = openShardStoreWriter(directory, undefined, (meta) => {
          checkIdentity(meta, network, directory)
          assertWrittenBy(meta, config.cluster !== undefined, network, directory)
        })
        stores.set(network.networkId, store)
        ensureIdentity(store, network, directory)
        ensureFeed(store, directory)
      } catch (error) {
        throw openFault(directory, error)
      }
    }
    lostNetworks = watchStores(config.dataDir, lock.files, [...stores.keys()])
  } catch (error) {
    lock.release()
    // The first error is the one to report.
    closeAll().catch(() => undefined)
    throw error
  }
  return { stores, lostNetworks, close: () => closeAll().finally(() => lock.release()) }
}
