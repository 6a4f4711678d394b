import { type Dirent, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const compiledRoot = dirname(fileURLToPath(import.meta.url))
const sourceRoot = join(compiledRoot, '..', '..', 'test')

/**
 * Compiled files of the tests below `folder`, or of the single file that it names, as source or as compiled. The
 * sources say which tests exist: `dist` may still hold the test of a removed source.
 */
export function testFiles(folder: string): string[] {
  const name = folder.replace(/^(dist\/)?test\//, '')
  if (/\.test\.[tj]s$/.test(name)) return [join(compiledRoot, compiledName(name))]
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
