import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FatalError } from '../errors/chainErrors.js'

/** What LMDB keeps in a shard's folder. The data goes first: one step, after which there is no store. */
const FILES = ['data.mdb', 'lock.mdb']

/**
 * Removes a shard, and nothing else: a folder with other files in it is not ours, or not only. The caller holds the process
 * lock. A folder that can't be removed itself (a volume of its own) stays, empty.
 * @throws FatalError, one line, and nothing is removed.
 */
export function removeShard(directory: string): void {
  if (!existsSync(directory)) return
  // A volume's own folder of lost files says nothing about whose the rest is.
  const foreign = readdirSync(directory).filter((name) => !FILES.includes(name) && name !== 'lost+found')
  if (foreign.length > 0)
    throw new FatalError(
      `${directory} holds ${foreign.sort().join(', ')}, which is not ours: nothing was removed`,
    )
  for (const name of FILES) rmSync(join(directory, name), { force: true })
  try {
    rmdirSync(directory)
  } catch {
    // Empty is enough.
  }
}
