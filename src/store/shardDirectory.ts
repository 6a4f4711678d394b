import { statSync } from 'node:fs'
import { join } from 'node:path'

/** Path of a network's shard: the folder of an LMDB environment (`data.mdb`, `lock.mdb`). */
export function shardDirectory(dataDir: string, networkId: number): string {
  return join(dataDir, String(networkId))
}

/** Folder inside the data folder in which a restore puts its shards together and checks them. */
export function restoreDirectory(dataDir: string): string {
  return join(dataDir, 'restore')
}

/** A file that is there while a restore takes old shards out of the data folder and puts its own in: a part of them may be missing. Names those that it puts in. */
export function restoreMarker(dataDir: string): string {
  return join(restoreDirectory(dataDir), 'placing')
}

/** Size of a shard's file in bytes; 0 when there is none or it can't be read. */
export function fileBytesOf(directory: string): number {
  try {
    return statSync(join(directory, 'data.mdb')).size
  } catch {
    return 0
  }
}
