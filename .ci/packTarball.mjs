#!/usr/bin/env node
// `npm run pack [-- --pack-destination FOLDER]`: makes the tarball, with an npm-shrinkwrap.json of exactly the versions and hashes
// that were tested. It is made in a folder of its own: an npm-shrinkwrap.json in the project would take the place of its lock.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const SHRINKWRAP = 'npm-shrinkwrap.json'
const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'))

/** @returns what npm writes to standard output. Scripts never run: nothing of the package needs them. */
function npmPack(cwd, args) {
  const { status, stdout } = spawnSync('npm', ['pack', '--ignore-scripts', ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`npm pack failed with status ${status}`)
  return stdout
}

/** The lock's packages that a user gets: those of a platform or another, but none for development and no absent peer. */
function installedPackages(packages) {
  const kept = new Map()
  const visit = (place) => {
    if (kept.has(place)) return
    const { dev, devOptional, ...entry } = packages[place]
    kept.set(place, devOptional ? { ...entry, optional: true } : entry)
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = entry
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (name) => !peerDependenciesMeta?.[name]?.optional,
    )
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const found = placeOf(name, place, packages)
      if (found !== undefined) visit(found)
      else if (optionalDependencies?.[name] === undefined)
        throw new Error(`the lock has no ${name} for ${place}`)
    }
  }
  visit('')
  return Object.fromEntries(
    Object.keys(packages)
      .filter((place) => kept.has(place))
      .map((place) => [place, kept.get(place)]),
  )
}

/** Where Node finds a package that `from` asks for. */
function placeOf(name, from, packages) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (packages[place] !== undefined) return place
    if (folder === '') return undefined
  }
}

/** Without what only the project's own folder has. */
function forUsers({ devDependencies, scripts, ...manifest }) {
  return manifest
}

const destination = resolve(process.argv[2] === '--pack-destination' ? process.argv[3] : '.')
const stage = mkdtempSync(join(tmpdir(), 'bds-pack-'))
try {
  const [{ files }] = JSON.parse(npmPack(root, ['--dry-run', '--json', '--silent']))
  for (const { path } of files) {
    mkdirSync(dirname(join(stage, path)), { recursive: true })
    cpSync(join(root, path), join(stage, path))
  }
  const manifest = read('package.json')
  const lock = read('package-lock.json')
  const packages = installedPackages({ ...lock.packages, '': forUsers(lock.packages['']) })
  const write = (file, value) => writeFileSync(join(stage, file), `${JSON.stringify(value, undefined, 2)}\n`)
  write('package.json', { ...forUsers(manifest), files: [...manifest.files, SHRINKWRAP] })
  write(SHRINKWRAP, { ...lock, packages })
  mkdirSync(destination, { recursive: true })
  console.log(join(destination, npmPack(stage, ['--silent', '--pack-destination', destination]).trim()))
} finally {
  rmSync(stage, { recursive: true, force: true })
}
