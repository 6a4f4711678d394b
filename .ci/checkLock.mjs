#!/usr/bin/env node
// Fails when a lock file names a package that runs code while it is installed, other than those below, or one whose content is
// not fixed by a hash of the registry's tarball. Usage: checkLock.mjs FILE…; part of `npm run lint`, which runs before any build.
import { readFileSync } from 'node:fs'

/** Packages with install scripts, and why everything works when those do not run, as with `--ignore-scripts`. */
const ALLOWED = {
  '@scarf/scarf': 'Only of the build, through swagger-ui-dist. The script would count downloads.',
  '@foundry-rs/anvil': 'Only of the devnet, which runs the program of the platform package itself.',
  'better-sqlite3': 'Only of a bench, which compiles it when it is asked for.',
  bufferutil:
    'Optional, of the old build of uWebSockets.js: only its stand-in in JavaScript would load it, which never runs.',
  esbuild:
    'Only of the build. The script would check and shorten the way to the program of the platform package.',
  lmdb: 'Its addon comes in a platform package. The script would compile one where there is none.',
  'msgpackr-extract':
    'Optional, and its addon comes in a platform package. Without it msgpackr reads texts in JavaScript.',
  'utf-8-validate': 'The same as bufferutil.',
}

const EXACT = /^(?:npm:(?:@[^/@]+\/)?[^/@]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/

function faultsOf(lock) {
  const { '': root, ...packages } = lock.packages
  const wanted = Object.entries({
    ...root.dependencies,
    ...root.optionalDependencies,
    ...root.devDependencies,
  })
  return [
    ...wanted
      .filter(([, version]) => !EXACT.test(version))
      .map(([name, version]) => `${name} is wanted as ${version}, which is not an exact version`),
    ...Object.entries(packages).flatMap(([place, entry]) => packageFaults(place, entry)),
  ]
}

function packageFaults(place, { name, version, integrity, link, resolved, hasInstallScript }) {
  const called = name ?? place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const faults = []
  if (hasInstallScript && !Object.hasOwn(ALLOWED, called))
    faults.push('has an install script: if everything works without, say why in .ci/checkLock.mjs')
  // Also where the lock says that a package lies in another one's tarball: npm fetches it without a hash if it does not.
  if (!/^sha512-[\w+/]{86}==$/.test(integrity ?? '')) faults.push('has no SHA-512 of its content')
  // The lock says where packages come from only where that is not the registry (omit-lockfile-registry-resolved).
  if (link || resolved !== undefined) faults.push('does not come from the registry, or the lock names a host')
  return faults.map((fault) => `${called} ${version ?? ''} (${place}) ${fault}`)
}

let isGood = true
for (const file of process.argv.slice(2))
  for (const fault of faultsOf(JSON.parse(readFileSync(file, 'utf8')))) {
    console.error(`${file}: ${fault}`)
    isGood = false
  }
if (!isGood) process.exit(1)
