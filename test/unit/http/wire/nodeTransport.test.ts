import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test from 'node:test'
import { nodeTransport } from '../../../../src/http/wire/nodeTransport.js'
import { MAX_PER_TURN, Turn } from '../../../../src/http/wire/turn.js'
import type { RequestHandler } from '../../../../src/http/wire/wire.js'
import { RawConnection, requestText } from '../../../support/rawHttp.js'

const nothing = (): undefined => undefined

/** @returns how many of 2,000 requests that one connection sends in one piece node:http has made objects of. */
async function parsedOf(onRequest: RequestHandler): Promise<number> {
  const opened = await nodeTransport.open({
    ...{ host: '127.0.0.1', port: 0, cells: 1, otherFiles: undefined },
    ...{ onRequest, onGet: new Map(), socketPaths: [], turn: new Turn(nothing) },
    connections: {
      max: Number.POSITIVE_INFINITY,
      ...{ arrive: () => true, leave: nothing, recount: nothing, refuse: nothing },
    },
  })
  let parsed = 0
  const count = (): void => void parsed++
  subscribe('http.server.request.start', count)
  const client = new RawConnection(opened.port)
  await client.send(requestText('GET', '/livez').repeat(2_000)).rest()
  unsubscribe('http.server.request.start', count)
  opened.close()
  return parsed
}

test('of 2,000 requests in one piece no more are parsed than one connection may have in a turn', async () => {
  const parsed = await parsedOf((wire) => wire.end('alive', false))
  assert.ok(parsed > 1 && parsed <= MAX_PER_TURN + 1, `${parsed} were parsed`)
})

test('nothing is parsed behind a request that waits for its answer', async () => {
  assert.equal(await parsedOf(nothing), 2)
})

test('nothing is parsed behind the answer that ends its connection', async () => {
  assert.equal(await parsedOf((wire) => wire.end('refused', true)), 1)
})
