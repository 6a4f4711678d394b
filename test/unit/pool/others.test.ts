import assert from 'node:assert/strict'
import test from 'node:test'
import { Others } from '../../../src/pool/others.js'

test('others ask from when an answer of theirs is noticed until 5 ms later', () => {
  let [answers, nowMs] = [0, 1_000]
  const others = new Others(
    () => answers,
    () => nowMs,
  )
  assert.equal(others.doAsk(), false, 'nobody yet')
  answers = 3
  assert.equal(others.doAsk(), true)
  nowMs += 4.9
  assert.equal(others.doAsk(), true)
  nowMs += 0.1
  assert.equal(others.doAsk(), false)
  answers = 4
  assert.equal(others.doAsk(), true)
})
