import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import { licencesOf } from './licences.js'

/**
 * Build step (`npm run build`): makes the page at `/explorer` out of `src/explorer`. Run from the project's folder after WebAssembly was compiled.
 * Each name holds a digest of its file, so browsers may keep them for good.
 */
const outputFolder = 'dist/explorer'
const unfinished = `${outputFolder}.${process.pid}`

const { metafile } = await build({
  entryPoints: {
    main: 'src/explorer/explorerMain.tsx',
    style: 'src/explorer/explorer.css',
    icon: 'src/explorer/icon.svg',
    merkle: 'dist/wasm/merkle.scalar.wasm',
  },
  outdir: unfinished,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome111', 'firefox121', 'safari16.4'],
  tsconfig: 'src/explorer/tsconfig.json',
  loader: { '.svg': 'copy', '.wasm': 'copy' },
  legalComments: 'none',
  // A constant of the trees is made with it, which no page needs: so it is left out, and browsers have no `Buffer`.
  pure: ['Buffer.from'],
  metafile: true,
  logLevel: 'warning',
})
writeFileSync(`${unfinished}/LICENSES.txt`, licencesOf([metafile]))
rmSync(outputFolder, { recursive: true, force: true })
renameSync(unfinished, outputFolder)
