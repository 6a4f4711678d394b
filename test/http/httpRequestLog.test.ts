import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Config } from '../../src/config/config.types.js'
import { arrivalAt, faultCounts, letGo } from '../support/fakeQueryFaults.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { until } from '../support/until.js'
import { eachTransport } from './eachTransport.js'

const BRIDGES = '/bridge/v1/bridges'
const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count='
const POOL = { workers: 1, maxQueue: 10_000 }

for (const transport of eachTransport()) {
  const start = async (context: TestContext, log: Partial<Config['log']>) => {
    const world = await startHttpWorld(context, {}, POOL, transport, {}, undefined, log)
    const records = () =>
      world.logLines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => msg === 'request')
    return { ...world, records }
  }

  test(`${transport.name}: each answer has a line with the id that the client sent or gets`, async (context) => {
    const { port, records } = await start(context, { level: 'debug' })
    // Refused, so that no shared cache may have the answer.
    const own = await fetchRaw(port, 'GET', `${BRIDGES}?network_id=77`)
    await fetchRaw(port, 'GET', `${BRIDGES}?network_id=1`, ['X-Request-Id: mine-1'])
    await fetchRaw(port, 'HEAD', '/nowhere', ['X-Request-Id: bad id'])
    const [refused, answered, unknown] = records()
    assert.match(String(refused!.request_id), /^[\da-f]{12}-\w+$/)
    assert.equal(own.headers.get('x-request-id'), refused!.request_id)
    assert.deepEqual(
      [refused, answered, unknown].map((line) => [line!.method, line!.route, line!.status, line!.client]),
      [
        ['GET', BRIDGES, 400, '127.0.0.1'],
        ['GET', BRIDGES, 200, '127.0.0.1'],
        ['HEAD', 'unknown', 404, '127.0.0.1'],
      ],
    )
    assert.equal(answered!.request_id, 'mine-1')
    assert.ok(Number(answered!.duration_ms) > 0)
    assert.notEqual(unknown!.request_id, 'bad id')
  })

  test(`${transport.name}: a request whose client goes away has a line`, async (context) => {
    const { port, gate, records } = await start(context, { requests: 'all' })
    const connection = new RawConnection(port)
    connection.send(requestText('GET', `${INDEX}${faultCounts.hold}`))
    await arrivalAt(gate)
    connection.destroy()
    const [line] = await until(
      async () => records(),
      (lines) => lines.length > 0,
      'the line',
      // Without a line the pool must not wait for the gate for ever.
    ).finally(() => letGo(gate))
    assert.deepEqual([line!.aborted, line!.status, line!.route], [true, undefined, INDEX.split('?')[0]])
  })

  test(`${transport.name}: no line, and no id, where no lines are asked for`, async (context) => {
    for (const log of [{}, { level: 'debug', requests: 'off' }, { requests: 'failed' }] as const) {
      const { port, records } = await start(context, log)
      const { headers } = await fetchRaw(port, 'GET', `${BRIDGES}?network_id=77`)
      assert.equal(headers.get('x-request-id'), undefined)
      assert.deepEqual(records(), [])
    }
  })
}
