import { spawnSync } from 'node:child_process'

/** Prefix of the skip reason that the test runner accepts outside CI. */
export const NOT_INSTALLED = 'not installed: '

/** @returns the reason to skip a test that needs these programs, or false when all are installed. */
export function skipWithout(...names: readonly string[]): string | false {
  const missing = names.filter((name) => installedProgram(name) === undefined)
  return missing.length === 0 ? false : NOT_INSTALLED + missing.join(', ')
}

/** @returns the path of a program; Debian installs servers where only root's PATH finds them. */
export function installedProgram(name: string): string | undefined {
  const env = { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` }
  const { stdout } = spawnSync('sh', ['-c', 'command -v "$0"', name], { env, encoding: 'utf8' })
  return stdout.trim() || undefined
}
