import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build, context } from 'esbuild'

/**
 * Build step (`npm run build`): makes one file of each thread's entry. Run from the project's folder after `tsc`, whose
 * output it reads. A thread that loads its 500 modules one by one takes half a second of CPU time before its first
 * line; there is one thread per network and one per query thread, at each start. `--watch` goes on with what is compiled later.
 */
const entries = ['dist/src/indexer/thread/indexer.worker.js', 'dist/src/pool/query.worker.js']
const outputFolder = 'dist/bundle/threads'

/** Libraries that consist of hundreds of small modules. The others load native code or are few files. */
const bundled = ['viem', '@sinclair/typebox']

const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

const options = {
  entryPoints: entries,
  outdir: outputFolder,
  entryNames: '[name]',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !bundled.includes(name),
  ),
  sourcemap: 'linked',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

const { metafile } = await build(options)

/** The folders of the packages that bundled code is from, inside `node_modules`. */
const packages = new Set(
  Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
)

function licenceOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
    name: string
    license?: string
  }
  const text = file === undefined ? (manifest.license ?? '') : readFileSync(`${folder}/${file}`, 'utf8')
  return `${manifest.name}\n\n${text.trim()}\n`
}

const licences = new Set([...packages].map(licenceOf))
writeFileSync(`${outputFolder}/LICENSES.txt`, [...licences].sort().join('\n---\n\n'))

if (process.argv.includes('--watch')) await (await context(options)).watch()
