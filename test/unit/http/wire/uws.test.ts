import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fitToOlderGlibc } from '../../../../src/http/wire/olderGlibc.js'
import { type ListenSocket, loadEachUws, loadUws, type UwsHost } from '../../../../src/http/wire/uws.js'
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

/** The packages have native builds for these lines. */
const HAS_BUILD = ['20', '22', '24'].includes(process.versions.node.split('.')[0]!)

test('a native build loads on Node 20, 22 and 24, and reports its name and version; on newer lines none does', () => {
  if (!HAS_BUILD) {
    assert.throws(() => loadUws(), /^OperatorError: no native build of uWebSockets\.js runs on /)
    return
  }
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
  assert.throws(() => loadUws(true, host), {
    name: 'OperatorError',
    message:
      'no native build of uWebSockets.js runs on linux_x64, Node 22.0.0 (ABI 127), glibc 2.36: uWebSockets.js-modern 9.9.9 needs GLIBC_2.38; uWebSockets.js 9.9.9 has no build for this Node (uws_linux_x64_127.node); uWebSockets.js-modern 9.9.9 is not adapted: uws_linux_x64_127.node is not the file that was checked',
  })
})

test('a package that loads without its native addon is refused', (context) => {
  const host = hostWith(context, {
    'uWebSockets.js': { addon: NATIVE, main: 'module.exports = { App() {} }' },
  })
  assert.throws(() => loadUws(true, host), {
    message:
      /uWebSockets\.js-modern is not installed; uWebSockets\.js 9\.9\.9 offers only its JavaScript fallback; no copy of uWebSockets\.js-modern can be adapted: it is not installed$/,
  })
})

test('a copy is adapted only where the configuration allows it', (context) => {
  const host = hostWith(context, {
    'uWebSockets.js-modern': { addon: NATIVE, main: 'throw new Error("needs GLIBC_2.38")' },
  })
  assert.throws(
    () => loadUws(false, host),
    (error: Error) => !error.message.includes('adapted'),
  )
})

test('a glibc older than 2.36 gets no adapted copy, and the error says so', (context) => {
  const host = hostWith(context, {
    'uWebSockets.js-modern': { addon: NATIVE, main: 'throw new Error("needs GLIBC_2.38")' },
  })
  assert.throws(() => loadUws(true, { ...host, glibc: () => '2.35' }), {
    message: /uWebSockets\.js-modern 9\.9\.9 can be adapted to glibc 2\.36 and newer only$/,
  })
})

test('the adapted copy of the modern build loads where there is a build to adapt, serves, and leaves no file behind', async () => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('bds-uws-'))
  const cores = loadEachUws()
  const adapted = cores.find(({ version }) => version.includes('adapted'))
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => name.startsWith('bds-uws-')),
    before,
  )
  assert.equal(adapted !== undefined, HAS_BUILD, cores.map(({ version }) => version).join(', '))
  if (adapted === undefined) return
  const app = adapted.createApp()
  app.get('/', (response) => void response.end('served'))
  const socket = await new Promise<ListenSocket | false>((resolve) => app.listen('127.0.0.1', 0, 1, resolve))
  assert.ok(socket !== false)
  assert.equal(await (await fetch(`http://127.0.0.1:${adapted.portOf(socket)}`)).text(), 'served')
  app.close()
})

test('what is no addon of the kind that can be adapted is left alone', () => {
  for (const bytes of [new Uint8Array(0), new Uint8Array(64), Buffer.from('not an addon')])
    assert.equal(fitToOlderGlibc(bytes), undefined)
})

test('without a temporary folder there is no adapted copy, and the other builds still load', (context) => {
  const { TMPDIR } = process.env
  context.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  process.env.TMPDIR = join(tempFolder(context), 'missing')
  for (const { version } of loadEachUws()) assert.doesNotMatch(version, /adapted/)
})
