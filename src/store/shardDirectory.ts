import { statSync } from 'node:fs'
import { join } from 'node:path'

/** Path of a network's shard: the folder of an LMDB environment (`data.mdb`, `lock.mdb`). */
export function shardDirectory(dataDir: string, networkId: number): string {
  return join(dataDir, String(networkId))
}

/** Size of a shard's file in bytes; 0 when there is none or it can't be read. */
export function fileBytesOf(directory: string): number {
  try {
    return statSync(join(directory, 'data.mdb')).size
  } catch {
    return 0
  }
}
