import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HeadSocketOptions } from '../../../../src/chain/rpc/headSocket.js'
import { HeadHints } from '../../../../src/indexer/sync/headHints.js'
import { decodeHex } from '../../../../src/protocol/hex.js'
import type { Clock } from '../../../../src/telemetry/clocks.js'
import { createKeepingLogger, type KeptLine } from '../../../support/keepingLogger.js'
import { VirtualClock } from '../../../support/virtualClock.js'
import { createSyncHarness, isInStep } from '../syncHarness.js'

const FIRST = `0x${'01'.repeat(32)}`
const SECOND = `0x${'02'.repeat(32)}`
const bytesOf = (hash: string) => decodeHex(hash)!
const never = new AbortController().signal
const warnings = (lines: readonly KeptLine[]) => lines.filter(({ level }) => level === 'warn').length

/** Head hints over sockets that the test plays. */
function openHints(clock: VirtualClock, restClock: Clock = clock) {
  const sockets: HeadSocketOptions[] = []
  let closed = 0
  const { logger, lines } = createKeepingLogger()
  const hints = new HeadHints({
    endpoints: [
      { url: 'http://key@host', alias: 'plain' },
      { url: 'http://key@host', alias: 'telling', wsUrl: 'ws://key@host' },
    ],
    timeoutMs: 1_000,
    clock: restClock,
    logger,
    open(options) {
      sockets.push(options)
      return () => closed++
    },
  })
  const restedMs = async (ms: number, seen?: string): Promise<number> => {
    const from = clock.now()
    await hints.rest(ms, seen === undefined ? undefined : bytesOf(seen), never)
    return clock.now() - from
  }
  return { hints, sockets, lines, restedMs, closed: () => closed }
}

test('an announced head ends the wait at once, and without a new head the wait lasts its full time', async () => {
  const clock = new VirtualClock()
  const { sockets, restedMs } = openHints(clock)
  assert.equal(await restedMs(10_000, FIRST), 10_000)
  clock.after(3_000, () => sockets[0]!.onHead(SECOND))
  assert.equal(await restedMs(10_000, FIRST), 3_000)
  clock.after(3_000, () => sockets[0]!.onHead(SECOND))
  assert.equal(await restedMs(10_000, SECOND), 10_000)
})

test('where no endpoint announces heads, a rest wakes the thread once', async () => {
  const clock = new VirtualClock()
  const { logger } = createKeepingLogger()
  const slept: number[] = []
  const counting: Clock = {
    now: () => clock.now(),
    unixMs: () => clock.unixMs(),
    random: () => clock.random(),
    sleep: (ms, signal) => {
      slept.push(ms)
      return clock.sleep(ms, signal)
    },
  }
  const hints = new HeadHints({
    endpoints: [{ url: 'http://host', alias: 'plain' }],
    timeoutMs: 1_000,
    clock: counting,
    logger,
  })
  assert.equal(await hints.rest(200, bytesOf(FIRST), never), false)
  assert.deepEqual(slept, [200])
})

test('a rest that is ended in the moment in which its first pause is over does not last its full time', async () => {
  const clock = new VirtualClock()
  const stop = new AbortController()
  const { hints } = openHints(clock, {
    now: () => clock.now(),
    unixMs: () => clock.unixMs(),
    random: () => clock.random(),
    sleep: (ms, signal) => clock.sleep(ms, signal).then(() => stop.abort()),
  })
  const from = clock.now()
  await assert.rejects(hints.rest(10_000, bytesOf(FIRST), stop.signal), { name: 'AbortError' })
  assert.equal(clock.now() - from, 100)
})

test('a connection that has become old is reopened at once, without a log line', () => {
  const clock = new VirtualClock()
  const { hints, sockets, lines } = openHints(clock)
  sockets[0]!.onSubscribed()
  sockets[0]!.onAged!()
  sockets[1]!.onSubscribed()
  assert.equal(sockets.length, 2)
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['info'],
  )
  hints.close()
  sockets[1]!.onAged!()
  assert.equal(sockets.length, 2)
})

test('a head that is announced between two waits ends the next wait only', async () => {
  const clock = new VirtualClock()
  const { sockets, restedMs } = openHints(clock)
  sockets[0]!.onHead(SECOND)
  assert.equal(await restedMs(10_000, FIRST), 100)
  assert.equal(await restedMs(10_000, FIRST), 10_000)
})

test('a flood of heads starts at most ten looks a second', async () => {
  const clock = new VirtualClock()
  const { sockets, restedMs } = openHints(clock)
  for (let ms = 1; ms < 1_000; ms++)
    clock.after(ms, () => sockets[0]!.onHead(`0x${String(ms).padStart(64, '0')}`))
  let looks = 0
  for (const from = clock.now(); clock.now() - from < 1_000; looks++) await restedMs(10_000, FIRST)
  assert.ok(looks <= 10, String(looks))
})

test('an abort ends a wait', async () => {
  const clock = new VirtualClock()
  const { hints } = openHints(clock)
  const stop = new AbortController()
  clock.after(1_000, () => stop.abort(new Error('stop')))
  await assert.rejects(hints.rest(10_000, undefined, stop.signal), { message: 'stop' })
})

test('a connection that ended is reopened, ever later, with one log line per outage and no address in it', async () => {
  const clock = new VirtualClock()
  const { sockets, lines, hints, closed } = openHints(clock)
  const openedMs: number[] = []
  for (let tries = 0; tries < 9; tries++) {
    const from = clock.now()
    sockets.at(-1)!.onEnd('closed')
    while (sockets.length < tries + 2) await clock.sleep(10, never)
    openedMs.push(clock.now() - from)
  }
  assert.ok(openedMs[0]! <= 1_010 && openedMs[8]! <= 60_010 && openedMs[8]! >= 30_000, String(openedMs))
  assert.equal(warnings(lines), 1)
  await clock.sleep(60_000, never)
  sockets.at(-1)!.onHead(FIRST)
  sockets.at(-1)!.onEnd('closed')
  assert.equal(warnings(lines), 2)
  assert.doesNotMatch(JSON.stringify(lines), /host|key/)
  hints.close()
  assert.equal(closed(), 1)
  await clock.sleep(120_000, never)
  assert.equal(sockets.length, 10)
})

test('a gateway that ends each connection after its first head is reconnected ever more rarely', async () => {
  const clock = new VirtualClock()
  const { sockets, lines } = openHints(clock)
  for (const from = clock.now(); clock.now() - from < 600_000; ) {
    const { length } = sockets
    sockets.at(-1)!.onHead(FIRST)
    sockets.at(-1)!.onEnd('closed')
    while (sockets.length === length) await clock.sleep(100, never)
  }
  assert.ok(sockets.length < 40, `${sockets.length} connections in ten minutes`)
  assert.equal(warnings(lines), 1)
})

test('a network with a long poll interval follows each announced block at once', async () => {
  const harness = createSyncHarness({
    config: { pollIntervalMs: 600_000 },
    headHints: (clock) => {
      const { hints, sockets } = openHints(clock)
      clock.after(20_000, () => {
        const block = harness.network.mine((one) => one.tx().deposit())
        sockets[0]!.onHead(`0x${Buffer.from(block.hash).toString('hex')}`)
      })
      return hints
    },
  })
  const from = harness.clock.now()
  await harness.run(() => isInStep(harness) && harness.network.deposits().length === 1, 30_000)
  assert.ok(harness.clock.now() - from < 21_000)
})
