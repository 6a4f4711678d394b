import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeBlock,
  decodeChainId,
  decodeHash,
  decodeQuantity,
} from '../../../../src/chain/rpc/rpcBlocks.js'
import { RpcFailure } from '../../../../src/chain/rpc/rpcFailure.js'
import { decodeLogs, logsFilter } from '../../../../src/chain/rpc/rpcLogs.js'
import { contracts, l1Filter, l2Filter } from '../../../support/encodedLogs.js'

const hash = (byte: string) => `0x${byte.repeat(32)}`
const isBody = (error: unknown) => error instanceof RpcFailure && error.kind === 'body'

const block = { number: '0x10', hash: hash('ab'), parentHash: hash('cd'), timestamp: '0x5f5e100' }
const log = {
  address: contracts.bridge,
  topics: [hash('01')],
  data: '0x',
  blockNumber: '0x5',
  blockHash: hash('ab'),
  transactionHash: hash('ef'),
  logIndex: '0x0',
  removed: false,
}

test('quantities are hex text or JSON numbers, and nothing else is read', () => {
  for (const [raw, value] of [
    ['0x0', 0],
    ['0x10', 16],
    ['0XFF', undefined],
    [7, 7],
    ['0x1fffffffffffff', 2 ** 53 - 1],
  ])
    assert.equal(decodeQuantity(raw), value, String(raw))
  for (const raw of [
    '',
    '0x',
    '16',
    ' 0x1',
    '0x1g',
    '0x20000000000000',
    -1,
    1.5,
    Number.NaN,
    null,
    undefined,
    {},
    1n,
  ])
    assert.equal(decodeQuantity(raw), undefined, String(raw))
})

test('hashes are 64 hex digits, and are returned in lower case', () => {
  assert.equal(decodeHash(hash('AB')), hash('ab'))
  assert.equal(decodeHash(hash('09')), hash('09'))
  for (const raw of [
    '',
    '0x',
    hash('ab').slice(0, 65),
    `${hash('ab')}0`,
    hash('zz'),
    `1x${'ab'.repeat(32)}`,
    5,
    null,
  ])
    assert.equal(decodeHash(raw), undefined, String(raw))
})

test('a block is read with the fields that the service needs, a missing block is undefined, a malformed one an error', () => {
  assert.deepEqual(
    decodeBlock({ ...block, logsBloom: `0x${'01'.repeat(256)}`, transactions: [hash('ef')] }, 'alpha'),
    {
      number: 16,
      hash: hash('ab'),
      parentHash: hash('cd'),
      timestampSec: 100_000_000,
      logsBloom: `0x${'01'.repeat(256)}`,
      transactionHashes: [hash('ef')],
    },
  )
  assert.equal(decodeBlock(null, 'alpha'), undefined)
  const plain = decodeBlock({ ...block, logsBloom: null }, 'alpha')
  assert.equal(plain?.logsBloom, undefined)
  assert.deepEqual(plain?.transactionHashes, [])
  // A pending block has no hash.
  for (const change of [{ hash: null }, { number: null }, { timestamp: 'soon' }, { parentHash: '0x' }])
    assert.throws(() => decodeBlock({ ...block, ...change }, 'alpha'), isBody)
  for (const raw of ['block', 7, []]) assert.throws(() => decodeBlock(raw, 'alpha'), isBody)
})

test('logs are returned in chain order, each once, without removed ones', () => {
  const at = (blockNumber: number, logIndex: number, more: object = {}) => ({
    ...log,
    blockNumber: `0x${blockNumber.toString(16)}`,
    logIndex: `0x${logIndex.toString(16)}`,
    ...more,
  })
  const raw = [at(5, 12), at(4, 3), at(5, 2), at(4, 3), at(4, 9, { removed: true }), at(5, 12)]
  assert.deepEqual(
    decodeLogs(raw, 4, 5, 'alpha').map(({ blockNumber, logIndex }) => [blockNumber, logIndex]),
    [
      [4, 3],
      [5, 2],
      [5, 12],
    ],
  )
})

test('a block time in a log counts when it is there and not zero', () => {
  const timeOf = (blockTimestamp: unknown) =>
    decodeLogs([{ ...log, blockTimestamp }], 5, 5, 'alpha')[0]!.blockTimestamp
  assert.deepEqual(['0x5f5e100', 100_000_000, '0x0', 0, null, undefined, 'soon'].map(timeOf), [
    100_000_000,
    100_000_000,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('null reads as an empty list of logs, and null data as none', () => {
  assert.deepEqual(decodeLogs(null, 5, 5, 'alpha'), [])
  assert.equal(decodeLogs([{ ...log, data: null }], 5, 5, 'alpha')[0]!.data, '0x')
})

test('a chain id is read from hex, a number and decimal text', () => {
  assert.deepEqual(['0x89', '0X89', 137, '137', '0137'].map(decodeChainId), [137, 137, 137, 137, 137])
  for (const raw of ['', '0x', '8 9', '1e3', '-1', 'polygon', null, {}, 1.5])
    assert.equal(decodeChainId(raw), undefined, String(raw))
})

test('an answer that is no list of mined logs of the window is refused', () => {
  const wrong: readonly unknown[] = [
    undefined,
    'logs',
    { logs: [] },
    [null],
    [{ ...log, blockNumber: null }],
    [{ ...log, blockHash: null }],
    [{ ...log, transactionHash: '0x' }],
    [{ ...log, topics: null }],
    [{ ...log, topics: [5] }],
    [{ ...log, data: 5 }],
    [{ ...log, address: undefined }],
    [{ ...log, logIndex: 'one' }],
    [{ ...log, blockNumber: '0x6' }],
    [{ ...log, blockNumber: '0x3' }],
    // Two logs with the same position.
    [log, { ...log, data: '0x01' }],
    [log, { ...log, blockHash: hash('aa') }],
  ]
  for (const raw of wrong) assert.throws(() => decodeLogs(raw, 4, 5, 'alpha'), isBody, JSON.stringify(raw))
  assert.deepEqual(decodeLogs([], 4, 5, 'alpha'), [])
})

test('a system log with a zero transaction hash is read', () => {
  assert.equal(decodeLogs([{ ...log, transactionHash: hash('00') }], 5, 5, 'alpha').length, 1)
})

test('a list of 200,000 logs does not overflow the stack', () => {
  const raw = Array.from({ length: 300_000 }, (_, index) => ({ ...log, logIndex: index })).reverse()
  const logs = decodeLogs(raw, 5, 5, 'alpha')
  assert.equal(logs.length, 300_000)
  assert.equal(logs[299_999]!.logIndex, 299_999)
})

test('one filter asks for all contracts and all topics of a network', () => {
  const l1 = logsFilter(l1Filter)
  assert.deepEqual(l1.address, Object.values(contracts))
  assert.equal(l1.topics[0]!.length, 16 + 4 + 8)
  const l2 = logsFilter(l2Filter)
  assert.deepEqual(l2.address, [contracts.bridge, contracts.globalExitRootManager])
  assert.equal(l2.topics[0]!.length, 16 + 4)
})
