import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { runStart } from '../../src/devnet/start.js'
import { ownTmpdir } from '../support/tempFolder.js'

const unused = {
  startService: () => Promise.reject(new Error('no service in this test')),
  print: () => undefined,
  signal: new AbortController().signal,
}

test('a port that is in use is reported before anything is started', async (t) => {
  const folder = ownTmpdir(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo

  const options = { httpPort: port, opsPort: 0, roundMs: 0, command: 'bds' }
  await assert.rejects(runStart(options, unused), {
    name: 'DevnetError',
    message: new RegExp(`^port ${port} is taken: .* --port N, .* --port 0$`),
  })
  await assert.rejects(runStart({ ...options, httpPort: 0, opsPort: port }, unused), {
    message: /--ops-port 0$/,
  })
  assert.deepEqual(readdirSync(folder), [])
})

test('when the service fails to start, the chains and their folder are removed', async (t) => {
  const folder = ownTmpdir(t)
  const options = { httpPort: 0, opsPort: 0, roundMs: 0, command: 'bds' }
  await assert.rejects(runStart(options, unused), { message: 'no service in this test' })
  assert.deepEqual(readdirSync(folder), [])
})
