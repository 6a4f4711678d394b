import assert from 'node:assert/strict'
import test from 'node:test'
import { fuzz } from '../fuzz/fuzzer.js'
import { startDataWorld } from '../support/httpWorld.js'
import { fetchRaw } from '../support/rawHttp.js'
import { bothTransports } from './eachTransport.js'

const SEED = 20_261
const REQUESTS = 3_000

for (const transport of bothTransports()) {
  test(`${transport.name}: ${REQUESTS} requests of a grammar, some split, some left incomplete, each get the one status that is right (seed ${SEED})`, async (context) => {
    const { server, pool, logLines } = await startDataWorld(context, undefined, transport)
    const report = await fuzz({
      port: server.port,
      seed: SEED,
      connections: 16,
      refusesHighBytes: transport.name === 'node:http',
      goOn: (made) => made < REQUESTS,
    })
    assert.deepEqual(report.faults, [])
    // The grammar must reach the statuses that it is written for.
    for (const status of [200, 204, 400, 404, 405, 414])
      assert.ok((report.byStatus.get(status) ?? 0) > 10, `${status}`)
    assert.ok(report.aborted > 10)
    assert.equal((await fetchRaw(server.port, 'GET', '/livez')).status, 200)
    assert.deepEqual([server.stats().pending, pool.isAlive(), logLines], [0, true, []])
  })

  test(`${transport.name}: a client that heeds Connection: close loses no answer where answers without a body are never sent`, async (context) => {
    const { server } = await startDataWorld(context, () => 0, transport)
    const report = await fuzz({
      port: server.port,
      seed: SEED,
      connections: 16,
      refusesHighBytes: transport.name === 'node:http',
      goOn: (made) => made < REQUESTS,
    })
    assert.deepEqual(report.faults, [])
    // node:http needs no such answers to notice a client that reads nothing.
    assert.equal(report.byStatus.get(204) === undefined, !transport.noticesBodiless)
  })
}
