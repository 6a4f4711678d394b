import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { type BuildOptions, build } from 'esbuild'
import { licencesOf } from './licences.js'

/**
 * Build step (`npm run build`): makes the pages at `/explorer` and `/docs` out of `src/explorer`. Run from the project's folder after WebAssembly was
 * compiled. Each name holds a digest of its file, so browsers may keep them for good.
 */
const common = {
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome111', 'firefox121', 'safari16.4'],
  tsconfig: 'src/explorer/tsconfig.json',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions

await makePage('dist/explorer', {
  entryPoints: {
    main: 'src/explorer/explorerMain.tsx',
    style: 'src/explorer/explorer.css',
    icon: 'src/explorer/icon.svg',
    merkle: 'dist/wasm/merkle.scalar.wasm',
  },
  loader: { '.svg': 'copy', '.wasm': 'copy' },
  // A constant of the trees is made with it, which no page needs: so it is left out, and browsers have no `Buffer`.
  pure: ['Buffer.from'],
})
await makePage('dist/docs', {
  entryPoints: { docs: 'src/explorer/apiDocs.ts', style: 'src/explorer/apiDocs.css' },
  loader: { '.svg': 'dataurl' },
})

/** Makes the folder beside its place and moves it there whole. */
async function makePage(folder: string, options: BuildOptions): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  const { metafile } = await build({ ...common, ...options, outdir: unfinished, metafile: true })
  writeFileSync(`${unfinished}/LICENSES.txt`, licencesOf([metafile]))
  rmSync(folder, { recursive: true, force: true })
  renameSync(unfinished, folder)
}
