import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of shared test data. */
export function sharedFolder(): string {
  return resolve(process.env.BDS_SHARED_DIR ?? '../shared')
}

/**
 * A path in the folder of shared test data, `BDS_SHARED_DIR` or `../shared`; only tests in `test/shared` may ask for it.
 * @throws when the path is not there: missing data is a failure, not a reason to pass.
 */
export function sharedPath(...parts: readonly string[]): string {
  const path = join(sharedFolder(), ...parts)
  if (!existsSync(path))
    throw new Error(`${path} is not there: set BDS_SHARED_DIR to the folder of shared test data`)
  return path
}
