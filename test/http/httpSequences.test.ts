import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { openApiDocument } from '../../src/api/docs/openapi.js'
import { statusRow } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { fetchRaw } from '../support/rawHttp.js'
import { until } from '../support/until.js'
import { eachTransport } from './eachTransport.js'

const BRIDGES = '/bridge/v1/bridges?network_id=1'
const POOL = { workers: 1, maxQueue: 10_000 }
/** What the description says of `min_sequence`. */
const { items, minItems, maxItems } = minSequenceSchema()
const CLUSTER = { maxLagMs: 5_000, maxStaleMs: 5_000 } as Config['cluster']

function minSequenceSchema() {
  const { paths } = openApiDocument('1.0.0') as {
    paths: Record<string, { get: { parameters: { name: string; schema: object }[] } }>
  }
  const { parameters } = paths['/bridge/v1/bridges']!.get
  return parameters.find(({ name }) => name === 'min_sequence')!.schema as {
    items: { pattern: string }
    minItems: number
    maxItems: number
  }
}

for (const transport of eachTransport()) {
  /** Network 1 is stored up to block 45, and its log up to 7. */
  const start = async (context: TestContext, deadlineMs: number, cluster = CLUSTER) => {
    const world = await startHttpWorld(context, { deadlineMs }, POOL, transport, {}, undefined, {}, cluster)
    const row = statusRow(world.status, 1)
    row.set('syncedBlock', 45)
    row.set('logSequence', 7)
    row.add('commits', 1)
    return { ...world, row, ask: (query: string) => fetchRaw(world.port, 'GET', `${BRIDGES}${query}`) }
  }

  test(`${transport.name}: answers of a cluster name the blocks that they are of, kept ones and those for shared caches, too`, async (context) => {
    const { ask, row } = await start(context, 10_000)
    for (let time = 0; time < 3; time++) {
      const { status, headers } = await ask('')
      assert.deepEqual([status, headers.get('x-data-block')], [200, '1=45'])
      assert.match(headers.get('cache-control')!, /public/)
    }
    row.set('syncedBlock', 46)
    row.add('commits', 1)
    assert.equal((await ask('')).headers.get('x-data-block'), '1=46')
    assert.equal((await ask('&deposit_count=x')).headers.get('x-data-block'), '1=46')
  })

  test(`${transport.name}: requests wait for their places in a log, and each is answered once`, async (context) => {
    const { ask, row, server, finished } = await start(context, 10_000)
    assert.equal((await ask('&min_sequence=1:7')).status, 200)
    const waiting = [8, 8, 9].map((sequence) => ask(`&min_sequence=1:${sequence}`))
    await until(
      () => server.stats().pending,
      (pending) => pending === 3,
      'all wait',
    )
    row.set('logSequence', 8)
    for (const each of waiting.slice(0, 2)) assert.equal((await each).status, 200)
    assert.equal(server.stats().pending, 1)
    row.set('logSequence', 9)
    assert.equal((await waiting[2]!).status, 200)
    assert.equal(server.stats().pending, 0)
    assert.equal(finished.length, 4)
  })

  test(`${transport.name}: a request for what is not stored in time is a 503 that says when to come again`, async (context) => {
    const { ask } = await start(context, 100)
    const { status, headers, body } = await ask('&min_sequence=1:8')
    assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
    assert.match(body, /the log of network 1 is stored up to 7 here, min_sequence asks for 8/)
  })

  test(`${transport.name}: places in a log are taken exactly as the OpenAPI document describes them`, async (context) => {
    const { ask } = await start(context, 10_000)
    const asked = ['', '1', '1:', ':1', '01:7', '1:07', '1:7', '1:0,0:0', '1:7,', '1:7'.repeat(6)]
    for (const count of [53, 54]) asked.push(new Array(count).fill('1:7').join())
    for (const text of asked) {
      // An array without items is written as an empty text.
      const places = text === '' ? [] : text.split(',')
      const isAllowed =
        places.length >= minItems &&
        places.length <= maxItems &&
        places.every((place) => new RegExp(items.pattern).test(place))
      const { status, body } = await ask(`&min_sequence=${text}`)
      assert.equal(status, isAllowed ? 200 : 400, `${text}: ${body}`)
    }
  })

  test(`${transport.name}: a service that is alone names no blocks, and has no log to wait for`, async (context) => {
    const world = await startHttpWorld(context, {}, POOL, transport)
    statusRow(world.status, 1).set('syncedBlock', 45)
    const plain = await fetchRaw(world.port, 'GET', BRIDGES)
    assert.deepEqual([plain.status, plain.headers.get('x-data-block')], [200, undefined])
    const { status, body } = await fetchRaw(world.port, 'GET', `${BRIDGES}&min_sequence=1:7`)
    assert.equal(status, 400)
    assert.match(body, /"INVALID_PARAMETER".*min_sequence is for services of a cluster/)
  })
}
