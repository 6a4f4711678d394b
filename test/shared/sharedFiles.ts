import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const projectRoot = fileURLToPath(new URL('../../../', import.meta.url))

/** Folder with the material that several projects share; `BDS_SHARED_DIR`, or `../shared` beside the project. */
export const sharedDir = resolve(projectRoot, process.env.BDS_SHARED_DIR ?? '../shared')

/** A text file below `sharedDir`. A missing file is a failure, never a reason to pass over a test. */
export function readShared(path: string): string {
  return readFileSync(resolve(sharedDir, path), 'utf8')
}

/** A JSON file below `sharedDir`; the caller knows its shape. */
export function readSharedJson<T>(path: string): T {
  return JSON.parse(readShared(path)) as T
}
