import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AbiEvent, Hex } from 'viem'
import { bytesToHex, decodeEventLog, hexToBytes } from 'viem/utils'
import { decodeLog, type EncodedLog } from '../../src/events/decodeLog.js'
import { bridgeEventsAbi } from '../../src/protocol/abis.js'
import type { DepositEvent, EventPosition } from '../../src/protocol/chainEvent.js'
import { asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import { contracts, encodeLog, l2Filter, position } from '../support/encodedLogs.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((value) => bytesToHex(value))
const abi = bridgeEventsAbi.filter(({ name }) => name === 'BridgeEvent')
const event = abi[0] as AbiEvent

/** A BridgeEvent as viem decodes it. @throws when topics or data do not fit it. */
function decodeByViem({ topics, data }: EncodedLog, position: EventPosition): DepositEvent {
  // viem reads a missing last word as zero where the metadata is empty; Solidity's decoder refuses such data.
  if (data.length < 2 + 8 * 64) throw new RangeError('the data are shorter than eight words')
  const { eventName, args } = decodeEventLog({ abi, topics: topics as [Hex, ...Hex[]], data: data as Hex })
  if (eventName !== 'BridgeEvent') throw new TypeError(`${eventName} is no BridgeEvent`)
  if (args.leafType > 0xff) throw new RangeError(`${args.leafType} is not a uint8`)
  return {
    type: 'deposit',
    ...position,
    leafType: args.leafType,
    originNetwork: asNetworkId(args.originNetwork),
    originAddress: hexToBytes(args.originAddress),
    destinationNetwork: asNetworkId(args.destinationNetwork),
    destinationAddress: hexToBytes(args.destinationAddress),
    amount: args.amount,
    metadata: hexToBytes(args.metadata),
    depositCount: asDepositCount(args.depositCount),
    sender: null,
  }
}

const bridgeEventLog = fc
  .record({
    leafType: fc.integer({ min: 0, max: 255 }),
    ...{ originNetwork: uint32, originAddress: address },
    ...{ destinationNetwork: uint32, destinationAddress: address },
    amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    metadata: fc.uint8Array({ maxLength: 200 }).map((value) => bytesToHex(value)),
    depositCount: uint32,
  })
  .map((args) => encodeLog(contracts.bridge, event, args))

/** What viem makes of a log: an event, or a refusal. */
function expected(log: EncodedLog): object | 'refused' {
  try {
    return decodeByViem(log, position)
  } catch {
    return 'refused'
  }
}

function decoded(log: EncodedLog): object | 'refused' | undefined {
  try {
    return decodeLog(log, position, l2Filter)
  } catch (error) {
    assert.equal((error as { reason?: string }).reason, 'undecodable_event')
    return 'refused'
  }
}

test('a BridgeEvent decodes to what viem decodes, for any values', () => {
  fc.assert(
    fc.property(bridgeEventLog, (log) => {
      const event = decoded(log)
      assert.notEqual(event, 'refused')
      assert.deepEqual(event, expected(log))
    }),
    { numRuns: 300, ...seed },
  )
})

test('a BridgeEvent with one character changed, dropped or added is decoded or refused as by viem', () => {
  const characters = fc.constantFrom('0', '1', 'f', 'g', '')
  fc.assert(
    fc.property(bridgeEventLog, fc.nat(), characters, fc.boolean(), (log, at, character, keep) => {
      const place = 2 + (at % (log.data.length - 1))
      const data = log.data.slice(0, place) + character + log.data.slice(keep ? place : place + 1)
      const changed = { ...log, data }
      // To viem an odd number of digits is one digit too few at the front.
      assert.deepEqual(decoded(changed), data.length % 2 === 0 ? expected(changed) : 'refused')
    }),
    { numRuns: 1_000, ...seed },
  )
})

test('a BridgeEvent with words changed, dropped or added is decoded or refused as by viem', () => {
  const word = fc.oneof(
    fc.integer({ min: 0, max: 400 }).map(BigInt),
    fc.constantFrom(2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, 2n ** 255n, 2n ** 256n - 1n),
  )
  const change = fc.record({ at: fc.nat(12), drop: fc.nat(1), add: fc.array(word, { maxLength: 2 }) })
  let decodedToo = 0
  fc.assert(
    fc.property(bridgeEventLog, fc.array(change, { minLength: 1, maxLength: 3 }), (log, changes) => {
      const words = log.data.slice(2).match(/.{64}/g) as string[]
      for (const { at, drop, add } of changes)
        words.splice(at, drop, ...add.map((value) => value.toString(16).padStart(64, '0')))
      const changed = { ...log, data: `0x${words.join('')}` }
      const wanted = expected(changed)
      if (wanted !== 'refused') decodedToo++
      assert.deepEqual(decoded(changed), wanted)
    }),
    { numRuns: 3_000, ...seed },
  )
  assert.ok(decodedToo > 100, `${decodedToo} changed logs were still valid`)
})

test('metadata behind a gap, and an address below dirty bytes, are read as the ABI allows', () => {
  const log = encodeLog(contracts.bridge, event, {
    ...{ leafType: 0, originNetwork: 0, originAddress: `0x${'11'.repeat(20)}` },
    ...{ destinationNetwork: 1, destinationAddress: `0x${'22'.repeat(20)}` },
    ...{ amount: 1n, metadata: '0x1234', depositCount: 0 },
  })
  const words = log.data.slice(2).match(/.{64}/g) as string[]
  const withWords = (change: (copy: string[]) => void): EncodedLog => {
    const copy = [...words]
    change(copy)
    return { ...log, data: `0x${copy.join('')}` }
  }
  const gap = withWords((copy) => {
    copy[6] = (9 * 32).toString(16).padStart(64, '0')
    copy.splice(8, 0, 'f'.repeat(64))
  })
  const dirty = withWords((copy) => {
    copy[2] = `1${words[2]!.slice(1)}`
  })
  for (const changed of [gap, dirty]) {
    assert.deepEqual(decoded(changed), decoded(log))
    assert.deepEqual(decoded(changed), expected(changed))
  }
})
