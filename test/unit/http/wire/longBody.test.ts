import assert from 'node:assert/strict'
import test from 'node:test'
import { LongBodies, LongBody } from '../../../../src/http/wire/longBody.js'
import type { Wire } from '../../../../src/http/wire/wire.js'

const SLICE = 64 * 1024
const SIZE = 1_000_000
const SLICES = Math.ceil(SIZE / SLICE)
const body = Buffer.from(Array.from({ length: SIZE }, (_, at) => (at * 31) % 251))
const turn = () => new Promise<void>(setImmediate)

/** A client that takes `room` bytes and then nothing, until `more` is called. */
function client(room = Number.POSITIVE_INFINITY) {
  const taken = Buffer.alloc(SIZE)
  let at = 0
  let left = room
  let onWritable: ((offset: number) => boolean) | undefined
  const wire = {
    cork: (write: () => void) => write(),
    onWritable: (handler: (offset: number) => boolean) => {
      onWritable = handler
    },
    tryEnd: (part: Uint8Array, size: number) => {
      assert.equal(size, SIZE)
      const now = part.subarray(0, Math.min(part.length, left))
      taken.set(now, at)
      at += now.length
      left -= now.length
      return [now.length === part.length, at === SIZE]
    },
  } as unknown as Wire
  return {
    wire,
    taken,
    count: () => at,
    more: (bytes: number) => {
      left = bytes
      onWritable!(at)
    },
  }
}

/** Long bodies of a server that has given so many answers. */
function longBodies() {
  const answers = { count: 0, nowMs: 0 }
  const bodies = new LongBodies(
    () => answers.count,
    () => answers.nowMs,
  )
  return { answers, bodies }
}

/** Begins to send the body in slices. */
function send(bodies: LongBodies, wire: Wire, onEnd = (): void => undefined): LongBody {
  const long = new LongBody(bodies, wire, body, () => undefined, onEnd)
  long.sendFirst()
  return long
}

test('a long answer goes out in slices only if an answer to somebody else was given within 5 ms', () => {
  const { answers, bodies } = longBodies()
  const begin = () => {
    answers.count++
    return bodies.begin()
  }
  assert.deepEqual([begin(), begin(), begin()], [false, false, false])
  answers.count++
  assert.deepEqual([begin(), begin()], [true, true])
  answers.nowMs = 5
  assert.equal(begin(), false)
})

test('one slice of one long body is sent per turn of the event loop, in rotation', async () => {
  const { bodies } = longBodies()
  const clients = [client(), client()]
  let ended = 0
  for (const { wire } of clients) send(bodies, wire, () => ended++)
  let before = clients.map(({ count }) => count())
  assert.deepEqual(before, [SLICE, SLICE])
  let turns = 0
  while (ended < 2) {
    await turn()
    turns++
    const now = clients.map(({ count }) => count())
    assert.ok(now[0]! + now[1]! - before[0]! - before[1]! <= SLICE)
    assert.ok(Math.abs(now[0]! - now[1]!) <= SLICE)
    before = now
  }
  assert.ok(turns >= 2 * (SLICES - 1))
  for (const { taken } of clients) assert.ok(taken.equals(body))
})

test('for 5 ms after an answer to somebody else each slice waits for a timer, and then no more', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { answers, bodies } = longBodies()
  const reader = client()
  answers.count++
  send(bodies, reader.wire)
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.equal(reader.count(), SLICE)
  context.mock.timers.tick(1)
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.equal(reader.count(), 2 * SLICE)
  answers.nowMs = 5
  context.mock.timers.tick(1)
  assert.equal(reader.count(), 3 * SLICE)
  await turn()
  assert.equal(reader.count(), 4 * SLICE)
})

test('the more bodies wait, the more slices are sent per turn, so that none pile up', async () => {
  const { bodies } = longBodies()
  const clients = Array.from({ length: 40 }, () => client())
  let ended = 0
  for (const { wire } of clients) send(bodies, wire, () => ended++)
  let turns = 0
  while (ended < clients.length) {
    await turn()
    turns++
  }
  // One slice per turn would take 600 turns.
  assert.ok(turns < 100, String(turns))
  for (const { taken } of clients) assert.ok(taken.equals(body))
})

test('a client that takes nothing does not hold up another one, and gets the rest once it takes more', async () => {
  const { bodies } = longBodies()
  const [slow, fast] = [client(100_000), client()]
  const ended: string[] = []
  send(bodies, slow.wire, () => ended.push('slow'))
  send(bodies, fast.wire, () => ended.push('fast'))
  while (ended.length === 0) await turn()
  assert.deepEqual([ended, slow.count()], [['fast'], 100_000])
  slow.more(200_000)
  for (let turns = 0; turns < 30; turns++) await turn()
  assert.equal(slow.count(), 300_000)
  slow.more(SIZE)
  while (ended.length < 2) await turn()
  assert.ok(slow.taken.equals(body))
})

test('a body that was begun as a whole goes on from where its client stopped, slice by slice', async () => {
  const { bodies } = longBodies()
  const reader = client(100_000)
  let isOver = false
  assert.deepEqual(reader.wire.tryEnd(body, SIZE), [false, false])
  new LongBody(
    bodies,
    reader.wire,
    body,
    () => undefined,
    () => {
      isOver = true
    },
  )
  for (let turns = 0; turns < 5; turns++) await turn()
  assert.equal(reader.count(), 100_000)
  reader.more(SIZE)
  await turn()
  assert.equal(reader.count(), 100_000 + SLICE)
  while (!isOver) await turn()
  assert.ok(reader.taken.equals(body))
})

test('to a client that has gone nothing is written, and its answer ends once', async () => {
  const { bodies } = longBodies()
  const reader = client()
  let ended = 0
  const long = send(bodies, reader.wire, () => ended++)
  long.end()
  long.end()
  for (let turns = 0; turns < 30; turns++) await turn()
  assert.deepEqual([ended, reader.count()], [1, SLICE])
})
