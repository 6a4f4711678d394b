import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { tempFolder } from '../support/tempFolder.js'

/** An environment in which a process of Node finds no package whose name begins with `prefix`. */
export function withoutPackages(context: TestContext, prefix: string): Readonly<Record<string, string>> {
  const hook = join(tempFolder(context), 'without.cjs')
  writeFileSync(
    hook,
    `const Module = require('node:module')
const resolve = Module._resolveFilename
Module._resolveFilename = function (name, ...rest) {
  if (name.startsWith(${JSON.stringify(prefix)})) throw new Error('not installed')
  return resolve.call(this, name, ...rest)
}`,
  )
  return { NODE_OPTIONS: `--require ${hook}` }
}
