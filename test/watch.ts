import { spawn } from 'node:child_process'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { testFiles } from './testFiles.js'

/**
 * `npm run test:watch -- unit/chain` compiles what is saved, and runs the tests below the folders, or the files named, that
 * depend on it, until Ctrl-C. Contracts and assembly/ are not watched: `npm run build` makes them.
 */
const folders = process.argv.slice(2)
if (folders.length === 0) {
  console.error('name what to watch: npm run test:watch -- unit/chain')
  process.exit(1)
}
const compiler = spawn('node_modules/.bin/tsc', ['-p', 'tsconfig.json', '--watch', '--preserveWatchOutput'], {
  stdio: 'inherit',
})
const bundler = spawn(process.execPath, ['dist/src/service/bundleThreads.js', '--watch'], {
  stdio: 'inherit',
})
process.once('exit', () => {
  compiler.kill()
  bundler.kill()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0))

run({ files: folders.flatMap(testFiles), concurrency: 2, watch: true })
  .compose(new spec())
  .pipe(process.stdout)
