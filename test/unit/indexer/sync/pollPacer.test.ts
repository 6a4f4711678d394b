import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from '../../../../src/indexer/backoff.js'
import { PollPacer } from '../../../../src/indexer/sync/pollPacer.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'

test('waits double up to the maximum, each between half and all of it, and start small again after a success', () => {
  const chances = [0, 0.999_999, 0, 0, 0, 0]
  const backoff = new Backoff({ random: () => chances.shift() ?? 0 }, { baseMs: 100, capMs: 500 })
  assert.deepEqual(
    [1, 2, 3, 4].map(() => Math.round(backoff.nextMs())),
    [50, 200, 200, 250],
  )
  assert.equal(backoff.failures, 4)
  backoff.reset()
  assert.equal(Math.round(backoff.nextMs()), 50)
  for (let i = 0; i < 5_000; i++) assert.ok(backoff.nextMs() <= 500)
})

/** A pacer that has seen ten blocks, `seenMs` apart by the clock and `toldSec` by their timestamps. */
function pacerAfter(seenMs: number, toldSec: number): PollPacer {
  let now = 0
  const pacer = new PollPacer({ now: () => now }, 2_000)
  for (let i = 0; i < 10; i++) {
    now += seenMs
    const hash = new Uint8Array(32)
    pacer.saw({ number: asBlockNumber(i), hash, parentHash: hash, timestampSec: toldSec * i })
  }
  return pacer
}

test('after a new block the next look is due with the expected next block, then after each poll interval', () => {
  const pacer = pacerAfter(12_000, 12)
  assert.equal(pacer.nextWaitMs(), 12_000)
  assert.equal(pacer.nextWaitMs(), 2_000)
})

test('blocks that arrive faster than their timestamps say are followed as they arrive, and no wait exceeds six polls', () => {
  assert.equal(pacerAfter(100, 12).nextWaitMs(), 2_000)
  assert.equal(pacerAfter(5_000, 12).nextWaitMs(), 5_000)
  assert.equal(pacerAfter(60_000, 60).nextWaitMs(), 12_000)
  // Polls fall between blocks: the times by the clock vary, the timestamps do not.
  assert.equal(pacerAfter(11_000, 12).nextWaitMs(), 12_000)
})
