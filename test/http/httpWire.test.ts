import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { statusRow } from '../../src/board/statusBoard.js'
import { arrivalAt, faultCounts, letGo } from '../support/fakeQueryFaults.js'
import { type HttpSettings, startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, checkedBody, fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { eachTransport } from './eachTransport.js'

const BRIDGES = '/bridge/v1/bridges?network_id=1&page_size=2'
const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count='

for (const transport of eachTransport()) {
  const start = (context: TestContext, http: HttpSettings = {}, pool = { workers: 1, maxQueue: 10_000 }) =>
    startHttpWorld(context, http, pool, transport)

  test(`${transport.name}: a request that arrives byte by byte is answered`, async (context) => {
    const { port } = await start(context)
    for (const target of [BRIDGES, '/livez']) {
      const connection = new RawConnection(port)
      await connection.sendSlowly(requestText('GET', target))
      const response = await connection.response()
      assert.equal(response.status, 200)
      checkedBody(target, response)
      connection.destroy()
    }
  })

  test(`${transport.name}: pipelined requests that are answered from memory get whole answers in order`, async (context) => {
    const { port } = await start(context)
    const targets = ['/livez', '/bridge/v1/sync-status', '/nowhere', '/bridge/v1/bridges?network_id=x', '/']
    const connection = new RawConnection(port)
    connection.send(targets.map((target) => requestText('GET', target)).join(''))
    const statuses: number[] = []
    for (const _ of targets) statuses.push((await connection.response()).status)
    assert.deepEqual(statuses, [200, 200, 404, 400, 200])
    connection.destroy()
  })

  test(`${transport.name}: a request that arrives while another one is pending ends the connection without a wrong or partial answer`, async (context) => {
    const { port, aborted } = await start(context)
    const connection = new RawConnection(port)
    connection.send(requestText('GET', BRIDGES) + requestText('GET', '/livez'))
    assert.equal(await connection.rest(), '')
    assert.deepEqual(aborted, ['getBridges'])
    assert.equal((await fetchRaw(port, 'GET', BRIDGES)).status, 200)
  })

  test(`${transport.name}: the server serves on after a thousand clients disconnected before their answer`, async (context) => {
    const { port, server, gate, aborted, finished, logLines } = await start(context)
    const held = fetchRaw(port, 'GET', `${INDEX}${faultCounts.hold}`)
    await arrivalAt(gate)
    const leavers = Array.from({ length: 1_000 }, (_, at) => {
      const connection = new RawConnection(port)
      // Half of the clients disconnect before their request is complete.
      connection.send(at % 2 === 0 ? requestText('GET', `${INDEX}${at}`) : 'GET /bridge/v1/bri')
      return connection
    })
    // All 500 complete requests have arrived, and wait behind the held one.
    while (server.stats().pending < 501) await new Promise(setImmediate)
    for (const connection of leavers) connection.destroy()
    while (aborted.length < 500) await new Promise(setImmediate)
    assert.equal(server.stats().pending, 1)
    letGo(gate)
    assert.equal((await held).status, 200)
    assert.equal((await fetchRaw(port, 'GET', BRIDGES)).status, 200)
    assert.deepEqual([aborted.length, finished.length, logLines], [500, 2, []])
  })

  test(`${transport.name}: a request past its deadline is a 504, and its late answer is dropped`, async (context) => {
    const { port, gate, logLines } = await start(context, { deadlineMs: 50 })
    const connection = new RawConnection(port)
    connection.send(requestText('GET', `${INDEX}${faultCounts.hold}`))
    await arrivalAt(gate)
    assertRefusal(await connection.response(), 504, 'DEADLINE_EXCEEDED', 'no answer within 50 ms')
    letGo(gate)
    // The next answer on this connection belongs to the next request.
    const next = await connection.send(requestText('GET', `${INDEX}5`)).response()
    assert.equal(JSON.parse(next.body).timestamp, 5)
    assert.deepEqual(logLines, [])
    connection.destroy()
  })

  test(`${transport.name}: a full queue is a 503 at once`, async (context) => {
    const { port, gate, pool } = await start(context, {}, { workers: 1, maxQueue: 2 })
    const held = fetchRaw(port, 'GET', `${INDEX}${faultCounts.hold}`)
    await arrivalAt(gate)
    const waiting = [2, 3].map((count) => fetchRaw(port, 'GET', `${INDEX}${count}`))
    while (pool.stats().waiting < 2) await new Promise(setImmediate)
    const refused = await fetchRaw(port, 'GET', `${INDEX}4`)
    assertRefusal(refused, 503, 'SERVICE_UNAVAILABLE', 'too many requests are waiting')
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.equal((await fetchRaw(port, 'GET', '/livez')).status, 200)
    letGo(gate)
    for (const { status } of await Promise.all([held, ...waiting])) assert.equal(status, 200)
  })

  test(`${transport.name}: a port that is in use is an error that says so, and is never shared`, async (context) => {
    const world = await start(context)
    await assert.rejects(start(context, { port: world.port }), {
      name: 'OperatorError',
      message: `can't listen on 127.0.0.1:${world.port}: the port is taken by another process`,
    })
  })

  test(`${transport.name}: an answer from the cache has the same bytes, and a commit replaces it`, async (context) => {
    const { port, server, batchSizes, status } = await start(context)
    const first = await fetchRaw(port, 'GET', BRIDGES)
    const second = await fetchRaw(port, 'GET', '/bridge/v1/bridges?page_size=2&network_id=1&utm=3')
    assert.equal(second.body, first.body)
    assert.deepEqual([batchSizes.length, server.stats().cache.hits], [1, 1])
    statusRow(status, 0).add('commits', 1)
    await fetchRaw(port, 'GET', BRIDGES)
    assert.equal(batchSizes.length, 2)
  })

  test(`${transport.name}: draining ends each keep-alive connection after its answer and closes the port`, async (context) => {
    const { server, port, gate } = await start(context)
    const idle = new RawConnection(port)
    await idle.send(requestText('GET', '/livez')).response()
    const busy = new RawConnection(port)
    busy.send(requestText('GET', `${INDEX}${faultCounts.hold}`))
    await arrivalAt(gate)
    const drained = server.drain(0)
    // Until the port is closed, new connections are answered.
    let isOpen = true
    while (isOpen)
      isOpen = await fetchRaw(port, 'GET', '/livez').then(
        () => true,
        () => false,
      )
    letGo(gate)
    const answer = await busy.response()
    assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close'])
    await drained
    assert.equal(await idle.rest(), '')
  })
}
