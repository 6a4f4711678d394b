import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'

/**
 * Build step (`npm run build`): compiles assembly/ by every target of asconfig.json. It is run from the project's folder
 * after `tsc`. Compiling takes ten seconds, so its result is kept, by the hash of sources, settings and compiler, where
 * a clean build does not remove it.
 */
const sourceFolder = 'assembly'
const settingsFile = 'asconfig.json'
const cacheFolder = 'node_modules/.cache/bridge-data-service-wasm'

interface Settings {
  readonly targets: Readonly<Record<string, { readonly outFile: string }>>
}

const require = createRequire(import.meta.url)
const compiler = require('assemblyscript/package.json') as { readonly version: string }
const settingsText = readFileSync(settingsFile, 'utf8')
const { targets } = JSON.parse(settingsText) as Settings

function digestOfSources(): string {
  const digest = createHash('sha256').update(compiler.version).update(settingsText)
  for (const name of readdirSync(sourceFolder).sort())
    digest.update(name).update(readFileSync(`${sourceFolder}/${name}`))
  return digest.digest('hex')
}

function compile(target: string): void {
  const { status } = spawnSync('node_modules/.bin/asc', ['--config', settingsFile, '--target', target], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`asc ended with ${status} for target ${target}`)
}

/** @returns the folder with what was compiled, complete: it is renamed into place. */
function compileOnce(): string {
  const kept = `${cacheFolder}/${digestOfSources()}`
  if (existsSync(kept)) return kept
  const unfinished = `${kept}.${process.pid}`
  for (const [target, { outFile }] of Object.entries(targets)) {
    compile(target)
    cpSync(outFile, `${unfinished}/${outFile}`)
  }
  rmSync(kept, { recursive: true, force: true })
  renameSync(unfinished, kept)
  return kept
}

const compiled = compileOnce()
mkdirSync('dist', { recursive: true })
cpSync(`${compiled}/dist`, 'dist', { recursive: true })
