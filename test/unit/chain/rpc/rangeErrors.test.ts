import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  classifyLogsFailure,
  isRateLimitText,
  type LogsProblem,
} from '../../../../src/chain/rpc/rangeErrors.js'
import { type ProviderWords, RpcFailure } from '../../../../src/chain/rpc/rpcFailure.js'

const failure = (words: Partial<ProviderWords> & { text: string }) => new RpcFailure('rpc', 'test', words)
const classify = (text: string, span: number, more: Partial<ProviderWords> = {}) =>
  classifyLogsFailure(failure({ text, ...more }), span)
const upTo = (maxBlocks: number): LogsProblem => ({ type: 'tooWide', maxBlocks })

/** Messages of providers, and the widest window that each allows, for a request of 50,000 blocks. */
const stated: readonly (readonly [string, number])[] = [
  ['query returned more than 10000 results. Try with this block range [0x869609, 0x869773].', 0x16b],
  ['Query returned more than 20000 results. Try with this block range [0x869609, 0x869773]', 0x16b],
  [
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x1, 0x64]',
    100,
  ],
  ['this block range should work: [0x0, 0x0]', 1],
  ['exceed maximum block range: maximum is set to 1000', 1000],
  ['block range too large. Max range: 1024', 1024],
  ['Maximum allowed number of requested blocks is 2000', 2000],
  ['eth_getLogs is limited to a 10,000 range', 10_000],
  ['eth_getLogs is limited to a 10000 blocks range', 10_000],
  ['logs are limited to 3000 block range', 3000],
  ['requested range exceeds the range allowed for your plan (50000 > 500).', 500],
  ['please limit the query to at most 1000 blocks', 1000],
  ['query block range exceeded, maximum block range: 800', 800],
  ['query exceeds max block range 1000', 1000],
  ['block range greater than 4096 max', 4096],
  ['Block range exceeds 2000', 2000],
  ['Block range is too large, max is 10k blocks', 10_000],
  ['Block range is too large, max is 1k blocks', 1000],
  ['block range is too wide (maximum 500)', 500],
  ['You can make eth_getLogs requests with up to a 10 block range.', 10],
  ['maximum [from, to] blocks distance: 1000', 1000],
  ['exceed max block range: 2000', 2000],
  ['ranges over 10000 blocks are not supported on freetier', 10_000],
  ['range 1000000 exceeds limit of 10000', 10_000],
  ['eth_getLogs query must be smaller than size 1024', 1024],
  ['maximum block range: 0x3e8', 1000],
  ['Max range: 1_000', 1000],
  ['block range is too wide', 3000],
  ['Block range limit exceeded. See more details in the documentation.', 10_000],
]

test('a width that the provider states or suggests is the next window, in every wording', () => {
  for (const [text, maxBlocks] of stated) {
    assert.deepEqual(classify(text, 50_000), upTo(maxBlocks), text)
    assert.deepEqual(
      classify(text.toUpperCase().replaceAll('0X', '0x'), 50_000),
      upTo(maxBlocks),
      'upper case',
    )
    assert.equal(isRateLimitText(text), false, text)
  }
})

test('a stated width that already allowed the window halves it instead', () => {
  assert.deepEqual(classify('maximum [from, to] blocks distance: 1000', 1000), { type: 'tooWide' })
  assert.deepEqual(classify('Block range exceeds 0', 10), { type: 'tooWide' })
  assert.deepEqual(classify('block range should work: [0x10, 0x1]', 10), { type: 'tooWide' })
  assert.deepEqual(classify('block range is too wide', 100), upTo(50))
})

test("a width that is only in the error's data is found", () => {
  const data = { from: '0x1', to: '0x64', limit: '100' }
  assert.deepEqual(classify('query returned more than 100 results', 50_000, { data }), upTo(100))
  assert.deepEqual(
    classify('invalid params {"payload":"range 1000 is bigger than range limit 100"}', 1000),
    upTo(100),
  )
  assert.deepEqual(classify('Internal error block range is too large, limited to 20 blocks', 1000), upTo(20))
})

test('refusals without a number, and HTTP statuses without words, make the window smaller', () => {
  const texts = [
    'block range threshold exceeded',
    'range threshold exceeded',
    'exceeded max allowed range',
    'no backend is currently healthy to serve traffic',
    'block range too large',
    'could not coalesce error',
    'Request Entity Too Large',
  ]
  for (const text of texts) assert.deepEqual(classify(text, 100), { type: 'tooWide' }, text)
  assert.deepEqual(classify('', 100, { status: 413 }), { type: 'tooWide' })
  assert.deepEqual(classify('', 100, { code: -32614 }), { type: 'tooWide' })
})

test('a refusal of too many logs or bytes concerns these blocks, and states no width', () => {
  const texts = [
    'query returned more than 10000 results',
    'query exceeds max results 20000',
    'logs matched by query exceeds limit of 10000',
    'response size should not greater than 10000000 bytes',
    'backend response too large',
    'query timeout exceeded, consider narrowing your filter',
  ]
  for (const text of texts) assert.deepEqual(classify(text, 100), { type: 'tooMany' }, text)
})

test('other refusals are not mistaken for too wide a window', () => {
  const cases: readonly (readonly [string, Partial<ProviderWords>, LogsProblem['type']])[] = [
    ['block range extends beyond current head block', {}, 'beyondHead'],
    ['unknown block', {}, 'beyondHead'],
    ['header not found', {}, 'beyondHead'],
    ['pruned history unavailable', { code: 4444 }, 'historyGone'],
    ['missing trie node 12 (path ) state is not available', {}, 'historyGone'],
    ['Internal Server Error', { status: 500 }, 'unknown'],
    ['execution aborted', {}, 'unknown'],
    ['', {}, 'unknown'],
  ]
  for (const [text, more, type] of cases) assert.equal(classify(text, 100, more).type, type, text)
})

test('a rate limit is distinguished from a limit of the window', () => {
  const pleas = [
    'Too Many Requests',
    'rate limit reached',
    'Your app has exceeded its compute units per second capacity',
    'daily request count exceeded, request rate limited',
    'project ID request rate exceeded',
    'request limit reached: 25/second per second',
  ]
  for (const text of pleas) assert.equal(isRateLimitText(text), true, text)
  const limited = new RpcFailure('rateLimit', 'test', { text: 'Too Many Requests', status: 429 })
  assert.deepEqual(classifyLogsFailure(limited, 100), { type: 'rateLimit' })
  // Some send 429 for a window that is too wide.
  const wide = new RpcFailure('rateLimit', 'test', {
    text: 'eth_getLogs is limited to a 10 range',
    status: 429,
  })
  assert.deepEqual(classifyLogsFailure(wide, 100), upTo(10))
})

test('a range whose ends are objects suggests nothing', () => {
  const end = JSON.parse('{"toString":null,"valueOf":null}') as object
  const words = { text: 'limit', data: { from: end, to: end } }
  assert.deepEqual(classifyLogsFailure(new RpcFailure('rpc', 'alpha', words), 100), { type: 'unknown' })
})
