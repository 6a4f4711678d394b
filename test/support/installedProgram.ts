import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Prefix of the skip reason that the test runner accepts outside CI. */
export const NOT_INSTALLED = 'not installed: '

/** Debian installs servers where only root's PATH finds them. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/** @returns the reason to skip a test that needs these programs, or false when all are installed. */
export function skipWithout(...names: readonly string[]): string | false {
  const missing = names.filter((name) => installedProgram(name) === undefined)
  return missing.length === 0 ? false : NOT_INSTALLED + missing.join(', ')
}

/** @returns the path of a program. */
export function installedProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SERVER_FOLDERS]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
