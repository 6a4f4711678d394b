import { stat, statSync } from 'node:fs'
import { join } from 'node:path'
import { unsafeFileSystem } from './folder/fileSystem.js'
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
  const mayWait = unsafeFileSystem(dataDir) !== undefined
  return async () => {
    const isLost = mayWait ? await Promise.all(seen.map(isElsewhere)) : seen.map(isElsewhereNow)
    const lost = seen.filter((_, i) => isLost[i])
    return networkIds.filter((id) =>
      lost.some(({ networkId }) => networkId === undefined || networkId === id),
    )
  }
}

/**
 * For a local file system, which finds an open file by its path in the kernel's memory, without its disk. Each look by another thread wakes
 * two threads: together they took a fifth of the CPU time of a service at rest.
 */
function isElsewhereNow({ path, device, inode }: SeenFile): boolean {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined || found.dev !== device || found.ino !== inode
  } catch {
    // A path that can't be reached counts as lost: no answer may be based on it.
    return true
  }
}

/** For one that may ask another machine, which may not answer. */
function isElsewhere({ path, device, inode }: SeenFile): Promise<boolean> {
  return new Promise((resolve) => {
    stat(path, { bigint: true }, (error, found) =>
      resolve(error !== null || found.dev !== device || found.ino !== inode),
    )
  })
}
