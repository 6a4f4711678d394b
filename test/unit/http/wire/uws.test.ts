import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { loadUws, type UwsHost } from '../../../../src/http/wire/uws.js'
import { tempFolder } from '../../../support/tempFolder.js'

/** Installs made-up packages, and a host that looks for packages there. */
function hostWith(context: TestContext, packages: Record<string, { addon?: string; main: string }>): UwsHost {
  const folder = tempFolder(context)
  for (const [name, { addon, main }] of Object.entries(packages)) {
    const home = join(folder, 'node_modules', name)
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'package.json'), JSON.stringify({ name, version: '9.9.9', main: 'uws.js' }))
    writeFileSync(join(home, 'uws.js'), main)
    if (addon !== undefined) writeFileSync(join(home, addon), 'not an addon')
  }
  return {
    require: createRequire(join(folder, 'program.js')),
    platform: 'linux_x64',
    abi: '127',
    nodeVersion: '22.0.0',
    glibc: () => '2.36',
  }
}

const NATIVE = 'uws_linux_x64_127.node'

test('on this machine a native build loads and reports its name and version', () => {
  const core = loadUws()
  assert.match(core.name, /^uWebSockets\.js(-modern)?$/)
  assert.match(core.version, /^20\./)
})

test('without any build the error names the ABI, the required glibc and the present one', (context) => {
  const host = hostWith(context, {
    'uWebSockets.js-modern': {
      addon: NATIVE,
      main: 'throw new Error("libc.so.6: version `GLIBC_2.38\' not found")',
    },
    'uWebSockets.js': { main: 'module.exports = { App() {} }' },
  })
  assert.throws(() => loadUws(host), {
    name: 'OperatorError',
    message:
      'no native build of uWebSockets.js runs on linux_x64, Node 22.0.0 (ABI 127), glibc 2.36: uWebSockets.js-modern 9.9.9 needs GLIBC_2.38; uWebSockets.js 9.9.9 has no build for this Node (uws_linux_x64_127.node)',
  })
})

test('a package that loads without its native addon is refused', (context) => {
  const host = hostWith(context, {
    'uWebSockets.js': { addon: NATIVE, main: 'module.exports = { App() {} }' },
  })
  assert.throws(() => loadUws(host), {
    message:
      /uWebSockets\.js-modern is not installed; uWebSockets\.js 9\.9\.9 offers only its JavaScript fallback$/,
  })
})
