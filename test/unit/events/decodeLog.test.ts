import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AbiEvent } from 'viem'
import { ChainDataError } from '../../../src/errors/chainDataError.js'
import { decodeLog } from '../../../src/events/decodeLog.js'
import { eventTopics } from '../../../src/events/eventTopics.js'
import {
  bridgeEventsAbi,
  globalExitRootManagerEventsAbi,
  rollupManagerEventsAbi,
} from '../../../src/protocol/abis.js'
import { contracts, encodeLog, l1Filter, l2Filter, position } from '../../support/encodedLogs.js'
import { address, eventCases, eventNamed, hash, settlement } from './eventCases.js'

for (const { title, event, args, expected, emitter, filter } of eventCases) {
  test(`decodeLog gives the event of the contract: ${title}`, () => {
    assert.deepEqual(decodeLog(encodeLog(emitter, event, args), position, filter), {
      ...position,
      ...expected,
    })
  })
}

test('every topic that the indexer listens for has a decoding test above', () => {
  const seen = new Set(
    eventCases.map(({ emitter, event, args }) => encodeLog(emitter, event, args).topics[0]),
  )
  assert.deepEqual([...seen].sort(), Object.values(eventTopics).sort())
})

test('an event of another contract, of another role or of no interest is ignored', () => {
  const log = (emitter: string, abi: readonly AbiEvent[], name: string, args = {}) =>
    encodeLog(emitter, eventNamed(abi, name), args)
  const activated = log(contracts.rollupManager, bridgeEventsAbi, 'EmergencyStateActivated')
  assert.equal(decodeLog(activated, position, l1Filter), undefined)
  const injected = log(
    contracts.globalExitRootManager,
    globalExitRootManagerEventsAbi,
    'InsertGlobalExitRoot',
    {
      newGlobalExitRoot: hash('0e'),
    },
  )
  assert.equal(decodeLog(injected, position, l1Filter), undefined)
  assert.equal(decodeLog({ ...injected, address: address('99') }, position, l2Filter), undefined)
  assert.equal(decodeLog({ ...injected, topics: [] }, position, l2Filter), undefined)
  assert.equal(decodeLog({ ...injected, topics: [hash('ab')] }, position, l2Filter), undefined)
})

test('a log with address and digits in upper case decodes the same', () => {
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`
  for (const { title, event, args, expected, emitter, filter } of eventCases) {
    const log = encodeLog(emitter, event, args)
    const loud = { address: upper(log.address), topics: log.topics.map(upper), data: upper(log.data) }
    assert.deepEqual(decodeLog(loud, position, filter), { ...position, ...expected }, title)
  }
})

test('a known topic with data that does not fit is a fault that names the event', () => {
  let checked = 0
  for (const { title, event, args, emitter, filter } of eventCases) {
    const log = encodeLog(emitter, event, args)
    const broken =
      log.data === '0x'
        ? { ...log, topics: log.topics.slice(0, -1) }
        : { ...log, data: log.data.slice(0, 66 - 8) }
    if (broken.topics.length === 0) continue // events without any argument can't be broken
    const reason =
      title === 'BackwardLET' || title === 'ForwardLET' ? 'local_exit_tree_event' : 'undecodable_event'
    assert.throws(
      () => decodeLog(broken, position, filter),
      (error) => error instanceof ChainDataError && error.reason === reason,
      title,
    )
    checked++
  }
  assert.equal(checked, eventCases.length - 2)
})

test('rollup id 0 is refused, since its leaf index would be −1', () => {
  const log = encodeLog(
    contracts.rollupManager,
    eventNamed(rollupManagerEventsAbi, 'VerifyBatchesTrustedAggregator'),
    {
      ...settlement,
      rollupID: 0,
      aggregator: address('66'),
    },
  )
  assert.throws(() => decodeLog(log, position, l1Filter), ChainDataError)
})
