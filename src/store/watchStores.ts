import { stat, statSync } from 'node:fs'
import { join } from 'node:path'
import { shardDirectory } from './shardDirectory.js'

/** A file with the device and inode that it had when it was opened. */
interface SeenFile {
  readonly path: string
  /** Network whose data it holds; undefined for a file of all networks. */
  readonly networkId: number | undefined
  readonly device: bigint
  readonly inode: bigint
}

/**
 * Remembers the data folder and its open files, to notice when somebody removes or replaces them: an open file stays readable
 * after its path is gone, so no read would fail.
 * @param locks paths of the folder's lock files: a replaced lock file no longer keeps other processes out.
 * @returns a function that checks once, and returns the networks whose open files are no longer at their paths.
 */
export function watchStores(
  dataDir: string,
  locks: readonly string[],
  networkIds: readonly number[],
): () => Promise<number[]> {
  const seen: SeenFile[] = []
  const remember = (path: string, networkId?: number): void => {
    const { dev: device, ino: inode } = statSync(path, { bigint: true })
    seen.push({ path, networkId, device, inode })
  }
  for (const path of [dataDir, ...locks]) remember(path)
  for (const networkId of networkIds)
    for (const name of ['data.mdb', 'lock.mdb'])
      remember(join(shardDirectory(dataDir, networkId), name), networkId)
  return async () => {
    const isLost = await Promise.all(seen.map((file) => isElsewhere(file)))
    const lost = seen.filter((_, i) => isLost[i])
    return networkIds.filter((id) =>
      lost.some(({ networkId }) => networkId === undefined || networkId === id),
    )
  }
}

/**
 * Not by a promise of Node's own, nor by an exception: all files are looked at once a second, which took a third of the main thread's
 * CPU time in a service at rest.
 */
function isElsewhere({ path, device, inode }: SeenFile): Promise<boolean> {
  return new Promise((resolve) => {
    stat(path, { bigint: true }, (error, found) =>
      // A path that can't be reached counts as lost: no answer may be based on it.
      resolve(error !== null || found.dev !== device || found.ino !== inode),
    )
  })
}
