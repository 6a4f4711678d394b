import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startDataWorld } from '../support/httpWorld.js'
import { fetchRaw } from '../support/rawHttp.js'
import { proofPairs, zkevmAbsentEndpoints, zkevmPairs } from '../support/zkevmPairs.js'
import { bothTransports } from './eachTransport.js'

const worlds = await Promise.all(
  bothTransports().map(async (transport) => ({
    transport,
    world: await startDataWorld({ after }, undefined, transport),
  })),
)

for (const { transport, world } of worlds) {
  const ask = (path: string, method = 'GET') =>
    fetchRaw(world.port, method, path, method === 'GET' ? [] : ['Content-Length: 0'])

  for (const [basePath, pairs] of [
    ['/proof', proofPairs],
    ['/zkevm', zkevmPairs],
  ] as const)
    for (const { endpoint, about, exchanged } of pairs)
      test(`${transport.name}: ${basePath}${endpoint}, ${about}: each answer is that of the description, letter by letter`, async () => {
        // The second time from the cache.
        for (const { value = '', query, status = 200, body } of exchanged(world))
          for (const _ of [1, 2]) {
            const path = endpoint.replace(/\{\w+\}/, value)
            const response = await ask(`${basePath}${path}?${query}`)
            assert.equal(response.body, body, query)
            assert.equal(response.status, status, query)
            assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
          }
      })

  test(`${transport.name}: zkevm: what is not there, and what is no GET, is told as grpc-gateway tells it`, async () => {
    const missing = '{"code":5,"message":"Not Found","details":[]}'
    for (const path of [
      ...zkevmAbsentEndpoints.map(([absent]) => absent),
      '',
      '/',
      '/nothing',
      '/bridges',
      '/bridges/',
      '/bridges/a/b',
      '/bridges/a%26b=%zz/',
    ]) {
      const { status, body } = await ask(`/zkevm${path}`)
      assert.deepEqual([status, body], [404, missing], path)
    }
    const { status, body } = await ask('/zkevm/bridge', 'POST')
    assert.deepEqual([status, body], [501, '{"code":12,"message":"Method Not Allowed","details":[]}'])
  })

  test(`${transport.name}: zkevm: version, health, and how far each network is`, async () => {
    assert.match((await ask('/zkevm/api')).body, /^\{"api":"v\d+\.\d+\.\d+"\}$/)
    assert.equal((await ask('/zkevm/healthz')).body, '{"status":"SERVING"}')
    const { sync } = JSON.parse((await ask('/zkevm/sync')).body)
    assert.deepEqual(
      sync.map((network: Record<string, unknown>) => [
        network.network_id,
        network.percentage,
        network.remaining_blocks,
      ]),
      [0, 1, 2].map((networkId) => [networkId, 100, '0']),
    )
    assert.deepEqual(Object.keys(sync[0]), ['network_id', 'percentage', 'remaining_blocks', 'synced'])
  })
}
