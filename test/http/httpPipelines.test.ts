import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { faultCounts } from '../support/fakeQueryFaults.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { RawConnection, requestText } from '../support/rawHttp.js'
import { until } from '../support/until.js'
import { eachTransport } from './eachTransport.js'

const PAGE = '/bridge/v1/bridges?network_id=1&page_size=2'
const UNKNOWN_DEPOSIT = `/bridge/v1/l1-info-tree-index?network_id=1&deposit_count=${faultCounts.notFound}`

type Asked = readonly [method: string, target: string, headers: readonly string[], status: number]

/** Requests that are at fault. */
const REFUSED: readonly Asked[] = [
  ['GET', '/nowhere', [], 404],
  ['GET', '/bridge/v1/bridges?network_id=x', [], 400],
  ['POST', '/livez', [], 405],
]

/** What a client that pipelines gets answered without a query thread, and the status. */
const FROM_MEMORY: readonly Asked[] = [
  ['GET', '/livez', [], 200],
  ['GET', '/bridge/v1/sync-status', [], 200],
  ['GET', UNKNOWN_DEPOSIT, [], 404],
  ['OPTIONS', PAGE, [], 204],
  ['HEAD', '/docs', [], 200],
  ['GET', '/docs', ['If-None-Match: *'], 304],
  ['GET', PAGE, [], 200],
]

for (const transport of eachTransport()) {
  const start = (context: TestContext) =>
    startHttpWorld(context, {}, { workers: 1, maxQueue: 10_000 }, transport)

  for (const [method, target, headers, status] of FROM_MEMORY) {
    const text = requestText(method, target, headers)
    const hasBody = method !== 'HEAD'

    test(`${transport.name}: eight connections that pipeline 16 × ${method} ${target.slice(0, 25)} at once get every answer`, async (context) => {
      const { port, finished, connectionsCut } = await start(context)
      // The page is in the cache then.
      for (let time = 0; time < 2; time++) await new RawConnection(port).send(text).response(hasBody)
      const before = finished.length
      const connections = Array.from({ length: 8 }, () => new RawConnection(port))
      for (let round = 0; round < 3; round++) {
        for (const connection of connections) connection.send(text.repeat(16))
        for (const connection of connections)
          for (let answer = 0; answer < 16; answer++)
            assert.equal((await connection.response(hasBody)).status, status)
      }
      assert.deepEqual([finished.length - before, connectionsCut()], [3 * 8 * 16, 0])
      for (const connection of connections) connection.destroy()
    })

    test(`${transport.name}: of 2,000 × ${method} ${target.slice(0, 25)} in one piece only few are answered, and the connection is closed and counted`, async (context) => {
      const { port, finished, connectionsCut } = await start(context)
      for (let time = 0; time < 2; time++) await new RawConnection(port).send(text).response(hasBody)
      const before = finished.length
      const attackers = Array.from({ length: 4 }, () => new RawConnection(port).send(text.repeat(2_000)))
      for (const attacker of attackers) await attacker.rest()
      await until(
        () => connectionsCut(),
        (cut) => cut === attackers.length,
        'each connection is counted',
      )
      const answered = finished.length - before
      // Answers without a body do not tell uWebSockets.js' requests apart: there are more of them, for all connections together.
      const most = [200, 404].includes(status) && hasBody ? attackers.length * 32 : 4 * 600
      assert.ok(answered <= most, `${answered} answers`)
      assert.equal((await new RawConnection(port).send(text).response(hasBody)).status, status)
    })
  }

  for (const [method, target, headers, status] of REFUSED) {
    const text = requestText(method, target, headers)

    test(`${transport.name}: after a few × ${method} ${target} in a row the connection that pipelines more of them is closed`, async (context) => {
      const { port, finished, connectionsCut } = await start(context)
      const attackers = Array.from({ length: 16 }, () => new RawConnection(port).send(text.repeat(20)))
      for (const attacker of attackers) await attacker.rest()
      await until(
        () => connectionsCut(),
        (cut) => cut === attackers.length,
        'each connection is counted',
      )
      // Eight until a turn is noticed and eight in it, if each connection comes in a turn of its own.
      assert.ok(finished.length <= attackers.length * 16, `${finished.length} answers`)
    })

    test(`${transport.name}: a client that polls ${method} ${target} on one connection is never closed`, async (context) => {
      const { port, connectionsCut } = await start(context)
      const pollers = Array.from({ length: 30 }, () => new RawConnection(port))
      for (let round = 0; round < 20; round++) {
        for (const poller of pollers) poller.send(text)
        for (const poller of pollers) assert.equal((await poller.response()).status, status)
      }
      assert.equal(connectionsCut(), 0)
      for (const poller of pollers) poller.destroy()
    })
  }

  test(`${transport.name}: while others send thousands of requests at once, a client that sends one at a time gets every answer`, async (context) => {
    const { port } = await start(context)
    const flood = requestText('GET', '/livez').repeat(4_000)
    let isOver = false
    const attack = async (): Promise<void> => {
      while (!isOver) await new RawConnection(port).send(flood).rest()
    }
    const attackers = Array.from({ length: 8 }, attack)
    const honest = new RawConnection(port)
    for (let at = 0; at < 100; at++)
      for (const target of ['/livez', PAGE, '/nowhere'])
        assert.equal(
          (await honest.send(requestText('GET', target)).response()).status,
          target === '/nowhere' ? 404 : 200,
        )
    isOver = true
    await Promise.all(attackers)
    honest.destroy()
  })
}
