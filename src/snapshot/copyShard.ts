import { openShardStoreSnapshot } from '../store/shardStore.js'

/**
 * A process of its own, which copies one shard and ends: LMDB's copy holds back pages and can't be ended, but a process can.
 * Arguments: the shard's folder, the folder for the copy. What fails is one line on standard error and exit code 1.
 */
const [, , directory, folder] = process.argv
try {
  const store = openShardStoreSnapshot(directory!)
  await store.copyTo(folder!)
  await store.close()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
