import { join } from 'node:path'

/** Where the shard of a network lives: an LMDB environment (`data.mdb`, `lock.mdb`). */
export function shardDirectory(dataDir: string, networkId: number): string {
  return join(dataDir, String(networkId))
}
