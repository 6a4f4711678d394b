import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { devnetFolderPrefix } from '../../../src/devnet/devnet.js'
import { findRunningDevnet, removeDeadDevnets } from '../../../src/devnet/runningDevnets.js'
import { ownTmpdir } from '../../support/tempFolder.js'

/** A folder for temporary files with one devnet per entry. Without an entry a devnet has not written its file yet. */
function placeDevnets(
  t: TestContext,
  devnets: Record<string, { pid: number; serviceUrl: string } | undefined>,
): string {
  const folder = ownTmpdir(t)
  for (const [name, description] of Object.entries(devnets)) {
    mkdirSync(join(folder, devnetFolderPrefix + name))
    if (description !== undefined)
      writeFileSync(join(folder, devnetFolderPrefix + name, 'devnet.json'), JSON.stringify(description))
  }
  return folder
}

const alive = process.pid
/** Above the highest id that Linux gives a process. */
const dead = 2 ** 22 + 1

test('the one devnet whose process is alive is found', (t) => {
  placeDevnets(t, {
    a: { pid: dead, serviceUrl: 'http://127.0.0.1:1' },
    b: { pid: alive, serviceUrl: 'http://127.0.0.1:2' },
    c: undefined,
  })
  assert.equal(findRunningDevnet().serviceUrl, 'http://127.0.0.1:2')
})

test('without a running devnet the error says how to start one', (t) => {
  placeDevnets(t, { a: { pid: dead, serviceUrl: 'http://127.0.0.1:1' } })
  assert.throws(() => findRunningDevnet(), {
    name: 'DevnetError',
    message: 'no devnet is running: start one with bds start',
  })
})

test('with several devnets the error asks to name one by its address', (t) => {
  placeDevnets(t, {
    a: { pid: alive, serviceUrl: 'http://127.0.0.1:1' },
    b: { pid: alive, serviceUrl: 'http://127.0.0.1:2' },
  })
  assert.throws(() => findRunningDevnet(), { message: /several.*--url http:\/\/127\.0\.0\.1:\d or --url/ })
  assert.equal(findRunningDevnet('http://127.0.0.1:2/').serviceUrl, 'http://127.0.0.1:2')
  assert.throws(() => findRunningDevnet('http://127.0.0.1:3'), {
    message: /no devnet serves at http:\/\/127\.0\.0\.1:3/,
  })
})

test('folders of dead devnets are removed, those of running and starting ones stay', (t) => {
  const folder = placeDevnets(t, {
    dead: { pid: dead, serviceUrl: 'http://127.0.0.1:1' },
    living: { pid: alive, serviceUrl: 'http://127.0.0.1:2' },
    starting: undefined,
  })
  removeDeadDevnets()
  assert.deepEqual(
    readdirSync(folder).sort(),
    ['living', 'starting'].map((name) => devnetFolderPrefix + name),
  )
})
