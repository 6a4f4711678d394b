import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { KeyBoard } from '../../../src/cluster/keyBoard.js'
import { findHolder, type HeldLease, LEASE_TIMING, takeAway, takeLease } from '../../../src/cluster/lease.js'
import { FakeCluster, FakeMember } from '../../support/fakeCluster.js'
import { VirtualClock } from '../../support/virtualClock.js'

const KEY = '1'
const endless = (): AbortSignal => new AbortController().signal

interface Candidate {
  readonly member: FakeMember
  readonly board: KeyBoard
  take(signal?: AbortSignal): Promise<HeldLease>
}

/** When the test ends nobody waits for a lease any more, and all are released: they would be renewed for ever. */
async function candidates(
  context: TestContext,
  names: readonly string[],
): Promise<{ clock: VirtualClock; of: Candidate[] }> {
  const leases: HeldLease[] = []
  const stop = new AbortController()
  context.after(() => {
    stop.abort(new Error('the test has ended'))
    return Promise.all(leases.map((lease) => lease.release()))
  })
  const clock = new VirtualClock()
  const cluster = new FakeCluster(clock)
  const of = await Promise.all(
    names.map(async (name) => {
      const member = new FakeMember(cluster)
      const board = await member.openKeyBoard('leases', endless())
      const take = async (signal = stop.signal): Promise<HeldLease> => {
        const lease = await takeLease(board, KEY, name, LEASE_TIMING, member.clock, signal)
        leases.push(lease)
        return lease
      }
      return { member, board, take }
    }),
  )
  return { clock, of }
}

/** When the lease ended, by the clock. */
async function endOf(lease: HeldLease, clock: VirtualClock): Promise<number> {
  await new Promise((resolve) => lease.ended.addEventListener('abort', resolve, { once: true }))
  return clock.now()
}

test('a lease that an operator takes away is free at once, and its holder learns of it at the next renewal', async (context) => {
  const { clock, of } = await candidates(context, ['a', 'b'])
  const [a, b] = of as [Candidate, Candidate]
  const lease = await a.take()
  await clock.sleep(5_000, endless())
  const taking = b.take()
  const ending = endOf(lease, clock)
  const takenAwayMs = clock.now()
  assert.equal(await findHolder(b.board, KEY, endless()), 'a')
  assert.equal(await takeAway(b.board, KEY, clock, endless()), 'a')
  assert.equal((await taking).isHeld(), true)
  assert.ok(clock.now() - takenAwayMs <= 500, `${clock.now() - takenAwayMs} ms`)
  assert.ok((await ending) - takenAwayMs <= 1_000)
  assert.equal(lease.wasTaken(), true)
})

test('a lease that nobody holds can not be taken away, and one that ends otherwise was not taken', async (context) => {
  const { clock, of } = await candidates(context, ['a'])
  const [a] = of as [Candidate]
  assert.equal(await takeAway(a.board, KEY, clock, endless()), undefined)
  const lease = await a.take()
  await lease.release()
  assert.equal(lease.wasTaken(), false)
  assert.deepEqual(
    [await findHolder(a.board, KEY, endless()), await takeAway(a.board, KEY, clock, endless())],
    [undefined, undefined],
  )
})

test('a holder that is cut off gives up after 2.5 s; another one takes over between 3 and 3.5 s', async (context) => {
  const { clock, of } = await candidates(context, ['a', 'b'])
  const [a, b] = of as [Candidate, Candidate]
  const lease = await a.take()
  const taking = b.take()
  await clock.sleep(10_000, endless())
  assert.ok(lease.isHeld(), 'renewed all the time')
  a.member.cutOff()
  const cutMs = clock.now()
  const givenUpMs = (await endOf(lease, clock)) - cutMs
  const second = await taking
  const takenMs = clock.now() - cutMs
  // The last renewal was up to 750 ms before.
  assert.ok(givenUpMs > 1_700 && givenUpMs <= 2_500, `given up after ${givenUpMs} ms`)
  assert.ok(takenMs > 2_200 && takenMs <= 3_300, `taken after ${takenMs} ms`)
  assert.ok(second.term > lease.term)
  assert.match(String(lease.ended.reason), /the lease 1 has ended: not renewed for 2500 ms/)
})

test('a process that was paused finds its lease over before any timer of its own has run', async (context) => {
  const { clock, of } = await candidates(context, ['a', 'b'])
  const [a, b] = of as [Candidate, Candidate]
  const lease = await a.take()
  a.member.pause()
  const second = await b.take()
  await clock.sleep(60_000, endless())
  a.member.resume()
  assert.equal(lease.isHeld(), false)
  assert.ok(lease.ended.aborted)
  assert.ok(second.isHeld())
  await clock.sleep(10_000, endless())
  assert.ok(second.isHeld(), 'what the first one had on its way changes nothing')
})

test('a lost answer costs no lease: neither while it is taken nor while it is renewed', async (context) => {
  const { clock, of } = await candidates(context, ['a'])
  const [a] = of as [Candidate]
  let writes = 0
  a.member.faultOf = (operation) =>
    operation === 'write' && (++writes === 1 || writes === 4) ? 'answer_lost' : undefined
  const startedMs = clock.now()
  const lease = await a.take()
  // Two seconds pass until the first answer is given up; a key that stood still would have taken three more.
  assert.ok(clock.now() - startedMs < 2_500, `${clock.now() - startedMs} ms`)
  await clock.sleep(20_000, endless())
  assert.ok(writes > 20 && lease.isHeld())
})

test('a lease whose key says another holder is over at once', async (context) => {
  const { clock, of } = await candidates(context, ['a', 'b'])
  const [a, b] = of as [Candidate, Candidate]
  const lease = await a.take()
  const { revision } = (await b.board.find(KEY, endless()))!
  await b.board.write(KEY, 'b', revision, endless())
  const startedMs = clock.now()
  assert.ok((await endOf(lease, clock)) - startedMs < LEASE_TIMING.renewMs + 10)
  assert.match(String(lease.ended.reason), /another instance has taken it/)
})

test('of many candidates one takes a lease that is over, and a candidate that gives up takes none', async (context) => {
  const { clock, of } = await candidates(context, ['a', 'b', 'c', 'd'])
  const [a, ...others] = of as [Candidate, ...Candidate[]]
  const first = await a.take()
  const giveUp = new AbortController()
  const leases: HeldLease[] = []
  const taking = others.map(({ take }, at) =>
    take(at === 0 ? giveUp.signal : undefined).then((lease) => leases.push(lease)),
  )
  for (const promise of taking) promise.catch(() => undefined)
  giveUp.abort(new Error('no longer wanted'))
  await assert.rejects(taking[0]!, /no longer wanted/)
  a.member.cutOff()
  await clock.sleep(30_000, endless())
  assert.equal(leases.length, 1)
  assert.ok(!first.isHeld() && leases[0]!.isHeld())
})

test('a release that nobody hears ends the lease all the same, within a second', async (context) => {
  const { clock, of } = await candidates(context, ['a'])
  const [a] = of as [Candidate]
  const lease = await a.take()
  a.member.cutOff()
  const startedMs = clock.now()
  await lease.release()
  assert.ok(!lease.isHeld())
  assert.ok(clock.now() - startedMs <= 1_001, `${clock.now() - startedMs} ms`)
})

test('a lease can only be taken with durations that keep its promise', async (context) => {
  const { of } = await candidates(context, ['a'])
  const { board, member } = of[0]!
  for (const wrong of [{ holdMs: 3_000 }, { renewMs: 2_500 }])
    await assert.rejects(
      takeLease(board, KEY, 'a', { ...LEASE_TIMING, ...wrong }, member.clock, endless()),
      RangeError,
    )
})
