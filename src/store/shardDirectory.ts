import { statSync } from 'node:fs'
import { join } from 'node:path'

/** Where the shard of a network lives: an LMDB environment (`data.mdb`, `lock.mdb`). */
export function shardDirectory(dataDir: string, networkId: number): string {
  return join(dataDir, String(networkId))
}

/** Size of a shard's file; 0 when there is none that can be seen. */
export function fileBytesOf(directory: string): number {
  try {
    return statSync(join(directory, 'data.mdb')).size
  } catch {
    return 0
  }
}
