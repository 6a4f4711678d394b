import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BridgeApiError, BridgeResponseError, createBridgeClient } from '../../../src/client/bridgeClient.js'
import type { EventsOptions } from '../../../src/client/readEvents.js'
import { apiError, type ScriptedServer, type Step, scriptedServer, testClock } from './scriptedServer.js'

const BEGIN = '1.00000000aaaa:4'

/** An event as the service sends it, at this sequence. */
const halted = (sequence: number, reason: string): string =>
  `id: 1.00000000aaaa:${sequence}\nevent: halted\ndata: ${JSON.stringify({
    ...{ id: `1.00000000aaaa:${sequence}`, type: 'halted', network_id: 1, reason },
  })}\n\n`

/** A stream that ends, or breaks, behind these parts. */
function stream(parts: readonly string[], end: 'ends' | 'breaks' | 'stays' = 'ends'): Step {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) response.write(part)
    if (end === 'ends') response.end()
    if (end === 'breaks') setImmediate(() => response.destroy())
  }
}

/** Reads so many events, and what each said. */
async function read(
  { url }: ScriptedServer,
  count: number,
  options: EventsOptions = {},
  clock = testClock(),
) {
  const found: (string | undefined)[] = []
  const client = createBridgeClient({ baseUrl: url, clock })
  if (count === 0) return found
  for await (const event of client.events({ networkIds: [1], types: ['halted', 'sync'] }, options)) {
    found.push(`${event.type === 'halted' ? event.reason : event.type} at ${event.position}`)
    if (found.length === count) break
  }
  return found
}

test('a connection that ends or breaks, or is refused for now, is made anew behind the last event', async (context) => {
  const server = await scriptedServer(
    context,
    stream([`:\nid: ${BEGIN}\n\n`, halted(5, 'a'), halted(6, 'b').slice(0, 20)], 'breaks'),
    apiError(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '7' }),
    stream([`retry: 3000\n\n`, halted(6, 'b')]),
    stream([halted(7, 'c')], 'stays'),
  )
  const clock = testClock(0)
  assert.deepEqual(await read(server, 3, {}, clock), [
    'a at 1.00000000aaaa:5',
    'b at 1.00000000aaaa:6',
    'c at 1.00000000aaaa:7',
  ])
  assert.deepEqual(
    server.requests.map((line) => new URL(line.split(' ')[1]!, server.url).searchParams.get('after')),
    [null, '1.00000000aaaa:5', '1.00000000aaaa:5', '1.00000000aaaa:6'],
  )
  assert.equal(server.requests[0], 'GET /bridge/v1/events?network_ids=1&types=halted%2Csync')
  // Without chance only what the service has asked for is waited for.
  assert.deepEqual(clock.sleeps, [0, 7_000, 3_000])
})

test('lists are read where the events begin, and again where they are gone', async (context) => {
  const server = await scriptedServer(
    context,
    stream([`:\nid: ${BEGIN}\n\n`, halted(5, 'a')]),
    apiError(410, 'POSITION_GONE'),
    stream([`:\nid: 1.00000000bbbb:0\n\n`, halted(9, 'b')], 'stays'),
  )
  const starts: string[] = []
  const onStart = (position: string): void => void starts.push(position)
  assert.equal((await read(server, 2, { onStart })).length, 2)
  assert.deepEqual(starts, [BEGIN, '1.00000000bbbb:0'])
})

test('without anybody who reads the lists, events that are gone are an error; and so is what asking again can not cure', async (context) => {
  const gone = await scriptedServer(context, apiError(410, 'POSITION_GONE'))
  await assert.rejects(
    read(gone, 1, { after: BEGIN }),
    (error) => error instanceof BridgeApiError && error.code === 'POSITION_GONE',
  )
  const odd = await scriptedServer(context, stream(['id: 1\ndata: {"type":"halted"}\n\n'], 'stays'))
  await assert.rejects(
    read(odd, 1),
    (error) => error instanceof BridgeResponseError && error.code === 'WRONG_SHAPE',
  )
})

test('an event of a type that the client does not know is left out', async (context) => {
  const server = await scriptedServer(
    context,
    stream(['id: 1.00000000aaaa:5\nevent: later\ndata: {"type":"later"}\n\n', halted(6, 'a')], 'stays'),
  )
  assert.deepEqual(await read(server, 1), ['a at 1.00000000aaaa:6'])
})

test('a connection that says nothing is given up, and an aborted signal ends the iterator with its reason', async (context) => {
  const server = await scriptedServer(context, stream([':\n\n'], 'stays'), stream([halted(5, 'a')], 'stays'))
  assert.deepEqual(await read(server, 1, { silenceMs: 20 }), ['a at 1.00000000aaaa:5'])
  const abort = new AbortController()
  const reading = read(server, 2, { signal: abort.signal, onStart: () => abort.abort(new Error('enough')) })
  await assert.rejects(reading, /enough/)
})
