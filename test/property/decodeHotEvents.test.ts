import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AbiEvent } from 'viem'
import { bytesToHex } from 'viem/utils'
import { coldDecoders } from '../../src/events/decodeColdEvents.js'
import {
  decodeClaimEvent,
  decodeUpdateHashChainValue,
  decodeUpdateL1InfoTree,
  decodeUpdateL1InfoTreeV2,
} from '../../src/events/decodeHotEvents.js'
import { bridgeEventsAbi, globalExitRootManagerEventsAbi } from '../../src/protocol/abis.js'
import { contracts, encodeLog, position } from '../support/encodedLogs.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const uint = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n })
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((b) => bytesToHex(b))

const hotEvents = [
  {
    name: 'ClaimEvent',
    decode: decodeClaimEvent,
    args: fc.record({
      globalIndex: uint(256),
      originNetwork: uint32,
      originAddress: bytes(20),
      destinationAddress: bytes(20),
      amount: uint(256),
    }),
  },
  {
    name: 'UpdateL1InfoTree',
    decode: decodeUpdateL1InfoTree,
    args: fc.record({ mainnetExitRoot: bytes(32), rollupExitRoot: bytes(32) }),
  },
  {
    name: 'UpdateL1InfoTreeV2',
    decode: decodeUpdateL1InfoTreeV2,
    args: fc.record({
      currentL1InfoRoot: bytes(32),
      leafCount: uint32,
      blockhash: uint(256),
      minTimestamp: uint(53),
    }),
  },
  {
    name: 'UpdateHashChainValue',
    decode: decodeUpdateHashChainValue,
    args: fc.record({ newGlobalExitRoot: bytes(32), newHashChainValue: bytes(32) }),
  },
] as const

const events: readonly AbiEvent[] = [...bridgeEventsAbi, ...globalExitRootManagerEventsAbi]
const eventOf = (name: string) => events.find((event) => event.name === name)!

for (const { name, decode, args } of hotEvents) {
  test(`the static layout of ${name} decodes to what viem decodes, for any values`, () => {
    fc.assert(
      fc.property(args as fc.Arbitrary<Record<string, unknown>>, (values) => {
        const log = encodeLog(contracts.bridge, eventOf(name), values)
        assert.deepEqual(
          decode(log.topics, log.data, position),
          coldDecoders[name](log.topics, log.data, position),
        )
      }),
      { numRuns: 300, ...seed },
    )
  })

  test(`a log of ${name} with one character changed, dropped or added decodes as viem decodes it, or not at all`, () => {
    fc.assert(
      fc.property(
        args as fc.Arbitrary<Record<string, unknown>>,
        fc.nat(),
        fc.constantFrom('0', '1', 'f', 'g', ''),
        fc.boolean(),
        (values, at, character, keep) => {
          const log = encodeLog(contracts.bridge, eventOf(name), values)
          const place = at % (log.data.length + 1)
          const data = log.data.slice(0, place) + character + log.data.slice(keep ? place : place + 1)
          const hot = decode(log.topics, data, position)
          if (hot !== undefined) assert.deepEqual(hot, coldDecoders[name](log.topics, data, position))
        },
      ),
      { numRuns: 500, ...seed },
    )
  })
}
