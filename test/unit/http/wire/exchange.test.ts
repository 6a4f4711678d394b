import assert from 'node:assert/strict'
import test from 'node:test'
import { Exchange, type ExchangeContext, type Outgoing } from '../../../../src/http/wire/exchange.js'
import { SlowAnswers } from '../../../../src/http/wire/slowAnswers.js'
import type { Wire } from '../../../../src/http/wire/wire.js'
import { newExchangeContext } from '../exchangeContext.js'

const PAGE = Buffer.from(Array.from({ length: 730_000 }, (_, at) => (at * 7) % 253))
const SHORT_PAGE = PAGE.subarray(0, 200_000)
const POINT = Buffer.from('{"a":1}')
const turn = () => new Promise<void>(setImmediate)

/** A connection that takes everything. */
function connection() {
  const parts: Buffer[] = []
  const sizes = new Set<number>()
  let onAborted: () => void = () => undefined
  const wire = {
    writeStatus: () => undefined,
    writeHeader: () => undefined,
    onWritable: () => undefined,
    close: () => onAborted(),
    cork: (write: () => void) => write(),
    onAborted: (handler: () => void) => {
      onAborted = handler
    },
    tryEnd: (part: Uint8Array, size: number) => {
      parts.push(Buffer.from(part))
      sizes.add(size)
      return [true, Buffer.concat(parts).length === size]
    },
  } as unknown as Wire
  return { wire, parts, sizes, leave: () => onAborted(), bytes: () => Buffer.concat(parts) }
}

const answer = (body: Uint8Array): Outgoing => ({
  status: 200,
  body,
  isLent: true,
  cacheControl: 'no-cache',
  lines: '',
  bodyLines: '',
  etag: '"tag"',
})

function send(context: ExchangeContext, body: Uint8Array) {
  const client = connection()
  const exchange = new Exchange(context, client.wire, 'GET', '', false)
  exchange.hold()
  const lent = Uint8Array.from(body)
  exchange.send(answer(lent))
  lent.fill(0)
  return { ...client, exchange }
}

test('pages are given to the transport as a whole while nobody else asks, and in slices once a request for little was answered', async () => {
  const context = newExchangeContext()
  for (let page = 0; page < 3; page++) {
    const { parts, bytes } = send(context, PAGE)
    assert.deepEqual([parts.length, context.sending.size], [1, 0])
    assert.ok(bytes().equals(PAGE))
  }
  assert.equal(send(context, POINT).parts.length, 1)
  const { parts, bytes, sizes } = send(context, PAGE)
  assert.deepEqual([parts.length, context.sending.size], [1, 1])
  while (context.sending.size > 0) await turn()
  assert.equal(parts.length, Math.ceil(PAGE.length / (64 * 1024)))
  assert.ok(bytes().equals(PAGE))
  assert.deepEqual([...sizes], [PAGE.length])
})

for (const [who, act] of [
  ['a client that goes', 'leave'],
  ['a client that is cut off', 'cut'],
] as const)
  test(`${who} in the middle of a page leaves nothing behind, and gets nothing more`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const context = newExchangeContext()
    send(context, POINT)
    const { parts, leave, exchange } = send(context, PAGE)
    if (act === 'leave') leave()
    else exchange.cut()
    assert.equal(context.sending.size, 0)
    const later = async (): Promise<void> => {
      await turn()
      t.mock.timers.tick(60_000)
    }
    for (let turns = 0; turns < 20; turns++) await later()
    assert.equal(parts.length, 1)
    const next = send(context, PAGE)
    while (context.sending.size > 0) await later()
    assert.ok(next.bytes().equals(PAGE))
  })

test('a server that closes sends a page whole, and ends its connection with it', () => {
  const context = newExchangeContext()
  context.isClosing = true
  send(context, POINT)
  const ended: [Uint8Array, boolean][] = []
  const { wire } = connection()
  wire.end = (body, close) => ended.push([Uint8Array.from(body as Uint8Array), close])
  const exchange = new Exchange(context, wire, 'GET', '', false)
  exchange.send(answer(PAGE))
  assert.equal(ended.length, 1)
  assert.ok(ended[0]![1] && PAGE.equals(ended[0]![0]))
})

test('an answer that waits for the next turn goes out as it was, though its memory is written again before', async () => {
  const context = newExchangeContext()
  context.turn.mustWait = () => true
  const { wire, parts, bytes } = connection()
  const lent = Uint8Array.from(POINT)
  new Exchange(context, wire, 'GET', '', false).send(answer(lent))
  lent.fill(0)
  assert.equal(parts.length, 0)
  await turn()
  assert.ok(bytes().equals(POINT))
})

for (const [what, body] of [
  ['a page', SHORT_PAGE],
  ['a long page', PAGE],
] as const)
  test(`of clients that take nothing of ${what} the silent one is cut off, not one that has taken some since`, async () => {
    const cut: string[] = []
    const context: ExchangeContext = {
      ...newExchangeContext(),
      sending: new SlowAnswers(() => undefined, 2.5 * body.length),
    }
    const clients = ['first', 'second', 'third'].map((name) => {
      let taken = 0
      let room = 0
      let more: (offset: number) => boolean = () => false
      const { wire } = connection()
      const close = wire.close
      wire.close = () => {
        cut.push(name)
        return close()
      }
      wire.onWritable = (handler) => {
        more = handler
      }
      wire.tryEnd = (part) => {
        const now = Math.min(room, Buffer.byteLength(part))
        taken += now
        room -= now
        return [now === Buffer.byteLength(part), taken === body.length]
      }
      const ask = (): void => {
        const exchange = new Exchange(context, wire, 'GET', '', false)
        exchange.hold()
        exchange.send(answer(Uint8Array.from(body)))
      }
      const take = (bytes: number): void => {
        room = bytes
        more(taken)
      }
      return { ask, take, taken: () => taken }
    })
    const [first, second, third] = clients
    first!.ask()
    second!.ask()
    first!.take(1_000)
    await turn()
    third!.ask()
    await turn()
    assert.deepEqual([cut, context.sending.size], [['second'], 2])
    for (const client of [first!, third!]) client.take(body.length)
    while (context.sending.size > 0) await turn()
    assert.deepEqual([first!.taken(), second!.taken(), third!.taken()], [body.length, 0, body.length])
  })
