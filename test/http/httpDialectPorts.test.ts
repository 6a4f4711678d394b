import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OperatorError } from '../../src/errors/operatorError.js'
import { startDataWorld, usualTransport } from '../support/httpWorld.js'
import { fetchRaw } from '../support/rawHttp.js'
import { bothTransports } from './eachTransport.js'

const onPorts = {
  aggkit: { basePath: '/aggkit', port: 0, release: 'latest' },
  zkevm: { basePath: '/zkevm', port: 0 },
  proof: { basePath: '/proof' },
} as const

const worlds = await Promise.all(
  bothTransports().map(async (transport) => ({
    transport,
    world: await startDataWorld({ after }, undefined, transport, onPorts),
  })),
)

for (const { transport, world } of worlds) {
  const ask = async (port: number, path: string, method = 'GET') => {
    const { status, body, headers } = await fetchRaw(port, method, path)
    return { status, body, etag: headers.get('etag') }
  }
  const aggkit = world.server.dialectPorts.get('aggkit')!
  const zkevm = world.server.dialectPorts.get('zkevm')!

  test(`${transport.name}: a dialect on its own port answers as below its base path`, async () => {
    const { networkId, depositCount, destinationAddress } = world.ready
    for (const [port, basePath, paths] of [
      [
        aggkit,
        '/aggkit',
        [
          '/bridge/v1/bridges?network_id=0',
          '/bridge/v1/bridges/?network_id=0',
          `/bridge/v1/claim-proof?network_id=${networkId}&deposit_count=${depositCount}&leaf_index=2`,
          '/bridge/v1/bridges?network_id=77',
          '/bridge/v1/nothing',
        ],
      ],
      [
        zkevm,
        '/zkevm',
        ['/api', `/bridges/${destinationAddress}?limit=3`, '/bridge?net_id=0&deposit_cnt=4000'],
      ],
    ] as const)
      for (const path of paths)
        assert.deepEqual(await ask(port, path), await ask(world.port, basePath + path), path)
    assert.equal(JSON.parse((await ask(aggkit, '/')).body).status, 'ok')
  })

  test(`${transport.name}: nothing else is answered on the port of a dialect`, async () => {
    for (const path of ['/livez', '/docs', '/bridge/v1/networks', '/aggkit/bridge/v1/bridges', '/zkevm/api'])
      assert.deepEqual(
        await ask(aggkit, path),
        { status: 404, body: '404 page not found', etag: undefined },
        path,
      )
    const missing = '{"code":5,"message":"Not Found","details":[]}'
    for (const path of ['/', '/bridge/v1/bridges', '/zkevm/api', '/explorer'])
      assert.deepEqual(await ask(zkevm, path), { status: 404, body: missing, etag: undefined }, path)
    assert.equal(world.server.dialectPorts.has('proof'), false)
  })

  test(`${transport.name}: a client has one bucket of tokens for all ports`, async () => {
    const { rateLimit } = world.indexed.config
    world.server.setRateLimit({ ...rateLimit, tokensPerSec: 0.001, burst: 2 })
    const statuses: number[] = []
    for (let round = 0; round < 8; round++)
      for (const port of [aggkit, world.port])
        statuses.push((await ask(port, '/bridge/v1/bridges?network_id=0')).status)
    world.server.setRateLimit(rateLimit)
    const answered = statuses.filter((status) => status === 200).length
    assert.ok(answered > 0 && answered < 8, statuses.join())
    assert.equal(statuses.at(-1), 429)
    assert.equal(statuses.at(-2), 429)
  })
}

test('a port of a dialect that is taken ends the start, and is told', async (context) => {
  const taken = worlds[0]!.world.port
  const first = { ...onPorts, aggkit: { ...onPorts.aggkit, port: taken } }
  await assert.rejects(startDataWorld(context, undefined, usualTransport(), first), (error) => {
    assert.ok(error instanceof OperatorError)
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${taken}`))
    return true
  })
})
