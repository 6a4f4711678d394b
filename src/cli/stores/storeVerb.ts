import type { Config } from '../../config/config.types.js'
import { loadConfig } from '../../config/load.js'
import { lockFolder } from '../../store/folder/folderLock.js'
import { type Arguments, configOptions, readArguments } from '../input/arguments.js'
import { ProgressLine } from '../input/progressBar.js'

/** How every verb that works on stores begins and ends. */

interface StoreArguments extends Arguments {
  readonly config: Config
  /** Whether the outcome is told as one JSON document (`--json`). */
  readonly isJson: boolean
}

/**
 * Reads the verb's own flags, those of the configuration and `--json`, and then the configuration.
 * @param own flags of the verb. @param mostWords as of `readArguments`. @throws UsageError, ConfigError
 */
export function readStoreArguments(
  args: readonly string[],
  own: Parameters<typeof readArguments>[1],
  mostWords?: number,
): StoreArguments {
  const read = readArguments(args, { ...configOptions, ...own, json: { type: 'boolean' } }, mostWords)
  const { config } = loadConfig({ file: read.values.config, flags: read.values })
  return { ...read, config, isJson: read.switches.has('json') }
}

/**
 * Does long work in a locked data folder and shows how far it is. The line of progress and the lock are gone when it ends, however it ends.
 * @throws what `lockFolder` and the work throw.
 */
export async function inLockedFolder<Result>(
  { dataDir }: Config,
  access: Parameters<typeof lockFolder>[1],
  work: (progress: ProgressLine) => Promise<Result>,
): Promise<Result> {
  const progress = new ProgressLine()
  const lock = lockFolder(dataDir, access)
  try {
    return await work(progress)
  } finally {
    progress.clear()
    lock.release()
  }
}
