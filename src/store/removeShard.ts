import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FatalError } from '../errors/chainErrors.js'

/**
 * LMDB's files in a shard's folder. The data file is removed first: once it is gone there is no store any more, even if the
 * process ends before the rest is removed.
 */
const FILES = ['data.mdb', 'lock.mdb']

/**
 * Removes a shard's files and its folder. Refuses a folder that holds any other file. The caller holds the lock of the data
 * folder. A folder that is a volume of its own can't be removed and stays empty.
 * @throws FatalError, one line; nothing was removed then.
 */
export function removeShard(directory: string): void {
  if (!existsSync(directory)) return
  // The file system makes lost+found in each volume: it is no user's file.
  const foreign = readdirSync(directory).filter((name) => !FILES.includes(name) && name !== 'lost+found')
  if (foreign.length > 0)
    throw new FatalError(
      `${directory} holds ${foreign.sort().join(', ')}, not made by this service: nothing was removed`,
    )
  for (const name of FILES) rmSync(join(directory, name), { force: true })
  try {
    rmdirSync(directory)
  } catch {
    // It is empty, which is enough.
  }
}
