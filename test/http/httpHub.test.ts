import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startDataWorld } from '../support/httpWorld.js'
import { hubAbsentEndpoints, hubPairs } from '../support/hubPairs.js'
import { fetchRaw } from '../support/rawHttp.js'
import { bothTransports } from './eachTransport.js'

const BASE = '/hub/mainnet'

const worlds = await Promise.all(
  bothTransports().map(async (transport) => ({
    transport,
    world: await startDataWorld({ after }, undefined, transport),
  })),
)

for (const { transport, world } of worlds) {
  const ask = (path: string, method = 'GET') =>
    fetchRaw(world.port, method, path, method === 'GET' ? [] : ['Content-Length: 0'])

  for (const { endpoint, about, exchanged } of hubPairs)
    test(`${transport.name}: ${BASE}${endpoint}, ${about}: each answer is that of the description, letter by letter`, async () => {
      // The second time from the cache.
      for (const { value = '', query, status = 200, body } of exchanged(world))
        for (const _ of [1, 2]) {
          const path = endpoint.replace(/\{\w+\}\/\{\w+\}/, value)
          const response = await ask(`${BASE}${path}?${query}`)
          assert.equal(response.body, body, `${value} ${query}`)
          assert.equal(response.status, status, query)
          assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
        }
    })

  test(`${transport.name}: hub: pages that follow the cursor have every bridge once, in both orders`, async () => {
    const count = [0, 1, 2].reduce((sum, id) => sum + world.world.network(id).deposits().length, 0)
    for (const order of ['asc', 'desc']) {
      const seen: string[] = []
      for (let cursor: string | undefined = '0'; cursor !== undefined; ) {
        const { body } = await ask(`${BASE}/transactions?order=${order}&limit=2&startAfter=${cursor}`)
        const { data, pagination } = JSON.parse(body)
        seen.push(...data.map(({ hubUID }: { hubUID: string }) => hubUID))
        cursor = pagination.nextStartAfterCursor
      }
      assert.equal(new Set(seen).size, count)
      assert.equal(seen.length, count)
      const sorted = [...seen].sort()
      const times = (uids: readonly string[]) => uids.map((uid) => uid.slice(0, 10))
      assert.deepEqual(times(seen), times(order === 'asc' ? sorted : sorted.reverse()))
    }
  })

  test(`${transport.name}: hub: what is not there, and other environments, are told as there`, async () => {
    const paths = [
      ...hubAbsentEndpoints.map(([path]) => BASE + path.replace(/\{\w+\}/g, '1')),
      ...['/', '/nothing', '/transactions/1', '/transactions/1/2/3', '/claim-proof/1'].map(
        (path) => BASE + path,
      ),
    ]
    for (const path of paths) {
      const { status, body } = await ask(path)
      const told = JSON.parse(body)
      assert.deepEqual([status, told.status, told.code], [404, 'error', 404], path)
    }
    assert.equal((await ask('/hub/testnet/transactions')).status, 404)
    assert.equal(JSON.parse((await ask(`${BASE}/transactions`, 'POST')).body).code, 405)
  })
}
