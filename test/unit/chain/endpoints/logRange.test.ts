import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogRange } from '../../../../src/chain/endpoints/logRange.js'

const succeed = (range: LogRange, times: number) => {
  for (let time = 0; time < times; time++) range.succeeded(range.span, 0)
}

test('a width that the provider states is kept for good', () => {
  const range = new LogRange(10_000)
  range.shrink({ type: 'tooWide', maxBlocks: 500 }, 10_000)
  assert.equal(range.span, 500)
  succeed(range, 1000)
  assert.equal(range.span, 500)
})

test('a refusal without a width halves the window, down to one block', () => {
  const range = new LogRange(1000)
  const spans: number[] = []
  for (let time = 0; time < 12; time++) {
    range.shrink({ type: 'tooWide' }, range.span)
    spans.push(range.span)
  }
  assert.deepEqual(spans, [500, 250, 125, 62, 31, 15, 7, 3, 1, 1, 1, 1])
})

test('success grows the window back to its maximum', () => {
  const range = new LogRange(1000)
  for (let time = 0; time < 9; time++) range.shrink({ type: 'tooMany' }, range.span)
  assert.equal(range.span, 1)
  succeed(range, 400)
  assert.equal(range.span, 1000)
})

test('below a width that failed before, the window grows more slowly each time', () => {
  const range = new LogRange(1024)
  let refusals = 0
  const windows = 2000
  for (let window = 0; window < windows; window++) {
    // This endpoint serves 100 blocks and does not say so.
    if (range.span > 100) {
      refusals++
      range.shrink({ type: 'tooWide' }, range.span)
    } else range.succeeded(range.span, 0)
  }
  assert.ok(refusals < 20, `${refusals} of ${windows} windows were refused`)
  assert.ok(range.span >= 50)
})

test('an unreadable refusal is ignored once; the second one halves the window', () => {
  const range = new LogRange(100)
  range.refused(100)
  assert.equal(range.span, 100)
  range.refused(100)
  assert.equal(range.span, 50)
  range.refused(50)
  range.succeeded(50, 0)
  range.refused(50)
  assert.equal(range.span, 50, 'a success in between starts the count anew')
})

test('after an outage the window is wide again within a few windows', () => {
  const range = new LogRange(1000)
  for (let time = 0; time < 40; time++) range.unanswered(range.span)
  assert.equal(range.span, 1)
  succeed(range, 20)
  assert.equal(range.span, 1000)
})

test('many logs make the next window smaller, and a short last window does not widen it', () => {
  const range = new LogRange(1000)
  range.succeeded(1000, 20_000)
  assert.equal(range.span, 250)
  for (let time = 0; time < 10; time++) range.succeeded(249, 0)
  assert.equal(range.span, 250)
  for (let time = 0; time < 10; time++) range.succeeded(250, 4_500)
  assert.equal(range.span, 250, 'twice as many would be too many')
  range.succeeded(1, 20_000)
  assert.equal(range.span, 250, 'one block can not be cut')
})

test('backfill begins with at most 1,000 blocks, and reaches the maximum through successes', () => {
  const range = new LogRange(10_000)
  assert.equal(range.span, 1_000)
  succeed(range, 8)
  assert.equal(range.span, 10_000)
  assert.equal(new LogRange(50).span, 50)
})
