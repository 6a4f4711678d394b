import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AbiEvent } from 'viem'
import { bytesToHex, encodeEventTopics } from 'viem/utils'
import { parseReplies } from '../../src/chain/rpc/parseReplies.js'
import { areInOrder, decodeLogs, unpackLog } from '../../src/chain/rpc/rpcLogs.js'
import { decodeLog, type EventFilter } from '../../src/events/decodeLog.js'
import { PackedLogs } from '../../src/events/packedLogs.js'
import { packedRootEvent } from '../../src/events/packedRootEvents.js'
import { plainEvents, rowsFrom } from '../../src/events/rowsOfLogs.js'
import { bridgeEventsAbi, globalExitRootManagerEventsAbi } from '../../src/protocol/abis.js'
import type { ChainEvent } from '../../src/protocol/chainEvent.js'
import { decodeHex } from '../../src/protocol/hex.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import { compileMerkleModule, createLogScanner, type MerkleBuild } from '../../src/wasm/wasmModule.js'
import { contracts, encodeLog, l1Filter, l2Filter } from '../support/encodedLogs.js'

const builds: readonly MerkleBuild[] = ['simd', 'scalar', 'simd-debug', 'scalar-debug']
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((value) => bytesToHex(value))
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

const args = {
  BridgeEvent: fc.record({
    leafType: fc.integer({ min: 0, max: 255 }),
    ...{ originNetwork: uint32, originAddress: bytes(20) },
    ...{ destinationNetwork: uint32, destinationAddress: bytes(20) },
    amount: uint256,
    metadata: fc.uint8Array({ maxLength: 400 }).map((value) => bytesToHex(value)),
    depositCount: uint32,
  }),
  ClaimEvent: fc.record({
    ...{ globalIndex: uint256, originNetwork: uint32, originAddress: bytes(20) },
    ...{ destinationAddress: bytes(20), amount: uint256 },
  }),
  UpdateL1InfoTree: fc.record({ mainnetExitRoot: bytes(32), rollupExitRoot: bytes(32) }),
  UpdateL1InfoTreeV2: fc.record({
    currentL1InfoRoot: bytes(32),
    leafCount: uint32,
    blockhash: uint256,
    minTimestamp: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
  }),
  UpdateHashChainValue: fc.record({ newGlobalExitRoot: bytes(32), newHashChainValue: bytes(32) }),
}

const isBridges = (name: keyof typeof args): boolean => name === 'BridgeEvent' || name === 'ClaimEvent'

function abiOf(name: keyof typeof args): AbiEvent {
  const abi = isBridges(name) ? bridgeEventsAbi : globalExitRootManagerEventsAbi
  return abi.find((item) => item.type === 'event' && item.name === name) as AbiEvent
}

/** The events of an L1 and of an L2. */
const filter: EventFilter = new Map(
  [...l1Filter].map(([address, events]) => [address, new Map([...events, ...(l2Filter.get(address) ?? [])])]),
)

const contractLog = fc.oneof(
  ...(Object.keys(args) as (keyof typeof args)[]).map((name) =>
    (args[name] as fc.Arbitrary<Record<string, unknown>>).map((values) =>
      encodeLog(isBridges(name) ? contracts.bridge : contracts.globalExitRootManager, abiOf(name), values),
    ),
  ),
  fc.record({ address: bytes(20), topics: fc.array(bytes(32), { maxLength: 4 }), data: bytes(37) }),
)

const rawLog = fc
  .record({
    log: contractLog,
    ...{ blockHash: bytes(32), transactionHash: bytes(32) },
    ...{ block: fc.integer({ min: 0, max: 2 ** 40 }), logIndex: fc.integer({ min: 0, max: 5_000 }) },
    time: fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: 0, max: 2 ** 33 }),
      fc.integer({ min: 0, max: 2 ** 33 }).map((time) => `0x${time.toString(16)}`),
    ),
    isRemoved: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
    extra: fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(undefined, null, true, false, 0, 17, '', 'a') },
      fc.jsonValue(),
    ),
    isUpper: fc.boolean(),
    order: fc.array(fc.integer(), { minLength: 12, maxLength: 12 }),
  })
  .map(({ log, block, logIndex, time, isRemoved, extra, isUpper, order, ...hashes }) => {
    const spell = (hex: string) => (isUpper ? `0x${hex.slice(2).toUpperCase()}` : hex)
    const fields = Object.entries({
      ...{ address: spell(log.address), topics: [...log.topics].map(spell), data: spell(log.data) },
      ...{ blockHash: spell(hashes.blockHash), transactionHash: spell(hashes.transactionHash) },
      ...{ blockNumber: `0x${block.toString(16)}`, logIndex: `0x${logIndex.toString(16)}` },
      ...{ transactionIndex: '0x1', removed: isRemoved, blockTimestamp: time, more: extra },
    })
    return Object.fromEntries(
      fields
        .map((field, index) => ({ field, at: order[index]! }))
        .sort((a, b) => a.at - b.at)
        .map(({ field }) => field),
    )
  })

for (const build of builds)
  test(`${build}: the packed decoder reads the same logs as JSON.parse, however the JSON is written`, () => {
    const scanner = createLogScanner(compileMerkleModule(build))
    let scans = 0
    fc.assert(
      fc.property(
        fc.array(rawLog, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(0, 1, 2),
        fc.integer({ min: 1, max: 40 }),
        (few, indent, repeats) => {
          // More than the piece of text that the scanner reads at a time.
          const logs = Array.from({ length: repeats }, () => few).flat()
          const replies = [
            { jsonrpc: '2.0', id: 1, result: { number: '0x1', list: [1, { a: '}' }] } },
            { jsonrpc: '2.0', id: 2, result: logs },
          ]
          const text = JSON.stringify(replies, undefined, indent)
          const parsed = parseReplies(Buffer.from(text), { scanner, filter }) as typeof replies
          // An escape in a text that the scanner skips, or a list in a log: parsed as JSON.
          if (parsed === undefined) return
          scans++
          assert.deepEqual(parsed[0], replies[0])
          const packed = parsed[1]!.result as unknown
          assert.ok(packed instanceof PackedLogs)
          const plain = decodeLogs(
            logs.map((log, index) => ({ ...log, logIndex: index })),
            0,
            2 ** 50,
            'a',
          )
          const expected = logs.filter(({ removed }) => removed !== true)
          assert.equal(packed.length, expected.length)
          expected.forEach((raw, index) => {
            const [own] = decodeLogs([raw], 0, 2 ** 50, 'a')
            const got = unpackLog(packed, index)
            const isKnown = packed.event(index) !== undefined
            const lower = { ...own!, topics: own!.topics.map((topic) => topic.toLowerCase()) }
            const wanted = { ...lower, data: own!.data.toLowerCase() }
            assert.deepEqual(got, isKnown ? wanted : { ...wanted, address: '' })
            assertSameEvent(packed, index)
          })
          assert.equal(plain.length, expected.length)
        },
      ),
      { numRuns: build.endsWith('debug') ? 25 : 100 },
    )
    assert.ok(scans > 5, `${scans} scans`)
  })

/** The packed decoders return what the general decoder returns. */
function assertSameEvent(logs: PackedLogs, log: number): void {
  const hash = logs.transactionHash(log)
  const name = logs.event(log)?.name
  if (name === undefined) return
  const position = {
    ...{ blockNumber: asBlockNumber(logs.blockNumber(log)), logIndex: logs.logIndex(log) },
    transactionHash: hash,
  }
  const rows = rowsFrom(logs, log, log + 1)
  const [event]: readonly (ChainEvent | undefined)[] =
    rows === undefined ? [packedRootEvent(logs, log, name, position)] : plainEvents([rows])
  const expected = decodeLog(logs.encoded(log), position, filter)!
  assert.deepEqual(event, expected)
}

test('the packed decoder leaves a broken log, a truncated list and any other result to JSON.parse', () => {
  const scanner = createLogScanner(compileMerkleModule())
  const hash = `0x${'ab'.repeat(32)}`
  const good = {
    ...{ address: contracts.bridge, topics: [hash], data: '0x', blockNumber: '0x1', blockHash: hash },
    ...{ transactionHash: hash, logIndex: '0x0' },
  }
  const read = (text: string) => parseReplies(Buffer.from(text), { scanner, filter: l1Filter })
  const reply = (log: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result: [good, log] })
  assert.ok(read(reply(good)) !== undefined)
  const wrong = [
    { ...good, data: '0x0' },
    { ...good, data: '0x0g' },
    { ...good, topics: [hash.slice(0, -1)] },
    { ...good, topics: [hash, hash, hash, hash, hash] },
    { ...good, blockHash: null },
    { ...good, blockNumber: '0x' },
    { ...good, blockNumber: '0x100000000000000' },
    { ...good, logIndex: 1.5 },
    { ...good, address: hash },
    { topics: [] },
  ]
  for (const log of wrong) assert.equal(read(reply(log)), undefined, JSON.stringify(log))
  const text = reply(good)
  // Broken JSON, or JSON that contradicts the log: never decoded as the other logs.
  for (const [before, after] of [
    ['blockNumber', 'blockN mber'],
    ['blockHash', 'bloc_Hash'],
    ['transactionHash', 'transactivnHash'],
    ['logIndex', 'log\tndex'],
    ['"logIndex"', '"blockTimestamp":01,"logIndex"'],
    ['"logIndex"', '"removed":nalse,"logIndex"'],
    ['"logIndex"', '"more":nul,"logIndex"'],
    ['"logIndex"', '"more":1 2,"logIndex"'],
    ['"logIndex"', '"more":[1,2},"logIndex"'],
    ['"logIndex"', '"more":1.5.5,"logIndex"'],
    ['"result"', '"resu\tlt"'],
  ] as const)
    assert.equal(read(text.replace(before, after)), undefined, after)
  for (let length = 1; length < text.length; length++)
    assert.equal(read(text.slice(0, length)), undefined, `${length} characters`)
  const logs = (read(text) as { result: PackedLogs }).result
  assert.equal(areInOrder(logs, 1, 1), false)
  // Of a repeated key the last one counts.
  const twice = read(
    text
      .replace('"data"', '"removed":true,"blockTimestamp":5,"data"')
      .replace('"logIndex"', '"removed":false,"blockTimestamp":0,"logIndex"'),
  ) as { result: PackedLogs }
  assert.equal(twice.result.length, 2)
  assert.equal(twice.result.blockTimestamp(0), undefined)
  assert.deepEqual(decodeHex(hash), new Uint8Array(logs.blockHash(0)))
})

test('a root event of another layout, or with a time beyond safe integers, is left to the general decoder', () => {
  const scanner = createLogScanner(compileMerkleModule())
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const topicOf = (name: keyof typeof args) =>
    encodeEventTopics({ abi: [abiOf(name)] } as never)[0] as unknown as string
  const one = `0x${word(1n)}`
  const v2 = topicOf('UpdateL1InfoTreeV2')
  const data = (time: bigint) => `0x${word(1n)}${word(2n)}${word(time)}`
  const packed = (topics: readonly string[], told: string) => {
    const log = { address: contracts.globalExitRootManager, topics, data: told }
    const place = { blockNumber: '0x1', logIndex: '0x0', blockHash: one, transactionHash: one }
    const reply = JSON.stringify({ jsonrpc: '2.0', id: 1, result: [{ ...log, ...place }] })
    const { result } = parseReplies(Buffer.from(reply), { scanner, filter }) as { result: PackedLogs }
    const position = { blockNumber: asBlockNumber(1), logIndex: 0, transactionHash: new Uint8Array(32) }
    return packedRootEvent(result, 0, result.event(0)!.name, position)?.type
  }
  assert.equal(packed([v2, one], data(2n ** 53n - 1n)), 'l1InfoRoot')
  const left: readonly (readonly [readonly string[], string])[] = [
    [[v2, one], data(2n ** 53n)],
    [[v2, one], data(2n ** 64n)],
    [[v2, `0x${word(2n ** 32n)}`], data(1n)],
    [[v2, one, one], data(1n)],
    [[v2, one], `${data(1n)}00`],
    [[topicOf('UpdateL1InfoTree'), one], '0x'],
    [[topicOf('UpdateL1InfoTree'), one, one], '0x00'],
    [[topicOf('UpdateHashChainValue'), one, one], '0x00'],
  ]
  for (const [topics, told] of left) assert.equal(packed(topics, told), undefined, `${topics} ${told}`)
})
