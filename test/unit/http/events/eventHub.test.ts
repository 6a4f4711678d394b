import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import { NO_VERSION } from '../../../../src/board/version.js'
import { EventFilter, type ToldEvent } from '../../../../src/http/events/eventFilter.js'
import { EventHub, type EventReader } from '../../../../src/http/events/eventHub.js'
import { parsePositions } from '../../../../src/http/events/feedPositions.js'
import type { PoolRequest } from '../../../../src/pool/requestLanes.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import type { EventsQuery } from '../../../../src/query/feed/eventsQuery.js'
import type { FeedQuery } from '../../../../src/query/queries.js'
import { createKeepingLogger } from '../../../support/keepingLogger.js'

const FEED = 0xfeed
const place = (network: number, sequence: number): string => `${network}.00000000feed:${sequence}`

/** A reader that keeps what it is given. */
class Reader implements EventReader {
  readonly filter: EventFilter
  readonly got: string[] = []
  isFull = false
  /** It is full when it has had so many events. */
  fullAt = Number.POSITIVE_INFINITY
  isEnded = false
  #wake = (): void => undefined

  constructor(query: EventsQuery = {}) {
    this.filter = new EventFilter(query, [asNetworkId(0), asNetworkId(1)])
  }

  send({ networkId, sequence }: ToldEvent, ids: string): void {
    this.got.push(`${networkId}:${sequence} then ${ids}`)
    if (this.got.length === this.fullAt) this.isFull = true
    this.#wake()
  }

  /** Waits for so many events, or the end. */
  async has(count: number): Promise<void> {
    while (this.got.length < count && !this.isEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  ping(): void {}

  isBehind(): boolean {
    return this.isFull
  }

  end(): void {
    this.isEnded = true
    this.#wake()
  }
}

/** Feeds of networks 0 and 1 whose events are halts, and a pool that reads them. */
function world(countAnswers = () => 0) {
  const status = createStatusBoard([0, 1])
  const asked: string[] = []
  const onTheWay = { now: 0, most: 0 }
  const newest = [0, 0]
  const grow = (networkId: number, to: number): void => {
    newest[networkId] = to
    const row = statusRow(status, networkId)
    row.set('feedOldest', 1)
    row.set('feedNewest', to)
    row.announceFeed()
  }
  for (const networkId of [0, 1]) statusRow(status, networkId).set('feedId', FEED)
  const submit = ({ query, deliver }: PoolRequest): boolean => {
    const { networkId, after, limit } = query as FeedQuery
    asked.push(`${networkId} after ${after}`)
    onTheWay.most = Math.max(onTheWay.most, ++onTheWay.now)
    const lines = [JSON.stringify({ feedId: FEED, oldest: 1, newest: newest[networkId] })]
    for (let at = after + 1; at <= Math.min(after + limit, newest[networkId]!); at++)
      lines.push(`${at}${JSON.stringify({ type: 'halted', network_id: networkId, reason: 'behind' })}`)
    const body = Buffer.from(lines.join('\n'))
    const facts = {
      coding: 'identity',
      tag: body,
      retryAfterSec: 0,
      life: undefined,
      fault: undefined,
    } as const
    setImmediate(() => {
      onTheWay.now--
      deliver({ status: 200, body, version: NO_VERSION, ...facts })
    })
    return true
  }
  const hub = new EventHub({ status, pool: { submit }, logger: createKeepingLogger().logger, countAnswers })
  const add = (reader: Reader, after = ''): string => {
    const positions = hub.begin(reader.filter, after === '' ? new Map() : parsePositions(after)!)
    assert.ok(!('ok' in positions))
    return hub.add(reader, positions)
  }
  return { status, hub, asked, onTheWay, grow, add }
}

test('what is new is read once for all who want it, and not at all while nobody does', async () => {
  const { hub, asked, grow, add } = world()
  grow(1, 3)
  const readers = [new Reader(), new Reader(), new Reader({ types: ['bridge'] })]
  assert.deepEqual(
    readers.map((reader) => add(reader)),
    Array(3).fill(`${place(0, 0)},${place(1, 3)}`),
  )
  grow(1, 5)
  await readers[1]!.has(2)
  assert.deepEqual(asked, ['1 after 3'])
  const expected = [`1:4 then ${place(0, 0)},${place(1, 4)}`, `1:5 then ${place(0, 0)},${place(1, 5)}`]
  assert.deepEqual(
    readers.map(({ got }) => got),
    [expected, expected, []],
  )
  for (const reader of readers) hub.remove(reader)
  grow(1, 9)
  const last = new Reader({ networkIds: [asNetworkId(1)] })
  assert.equal(add(last), place(1, 9))
  grow(1, 10)
  await last.has(1)
  assert.deepEqual(asked, ['1 after 3', '1 after 9'])
  hub.close()
})

test('who comes with an older place gets all from there in order, also what comes meanwhile, and waits while it is behind', async () => {
  const { hub, grow, add } = world()
  grow(1, 300)
  const reader = new Reader({ networkIds: [asNetworkId(1)] })
  add(reader, place(1, 2))
  grow(1, 301)
  await reader.has(128)
  reader.isFull = true
  grow(1, 302)
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  assert.equal(reader.got.length, 128)
  reader.isFull = false
  hub.drained(reader)
  await reader.has(300)
  assert.deepEqual(
    reader.got,
    Array.from({ length: 300 }, (_, at) => `1:${at + 3} then ${place(1, at + 3)}`),
  )
  hub.close()
})

test('who is behind within a page of the past gets no more of it until it has taken what it has, and misses nothing', async () => {
  const { hub, grow, add } = world()
  grow(1, 100)
  const reader = new Reader({ networkIds: [asNetworkId(1)] })
  reader.fullAt = 10
  add(reader, place(1, 0))
  await reader.has(10)
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  assert.equal(reader.got.length, 10)
  reader.isFull = false
  hub.drained(reader)
  await reader.has(100)
  assert.deepEqual(
    reader.got,
    Array.from({ length: 100 }, (_, at) => `1:${at + 1} then ${place(1, at + 1)}`),
  )
  hub.close()
})

test('a place ahead of this instance is waited for, and nothing up to it is given again', async () => {
  const { hub, grow, add } = world()
  grow(1, 3)
  const ahead = new Reader({ networkIds: [asNetworkId(1)] })
  add(ahead, place(1, 5))
  grow(1, 4)
  grow(1, 7)
  await ahead.has(2)
  assert.deepEqual(ahead.got, [`1:6 then ${place(1, 6)}`, `1:7 then ${place(1, 7)}`])
  hub.close()
})

test('readers of a feed that is replaced are ended, and those of others stay', async () => {
  const { status, hub, grow, add } = world()
  const [of1, of0] = [new Reader(), new Reader({ networkIds: [asNetworkId(0)] })]
  add(of1)
  add(of0)
  statusRow(status, 1).set('feedId', 0xbeef)
  grow(1, 1)
  await of1.has(1)
  assert.deepEqual([of0.isEnded, hub.size], [false, 1])
  grow(0, 1)
  await of0.has(1)
  hub.close()
  assert.equal(of0.isEnded, true)
})

test('readers with older places get one page at a time, in rotation', async () => {
  const { hub, asked, onTheWay, grow, add } = world()
  grow(1, 300)
  const readers = Array.from({ length: 3 }, () => new Reader({ networkIds: [asNetworkId(1)] }))
  for (const [at, reader] of readers.entries()) add(reader, place(1, at))
  for (const [at, reader] of readers.entries()) await reader.has(300 - at)
  const pages = [0, 128, 256].flatMap((from) => [0, 1, 2].map((at) => `1 after ${from + at}`))
  assert.deepEqual([asked, onTheWay.most], [pages, 1])
  hub.close()
})

test('while others ask, the past is not read on at once', async () => {
  let answers = 0
  const { hub, asked, grow, add } = world(() => ++answers)
  grow(1, 300)
  const reader = new Reader({ networkIds: [asNetworkId(1)] })
  mock.timers.enable({ apis: ['setTimeout'] })
  add(reader, place(1, 0))
  await reader.has(128)
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  assert.equal(asked.length, 1)
  mock.timers.tick(1_000)
  await reader.has(256)
  assert.equal(asked.length, 2)
  mock.timers.reset()
  hub.close()
})

test('a reader that does not take what it has keeps no other from the past', async () => {
  const { hub, grow, add } = world()
  grow(1, 300)
  const [slow, other] = [0, 1].map(() => new Reader({ networkIds: [asNetworkId(1)] }))
  slow!.fullAt = 128
  add(slow!, place(1, 0))
  add(other!, place(1, 0))
  await other!.has(300)
  assert.equal(slow!.got.length, 128)
  hub.close()
})
