import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const compiledRoot = dirname(fileURLToPath(import.meta.url))
const sourceRoot = join(compiledRoot, '..', '..', 'test')

/**
 * Compiled files of the tests below `folder`, or of the single file that it names, as source or as compiled. The
 * sources say which tests exist: `dist` may still hold the test of a removed source. Empty when there is no such folder or file.
 */
export function testFiles(folder: string): string[] {
  const name = folder.replace(/^(dist\/)?test\//, '')
  const file = join(sourceRoot, name.replace(/\.js$/, '.ts'))
  if (/\.test\.[tj]s$/.test(name)) return existsSync(file) ? [join(compiledRoot, compiledName(name))] : []
  if (!existsSync(join(sourceRoot, name))) return []
  return readdirSync(join(sourceRoot, name), { recursive: true, withFileTypes: true })
    .filter((entry: Dirent) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) =>
      join(compiledRoot, compiledName(join(entry.parentPath, entry.name).slice(sourceRoot.length))),
    )
    .sort()
}

function compiledName(source: string): string {
  return source.replace(/\.ts$/, '.js')
}
