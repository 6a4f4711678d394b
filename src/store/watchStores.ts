import { type BigIntStats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { shardDirectory } from './shardDirectory.js'

/** A file's identity for the system, whatever its name. */
interface SeenFile {
  readonly path: string
  /** Network whose data it holds; undefined: all networks'. */
  readonly networkId: number | undefined
  readonly device: bigint
  readonly inode: bigint
}

/**
 * Remembers the folder and its files as they are now, while they are open. What was opened stays readable after its name is
 * gone or leads elsewhere, so nobody would notice.
 * @param locks files of the folder that keep others away: whoever finds another one there is not kept away.
 * @returns looks once: the networks whose files are no more those that we have open.
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

async function isElsewhere({ path, device, inode }: SeenFile): Promise<boolean> {
  let found: BigIntStats
  try {
    found = await stat(path, { bigint: true })
  } catch {
    // Gone or unreachable: no answer may rest on it.
    return true
  }
  return found.dev !== device || found.ino !== inode
}
