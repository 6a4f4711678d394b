import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { absentEndpoints, aggkitPairs } from '../support/aggkitPairs.js'
import { startDataWorld } from '../support/httpWorld.js'
import { fetchRaw } from '../support/rawHttp.js'
import { bothTransports } from './eachTransport.js'

const worlds = await Promise.all(
  bothTransports().map(async (transport) => ({
    transport,
    world: await startDataWorld({ after }, undefined, transport),
  })),
)

for (const { transport, world } of worlds) {
  const ask = (path: string) => fetchRaw(world.port, 'GET', `/aggkit${path}`)

  for (const { endpoint, about, exchanged } of aggkitPairs)
    test(`${transport.name}: aggkit ${endpoint}, ${about}: each answer is that of the description, letter by letter`, async () => {
      // The second time from the cache.
      for (const { query, status = 200, body } of exchanged(world))
        for (const _ of [1, 2]) {
          const response = await ask(`${endpoint}?${query}`)
          assert.equal(response.body, body, query)
          assert.equal(response.status, status, query)
          assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
          if (status === 200) assert.doesNotMatch(body, /error/i)
        }
    })

  test(`${transport.name}: aggkit: what is not there is a text, whatever the method`, async () => {
    for (const [method, path] of [
      ...absentEndpoints.map(([absent]) => ['GET', absent] as const),
      ['GET', '/bridge/v1'],
      ['GET', '/bridge/v1/nothing'],
      ['POST', '/bridge/v1/bridges'],
    ] as const) {
      const { status, body, headers } = await fetchRaw(world.port, method, `/aggkit${path}`, [
        'Content-Length: 0',
      ])
      assert.deepEqual([status, body, headers.get('content-type')], [404, '404 page not found', 'text/plain'])
    }
    const own = await fetchRaw(world.port, 'GET', '/aggkitty')
    assert.match(own.body, /"code":"NOT_FOUND"/)
  })

  test(`${transport.name}: aggkit: health, sync status of each network, and the way to the documents`, async () => {
    for (const path of ['', '/']) {
      const { status, body } = await ask(path)
      assert.equal(status, 200)
      assert.match(
        body,
        /^\{"status":"ok","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d*[1-9])?Z","version":"v\d+\.\d+\.\d+"\}$/,
      )
    }
    const counts = [0, 1, 2].map((networkId) => world.world.network(networkId).deposits().length)
    const told = (networkId: number): string => `"synchronized_deposit_count":${counts[networkId]},`
    for (const [query, layer2] of [
      ['', 1],
      ['network_id=0', 1],
      ['network_id=2', 2],
    ] as const) {
      const { l1_info: l1, l2_info: l2 } = JSON.parse((await ask(`/bridge/v1/sync-status?${query}`)).body)
      assert.ok(JSON.stringify(l1).includes(told(0)), query)
      assert.ok(JSON.stringify(l2).includes(told(layer2)), query)
      assert.deepEqual(Object.keys(l1).slice(0, 4), [
        'contract_deposit_count',
        'synchronized_deposit_count',
        'is_synced',
        'is_active',
      ])
    }
    const unknown = await ask('/bridge/v1/sync-status?network_id=7')
    assert.deepEqual([unknown.status, unknown.body], [400, '{"error":"unsupported network id: 7"}'])
    const swagger = await ask('/bridge/v1/swagger')
    assert.deepEqual([swagger.status, swagger.headers.get('location')], [302, '/docs'])
  })
}
