import { accessSync, constants, lstatSync, mkdirSync, type Stats, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { FatalError } from '../../errors/chainErrors.js'

/**
 * Makes the data folder if it is missing, and checks that this process can work in it. It makes one folder after the other,
 * because `mkdirSync` with `recursive` never returns below /proc.
 * @throws FatalError, one line that names the path at fault and the reason.
 */
export function makeDataFolder(dataDir: string): void {
  const missing: string[] = []
  let path = resolve(dataDir)
  while (!isFolder(path, dataDir)) {
    missing.push(path)
    path = dirname(path)
  }
  for (const folder of missing.reverse()) attempt(dataDir, folder, () => makeFolder(folder))
  attempt(dataDir, resolve(dataDir), () =>
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK),
  )
  if (statfsSync(dataDir).blocks === 0)
    throw unusable(dataDir, 'its file system belongs to the kernel and stores no files')
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process that starts at the same time was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** @returns false when there is nothing at the path. @throws FatalError when there is something else than a folder. */
function isFolder(path: string, dataDir: string): boolean {
  const found = attempt(dataDir, path, () => statIfThere(path))
  if (found?.isDirectory()) return true
  if (found !== undefined) throw unusable(dataDir, `${path} is a file`)
  if (isLink(path)) throw unusable(dataDir, `${path} is a link to nothing`)
  return false
}

/** undefined when there is nothing at the path, or when a part of it is a file: `makeDataFolder` meets that file later. */
function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined
    throw error
  }
}

const REASONS: Readonly<Record<string, (path: string) => string>> = {
  EACCES: (path) => `user ${process.getuid?.() ?? ''} has no right to enter, read and write ${path}`,
  EPERM: (path) => `user ${process.getuid?.() ?? ''} may not write to ${path}`,
  EROFS: (path) => `${path} is on a read-only file system`,
  ELOOP: (path) => `the links of ${path} lead in a circle`,
  ENAMETOOLONG: () => 'the path or a name in it is too long',
  ENOENT: (path) => `${path} can't be made there`,
  ENOSPC: (path) => `no space is left for ${path}`,
  EDQUOT: (path) => `the quota is used up for ${path}`,
}

function attempt<T>(dataDir: string, path: string, body: () => T): T {
  try {
    return body()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw unusable(dataDir, REASONS[code ?? '']?.(path) ?? message)
  }
}

function unusable(dataDir: string, reason: string): FatalError {
  return new FatalError(`data_dir ${dataDir} can't be used: ${reason}`)
}
