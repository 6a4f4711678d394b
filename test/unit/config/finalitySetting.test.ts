import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFinality } from '../../../src/config/finalitySetting.js'

test('each spelling of finality means a tag and a number of blocks below it', () => {
  const cases: [string, ReturnType<typeof parseFinality>][] = [
    ['latest', { tag: 'latest', depth: 0 }],
    ['safe', { tag: 'safe', depth: 0 }],
    ['finalized', { tag: 'finalized', depth: 0 }],
    ['depth:64', { tag: 'latest', depth: 64 }],
    ['finalized-64', { tag: 'finalized', depth: 64 }],
    ['latest-6', { tag: 'latest', depth: 6 }],
    ['FinalizedBlock', { tag: 'finalized', depth: 0 }],
    ['SafeBlock', { tag: 'safe', depth: 0 }],
    ['LatestBlock/-6', { tag: 'latest', depth: 6 }],
    ['LatestBlock/6', undefined],
    ['PendingBlock', undefined],
    ['depth:', undefined],
    ['depth:-1', undefined],
    ['finalized+1', undefined],
    ['Finalized', undefined],
    ['', undefined],
  ]
  for (const [text, expected] of cases) assert.deepEqual(parseFinality(text), expected, text)
})
