import { rmSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build, context } from 'esbuild'
import { licencesOf } from './licences.js'

/**
 * Build step (`npm run build`): makes one file of each thread's entry, and a few files of the program that the main thread runs,
 * whose verbs are loaded one at a time. Run from the project's folder after `tsc`, whose output it reads. A thread that loads its
 * modules one by one takes half a second of CPU time before its first line; there is one thread per network and one per query
 * thread, at each start. `--watch` goes on with what is compiled later.
 */
const threads = [
  'dist/src/cell/cell.worker.js',
  'dist/src/indexer/thread/indexer.worker.js',
  'dist/src/member/instance.worker.js',
  'dist/src/member/member.worker.js',
  'dist/src/pool/query.worker.js',
  'dist/src/service/watchdog.worker.js',
  'dist/src/store/folder/presence.worker.js',
  'dist/src/devnet/guard.js',
  'dist/src/snapshot/copyShard.js',
]
const program = 'dist/src/cli/program.js'
const outputFolder = 'dist/bundle/threads'

/**
 * Libraries that load native code, or files of their own by path. Everything else becomes part of the bundles, but for what is only
 * loaded by name (uWebSockets.js, anvil).
 */
const external = ['lmdb', 'piscina']

const common = {
  outdir: outputFolder,
  // All in one folder, as deep as the compiled files: what they find by their own address stays where it was.
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external,
  // Libraries in CommonJS ask for Node's modules by `require`.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  sourcemap: 'linked',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

const builds = [
  { ...common, entryPoints: threads },
  { ...common, entryPoints: [program], splitting: true },
]

rmSync(outputFolder, { recursive: true, force: true })
const metafiles = (await Promise.all(builds.map((options) => build(options)))).map(({ metafile }) => metafile)
writeFileSync(`${outputFolder}/LICENSES.txt`, licencesOf(metafiles))

if (process.argv.includes('--watch')) for (const options of builds) await (await context(options)).watch()
