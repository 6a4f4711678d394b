import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Top folder of the project: this file runs as dist/bench/micro/project.js. */
export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url))
export const benchRoot = join(projectRoot, 'bench')

/** Resolves packages of the rivals' own package.json. */
export const requireRival = createRequire(join(benchRoot, 'package.json'))

/** Installs the rivals from their lock on first use; their install scripts are not run. */
export function installRivals(): void {
  const { dependencies } = requireRival('./package.json') as { readonly dependencies: object }
  if (Object.keys(dependencies).every((name) => existsSync(join(benchRoot, 'node_modules', name)))) return
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: benchRoot, stdio: 'inherit' })
  if (status !== 0) throw new Error(`npm ci for the rivals in bench/ failed with status ${status}`)
}

/** Version of an installed package, found from `require`. */
export function versionOf(name: string, require: NodeJS.Require): string {
  const manifest = require.resolve
    .paths(name)!
    .map((folder) => join(folder, name, 'package.json'))
    .find((path) => existsSync(path))
  if (manifest === undefined) throw new Error(`package ${name} is not installed`)
  return (require(manifest) as { version: string }).version
}

/** One line about the machine on which a table was measured. */
export function machineLine(): string {
  const [cpu] = cpus()
  return `${cpu?.model ?? 'unknown CPU'}, ${cpus().length} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}, V8 ${process.versions.v8}`
}

/** The commit that was measured, marked when files have been changed since. */
export function commitLine(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, {
        cwd: projectRoot,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
    const isClean = git('status', '--porcelain', '--', '.', ':!bench/README.md') === ''
    return `${git('rev-parse', '--short', 'HEAD')}${isClean ? '' : ' with local changes'}`
  } catch {
    return 'unknown (no git)'
  }
}
