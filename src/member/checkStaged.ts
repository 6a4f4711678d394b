import { setImmediate as turn } from 'node:timers/promises'
import { FatalError } from '../errors/chainErrors.js'
import type { TreeHasher } from '../merkle/hasher.js'
import { asNetworkId } from '../protocol/units.js'
import { verifyShard } from '../shard/verify/verifyShard.js'
import { shardDirectory } from '../store/shardDirectory.js'
import { openShardStoreSnapshot } from '../store/shardStore.js'

/**
 * Derives roots and counts of a store again, as `bds verify` does. Timers of the thread get a turn between two checks.
 * @param staging the folder that has the store's folder. @throws FatalError, one line, for the first fault.
 */
export async function checkStaged(staging: string, networkId: number, hasher: TreeHasher): Promise<void> {
  const store = openShardStoreSnapshot(shardDirectory(staging, networkId))
  try {
    store.refresh()
    for (const { name, isGood, detail } of verifyShard(store, asNetworkId(networkId), hasher, false)) {
      if (!isGood) throw new FatalError(`the snapshot of network ${networkId} is damaged: ${name}: ${detail}`)
      await turn()
    }
  } finally {
    store.release()
    await store.close()
  }
}
