import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { startHttpWorld } from '../support/httpWorld.js'
import { RawConnection, requestText } from '../support/rawHttp.js'
import { until } from '../support/until.js'
import { eachTransport } from './eachTransport.js'

const PAGE = '/bridge/v1/bridges?network_id=1&page_size=2'

/** What a client that pipelines gets answered without a query thread, and the status. */
const FROM_MEMORY: readonly (readonly [
  method: string,
  target: string,
  headers: readonly string[],
  status: number,
])[] = [
  ['GET', '/livez', [], 200],
  ['GET', '/bridge/v1/sync-status', [], 200],
  ['GET', '/nowhere', [], 404],
  ['GET', '/bridge/v1/bridges?network_id=x', [], 400],
  ['POST', '/livez', [], 405],
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
      const most = [200, 404, 400, 405].includes(status) && hasBody ? attackers.length * 32 : 4 * 600
      assert.ok(answered <= most, `${answered} answers`)
      assert.equal((await new RawConnection(port).send(text).response(hasBody)).status, status)
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
