import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainBlocks } from '../../../src/events/rowsOfLogs.js'
import { decodeCommand, encodeCommand } from '../../../src/log/commandCodec.js'
import { CommandFormatError } from '../../../src/log/commandFormatError.js'
import type { BlockBatch, ChainEvent, IndexedBlock } from '../../../src/protocol/chainEvent.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import { packedBlocks } from '../../support/packedBlocks.js'
import { TestNumbers } from '../../support/testNumbers.js'
import {
  address,
  batchOfEvents,
  block,
  hash,
  header,
  sampleCommands,
  sampleEvents,
} from './commandSamples.js'
import { RandomCommands } from './randomCommand.js'

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
/** Hex digits, with white space where it helps. */
const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'))
const aLog = { transactionHash: hash(0x7a), logIndex: 1, blockNumber: block(7) }
const H = (byte: string): string => byte.repeat(32)
const A = (byte: string): string => byte.repeat(20)

/** An address that stands in its slot, as docs/decisions/0021 says; worked out in bigints. */
function named(byte: number): string {
  let sum = 0n
  for (let part = 0; part < 5; part++)
    sum = BigInt.asUintN(32, (sum ^ BigInt(byte * 0x0101_0101)) * 0x9e37_79b1n)
  const slot = Number((sum ^ (sum >> 15n)) % 16_383n) + 1
  return slot < 128 ? toHex(Uint8Array.of(slot)) : toHex(Uint8Array.of(0x80 | (slot & 0x7f), slot >> 7))
}

// Worked out by hand from the layout in docs/decisions/0021: version, type, content.
/** The version with which commands are written now. */
const V = '03'
const headerOf8 = `01 02 f007 ${H('b8')} ${H('b7')}`
const goldenCommands: { readonly [Type in ShardCommand['type']]: string } = {
  applyBlocks: `${V} 00 06 ${headerOf8} 05 04 0103 018001 03 8007
    01 07 01 01 ${H('b7')} ${H('b6')} 02
    00 02 00 01 ${H('01')} ac02 03 00${A('de')} 020100 02 00${A('0a')} 03aabb
          01 02            00   03 ${named(0xde)} 020100 02 ${named(0x0a)} 00
    02 01 00 02 ${H('02')} 09010000000000000005 ${named(0xde)} 00 00 ${named(0x0a)}`,
  revertTo: `${V} 01 ffffffffffff3f 01 ac02`,
  startOver: `${V} 02 03 00`,
  noteStartOvers: `${V} 03 03 01 000000000000f83f`,
  noteCatchingUp: `${V} 04 01`,
  noteClaimsCompared: `${V} 05 02 00 8001 02 ffffffff0f 00`,
  setFinalized: `${V} 06 808001`,
  resolveSenders: `${V} 07 03 04 46 ac02 01 ${H('7a')} 00${A('ca')} 00${A('5e')} 03 02 02 8001
    18 00 ffffffffffff3f 00 ${H('7b')} 00${A('cb')}`,
  correctSenders: `${V} 08 01 01 09 ${H('7a')} 01 07
    02 00 02 00 00 00 00 00 00 00
       01 01 00 00 00 010105 00 0100${A('de')} 0120${H('ff')}
    01 01 00${A('ca')} 00${A('5e')}`,
  addPolledGers: `${V} 09 02 ${H('e4')} ${H('e5')} 02`,
  addSettledRoots: `${V} 0a 01 ${H('e3')} 01 04`,
  begin: `${V} 0b 10${'1d'.repeat(16)} 00 01 00${A('b1')} 00${A('b2')} 01 00${A('b3')} 808001 8001 02 03 01 c0843d`,
  mark: `${V} 0c ${H('e3')} 8001 02 03 04 02dead 8002 ${H('d1')} 07`,
  noteHalt: `${V} 0d 05`,
  noteHeadPlace: `${V} 0e 02`,
  noteClaimable: `${V} 0f 01 01 ac02 02 02 01 00 07 01 02 08 ${H('7a')} 00${A('0a')} 01 05`,
}
const goldenEvents: { readonly [Type in ChainEvent['type']]: string } = {
  deposit: `04 01 ${H('01')} ac02 01 03 00${A('de')} 020100 02 00${A('0a')} 03aabb 01 00${A('ca')} 00${A('5e')}`,
  claim: `06 02 ${H('02')} 00 0105 00${A('de')} 00 00 00${A('0a')} 00`,
  claimUnset: `08 03 ${H('03')} 04 06 01 ${H('c4')}`,
  claimSet: `0a 04 ${H('04')} 04 06 06 00${A('5e')}`,
  wrappedToken: `0c 05 ${H('05')} 00${A('3a')} 01 00${A('70')} 00`,
  sovereignToken: `0e 06 ${H('06')} 00${A('3a')} 01 00${A('70')} 01`,
  legacyTokenRemoved: `10 07 ${H('07')} 00${A('3a')}`,
  l1InfoLeaf: `12 08 ${H('08')} ${H('e0')} ${H('e1')}`,
  l1InfoRoot: `14 09 ${H('09')} ${H('e2')} ffffffff0f ${H('b6')} ffffffffffffff0f`,
  l1InfoRootMapInit: `16 0a ${H('0a')} ${H('e2')} 7f`,
  v1GlobalExitRoot: `18 0b ${H('0b')} ${H('e0')} ${H('e1')}`,
  rollupAdded: `1a 0c ${H('0c')} 05 08ffffffffffffffff 00${A('40')} ${H('00')}`,
  rollupSettled: `1c 0d ${H('0d')} 05 ${H('e3')} 01`,
  gerInjected: `1e 0e ${H('0e')} ${H('e4')}`,
  gerRemoved: `20 0f ${H('0f')} ${H('e4')}`,
  backwardLet: `22 10 ${H('10')} 09 ${H('e5')} 08 ${H('e6')}`,
  forwardLet: `24 11 ${H('11')} 08 ${H('e6')} 09 ${H('e7')}
    01 00 01 00${A('de')} 0101 00 00${A('0a')} 21${H('3e')} 03 00${A('ca')} 00${A('5e')}`,
  emergencyState: `26 12 ${H('12')} 01`,
  tokenMigrated: `28 13 ${H('13')} 00${A('ac')} 00${A('3a')} 00${A('3b')} 020100`,
}
/** A batch with one block and `events` in it, up to them. */
const batchUpTo = (count: string): string =>
  `${V} 00 07 01 00 ef07 ${H('b7')} ${H('b6')} 05 04 00 00 00 00 01 01 00 00 ${H('b7')} ${H('b6')} ${count}`

/** Rows as objects: what is the same, however it is kept in memory. */
function plain(command: ShardCommand): ShardCommand {
  if (command.type !== 'applyBlocks') return command
  return { type: 'applyBlocks', batch: { ...command.batch, blocks: plainBlocks(command.batch.blocks) } }
}

for (const [type, golden] of Object.entries(goldenCommands))
  test(`${type} is written as these bytes, and these bytes are read as it`, () => {
    const command = sampleCommands[type as ShardCommand['type']]
    assert.equal(toHex(encodeCommand(command)), toHex(fromHex(golden)))
    assert.deepEqual(plain(decodeCommand(fromHex(golden))), plain(command))
  })

for (const [type, golden] of Object.entries(goldenEvents))
  test(`an event ${type} is written as these bytes, and these bytes are read as it`, () => {
    const command = batchOfEvents([sampleEvents[type as ChainEvent['type']]])
    const bytes = fromHex(`${batchUpTo('01')} ${golden}`)
    assert.equal(toHex(encodeCommand(command)), toHex(bytes))
    assert.deepEqual(decodeCommand(bytes), command)
  })

test('random commands are read as they were, own all their memory, and are written with the same bytes again', () => {
  const types = new Set<string>()
  for (let seed = 1; seed <= 1_500; seed++) {
    const command = new RandomCommands(new TestNumbers(seed)).next()
    const name = `seed ${seed}: ${command.type}`
    types.add(command.type)
    const bytes = encodeCommand(command)
    const read = bytes.slice()
    // As a Buffer: what a socket gives.
    const decoded = decodeCommand(Buffer.from(read.buffer))
    read.fill(0xee)
    assert.deepEqual(decoded, command, name)
    assert.deepEqual(encodeCommand(decoded), bytes, name)
    assert.deepEqual(encodeCommand(withBuffers(command)), bytes, name)
  }
  assert.equal(types.size, 16)
})

/** Deposits and claims of etrog without senders, among a few other events. */
function randomRows(seed: number): { readonly batch: BlockBatch; readonly blocks: readonly IndexedBlock[] } {
  const batch = new RandomCommands(new TestNumbers(seed)).batch()
  const blocks = plainBlocks(batch.blocks).map(({ header: own, events }) => ({
    header: own,
    events: events
      .flatMap((event): ChainEvent[] =>
        event.type === 'deposit' || event.type === 'claim' ? [event, event, event] : [event],
      )
      .map(
        (event): ChainEvent =>
          event.type === 'deposit'
            ? { ...event, sender: null }
            : event.type === 'claim'
              ? { ...event, sender: null, generation: 'v2' }
              : event,
      ),
  }))
  return { batch, blocks }
}

test('rows are read as they were, own their memory, and are written with the same bytes wherever they lie', () => {
  let rows = 0
  for (let seed = 1; seed <= 400; seed++) {
    const { batch, blocks } = randomRows(seed)
    const packed = packedBlocks(blocks)
    const bytes = encodeCommand({ type: 'applyBlocks', batch: { ...batch, blocks: packed } })
    const read = bytes.slice()
    const decoded = decodeCommand(read)
    read.fill(0xee)
    assert.deepEqual(plain(decoded), { type: 'applyBlocks', batch: { ...batch, blocks } }, `seed ${seed}`)
    assert.deepEqual(encodeCommand(decoded), bytes, `seed ${seed}`)
    // Every block's rows in memory of their own, behind a row that is not told.
    const apart = blocks.flatMap((own) =>
      packedBlocks([{ ...own, events: [before, ...own.events] }]).map(withoutFirst),
    )
    assert.deepEqual(encodeCommand({ type: 'applyBlocks', batch: { ...batch, blocks: apart } }), bytes)
    rows += packed.flatMap(({ events }) => events).filter(({ type }) => type.endsWith('Rows')).length
  }
  assert.ok(rows > 500, `only ${rows} entries of rows`)
})

const before: ChainEvent = { ...sampleEvents.deposit, sender: null, metadata: new Uint8Array(77) }

function withoutFirst({ header: own, events }: ReturnType<typeof packedBlocks>[number]) {
  const [first, ...rest] = events
  if (first?.type !== 'depositRows') throw new Error('the first entry is rows of deposits')
  const left = { ...first, from: first.from + 1 }
  return { header: own, events: left.from === left.to ? rest : [left, ...rest] }
}

const someCommands = (): Uint8Array[] => [
  ...Object.values(sampleCommands).map((command) => encodeCommand(command)),
  encodeCommand(batchOfEvents(Object.values(sampleEvents))),
  ...[1, 2, 3].map((seed) => {
    const { batch, blocks } = randomRows(seed)
    return encodeCommand({ type: 'applyBlocks', batch: { ...batch, blocks: packedBlocks(blocks) } })
  }),
]

const isMalformed = (error: unknown): boolean =>
  error instanceof CommandFormatError && error.fault === 'malformed'

test('a command that is cut anywhere is refused, and so is one with a byte behind it', () => {
  let cuts = 0
  for (const bytes of someCommands()) {
    for (let length = 0; length < bytes.length; length++, cuts++)
      assert.throws(
        () => decodeCommand(bytes.subarray(0, length)),
        isMalformed,
        `${length} of ${toHex(bytes)}`,
      )
    assert.throws(() => decodeCommand(Uint8Array.of(...bytes, 0)), isMalformed)
  }
  assert.ok(cuts > 5_000, `only ${cuts} cuts`)
})

test('10,000 commands with a wrong byte are refused, or are the only spelling of another command', () => {
  const numbers = new TestNumbers(7)
  const commands = someCommands()
  let refused = 0
  for (let flip = 0; flip < 10_000; flip++) {
    const bytes = numbers.pick(commands).slice()
    // Not of the version: an older one says the same otherwise.
    const at = 1 + numbers.below(bytes.length - 1)
    bytes[at] = bytes[at]! ^ (1 + numbers.below(255))
    try {
      assert.equal(toHex(encodeCommand(decodeCommand(bytes))), toHex(bytes))
    } catch (error) {
      if (!(error instanceof CommandFormatError)) throw error
      refused++
    }
  }
  // Most bytes are of hashes and addresses, where any byte is as good.
  assert.ok(refused > 1_000 && refused < 9_000, `${refused} are refused`)
})

test('a newer version is refused in one line', () => {
  for (const version of [Number(V) + 1, 0xff])
    assert.throws(() => decodeCommand(Uint8Array.of(version, 1, 7)), {
      ...{ name: 'CommandFormatError', fault: 'newer_version', at: 0 },
      message: `byte 0, version of the command: ${version} is newer than ${Number(V)}, the newest that this build reads: upgrade this instance`,
    })
})

/**
 * Version 1, which builds without feeds wrote: as the golden bytes above, in all but these. `begin` does not say how many events are kept,
 * a mark not of which schema it is; that was 6.
 */
const goldenVersion1: Partial<Record<ShardCommand['type'], string>> = {
  ...Object.fromEntries(
    Object.entries(goldenCommands)
      .filter(([type]) => type !== 'noteClaimable')
      .map(([type, golden]) => [type, `01${golden.slice(2)}`]),
  ),
  revertTo: '01 01 ffffffffffff3f',
  begin: `01 0b 10${'1d'.repeat(16)} 00 01 00${A('b1')} 00${A('b2')} 01 00${A('b3')} 808001 8001 02 03 01`,
  mark: `01 0c ${H('e3')} 8001 02 03 04 02dead 8002 ${H('d1')}`,
}

for (const [type, golden] of Object.entries(goldenVersion1))
  test(`${type} of version 1 is read, with what its builds took for granted`, () => {
    const { begin, mark, revertTo } = sampleCommands
    const then: Partial<Record<string, ShardCommand>> = {
      begin: { ...begin, settings: { ...begin.settings, feedKeepEvents: 1_000_000 } },
      mark: { ...mark, mark: { ...mark.mark, schema: 6 } },
      revertTo: { type: 'revertTo', ancestor: revertTo.ancestor },
    }
    const expected = then[type] ?? sampleCommands[type as ShardCommand['type']]
    assert.deepEqual(plain(decodeCommand(fromHex(golden))), plain(expected))
  })

test('what came with version 2 is no command of version 1, as it was none for the builds that wrote that', () => {
  const later: Readonly<Record<string, readonly [content: string, inVersion1: RegExp]>> = {
    'a type': [goldenCommands.noteClaimable.slice(2), /^byte 1, type of the command: 15 exceeds 14$/],
    'a halt reason': [' 0d 15', /reason: 21 exceeds 20$/],
    'a table': [` 0c ${H('e3')} 00 00 00 22 01 00 01 ${H('d1')} 07`, /table: 34 exceeds 33$/],
    'another table': [` 0c ${H('e3')} 00 00 00 23 01 00 01 ${H('d1')} 07`, /table: 35 exceeds 33$/],
    'a setting': [goldenCommands.begin.slice(2), /3 bytes/],
    'a schema': [goldenCommands.mark.slice(2), /1 byte/],
  }
  for (const [title, [content, message]] of Object.entries(later)) {
    assert.doesNotThrow(() => decodeCommand(fromHex(`02${content}`)), title)
    assert.throws(
      () => decodeCommand(fromHex(`01${content}`)),
      { name: 'CommandFormatError', fault: 'malformed', message },
      title,
    )
  }
})

test('what a build of version 2 wrote is read, without what came later', () => {
  const { ancestor } = sampleCommands.revertTo
  assert.deepEqual(decodeCommand(fromHex('02 01 ffffffffffff3f')), { type: 'revertTo', ancestor })
  const { hashChain, ...unset } = sampleEvents.claimUnset
  assert.deepEqual(hashChain, hash(0xc4))
  const bytes = `02${batchUpTo('01').slice(2)} 08 03 ${H('03')} 04 06`
  assert.deepEqual(decodeCommand(fromHex(bytes)), batchOfEvents([unset]))
})

test('what came with version 3 is no command of version 2, as it was none for the builds that wrote that', () => {
  const event = (golden: string): string => `${batchUpTo('01').slice(2)} ${golden}`
  const mark = (table: string): string => ` 0c ${H('e3')} 00 00 00 ${table} 01 00 01 ${H('d1')} 07`
  const later: Readonly<Record<string, readonly [content: string, inVersion2: RegExp]>> = {
    'a time of a reorg': [goldenCommands.revertTo.slice(2), /3 bytes/],
    'a hash chain': [event(goldenEvents.claimUnset), /33 bytes/],
    'a type of events': [event(goldenEvents.tokenMigrated), /type of an event: 40 exceeds 39$/],
    'a table': [mark('24'), /table: 36 exceeds 35$/],
    'the last table': [mark('27'), /table: 39 exceeds 35$/],
  }
  for (const [title, [content, message]] of Object.entries(later)) {
    assert.doesNotThrow(() => decodeCommand(fromHex(`${V}${content}`)), title)
    assert.throws(
      () => decodeCommand(fromHex(`02${content}`)),
      { name: 'CommandFormatError', fault: 'malformed', message },
      title,
    )
  }
})

/** Bytes that no encoder writes → what is said of them. */
const malformed: Readonly<Record<string, readonly [bytes: string, at: number, message: RegExp]>> = {
  'no bytes': ['', 0, /^byte 0, version of the command: nothing is no version$/],
  'version 0': ['00 01 07', 0, /version of the command: 0 is no version$/],
  'an unknown type': [`${V} 10`, 1, /^byte 1, type of the command: 16 exceeds 15$/],
  'a log id of 15 bytes': [`${V} 0b 0f`, 2, /logId: 15 bytes, not 16$/],
  'a log id of 17 bytes': [`${V} 0b 11`, 2, /length of logId: 17 exceeds 16$/],
  'a table that there is not': [
    `${V} 0c ${H('e3')} 00 00 00 28 01 00 01 ${H('d1')}`,
    37,
    /table: 40 exceeds 39$/,
  ],
  'a key without bytes': [`${V} 0c ${H('e3')} 00 00 00 00 00 01 ${H('d1')}`, 38, /from: 0 bytes, not 1$/],
  'an unknown halt reason': [`${V} 0d 16`, 2, /reason: 22 exceeds 21$/],
  'an unknown place of a head': [`${V} 0e 04`, 2, /place: 4 exceeds 3$/],
  'a number that is longer than it has to be': [
    `${V} 01 8700`,
    2,
    /ancestor: a number is longer than it has to be$/,
  ],
  'a number of more than 8 bytes': [
    `${V} 01 ffffffffffffffff01`,
    2,
    /ancestor: a number of more than 8 bytes$/,
  ],
  'a number that does not end': [`${V} 01 ffff`, 2, /ancestor: the bytes end within a number$/],
  'a block above 2^48': [`${V} 01 80808080808040`, 2, /ancestor: 281474976710656 exceeds 281474976710655$/],
  'a uint32 above its limit': [`${V} 02 8080808010 00`, 2, /count: 4294967296 exceeds 4294967295$/],
  'a boolean of 2': [`${V} 04 02`, 2, /isCatchingUp: 2 exceeds 1$/],
  'a time that is no number': [
    `${V} 03 03 01 000000000000f87f`,
    4,
    /notBeforeMs: NaN is not a finite number from 0/,
  ],
  'a time without end': [
    `${V} 03 03 01 000000000000f07f`,
    4,
    /notBeforeMs: Infinity is not a finite number from 0/,
  ],
  'a time before 1970': [
    `${V} 03 03 01 000000000000f0bf`,
    4,
    /notBeforeMs: -1 is not a finite number from 0/,
  ],
  'a negative zero': [`${V} 03 03 01 0000000000000080`, 4, /notBeforeMs: 0 is not a finite number from 0/],
  'more roots than there is room for': [
    `${V} 09 03 ${H('e4')} ${H('e5')} 02`,
    2,
    /globalExitRoots: 3 of at least 32/,
  ],
  '2^53 − 1 roots': [
    `${V} 09 ffffffffffffff0f ${H('e4')} 02`,
    2,
    /globalExitRoots: 9007199254740991 of at least 32/,
  ],
  '2^40 networks': [
    `${V} 05 808080808020 00 00`,
    2,
    /compared: 1099511627776 of at least 2 bytes each, 2 bytes/,
  ],
  '2^32 senders': [`${V} 07 8080808010 01 00`, 2, /resolved: 4294967296 of at least 4/],
  '2^32 corrections': [`${V} 08 8080808010 01 00`, 2, /corrected: 4294967296 of at least/],
  'an unknown code of a sender': [`${V} 07 01 1c 00 00 00`, 3, /sender: 28 exceeds 27$/],
  'a sender in the transaction before the first': [
    `${V} 07 01 02 00 00 00`,
    7,
    /transactionHash: there is no event before/,
  ],
  'a sender whose transaction is written again': [
    `${V} 07 02 00 00 00 00 ${H('7a')} 00 00 00 00 ${H('7a')}`,
    43,
    /transactionHash: the same as before is written again$/,
  ],
  'an address from an empty slot': [
    `${V} 07 01 08 00 00 00 ${H('7a')} 05`,
    39,
    /caller: no address stood in slot 4$/,
  ],
  'a slot that there is not': [
    `${V} 07 01 08 00 00 00 ${H('7a')} ffff01`,
    39,
    /caller: 32767 exceeds 16383$/,
  ],
  'a caller that is written again': [
    `${V} 07 01 04 00 00 00 ${H('7a')} 00${A('ca')} ${named(0xca)}`,
    60,
    /transactionSender: the caller is written again$/,
  ],
  'an address that stands in its slot': [
    `${V} 07 02 08 00 00 00 ${H('7a')} 00${A('ca')} 0a 00 00 00 00${A('ca')}`,
    64,
    /caller: the same as before is written again$/,
  ],
  'a correction of nobody': [`${V} 08 01 01 09 ${H('7a')} 01 07 00 01 00 00`, 41, /sender: nobody$/],
  'a fifth kind of log': [
    `${V} 08 01 01 09 ${H('7a')} 01 07 01 00 04 00000000000000 01 01`,
    41,
    /kind: 4 exceeds 3$/,
  ],
  'a header that is lower by nothing': [
    `${V} 00 07 03 00 00 ${H('b7')} ${H('b6')}`,
    4,
    /number: lower by nothing$/,
  ],
  'a header below block 0': [
    `${V} 00 07 03 08 00 ${H('b7')} ${H('b6')}`,
    4,
    /number: -1 is not a whole number up to/,
  ],
  'a time below 0': [
    `${V} 00 07 05 00 01 ${H('b7')} ${H('b6')}`,
    5,
    /timestampSec: -1 is not a whole number up to/,
  ],
  'an unknown flag of a header': [`${V} 00 07 09 00 00 ${H('b7')}`, 3, /flags of a header: 9 exceeds 7$/],
  '2^40 events': [
    batchUpTo('808080808020'),
    145,
    /events: 1099511627776 of at least 2 bytes each, 0 bytes are left$/,
  ],
  'an unknown type of event': [
    `${batchUpTo('01')} 2a 12 ${H('12')}`,
    146,
    /type of an event: 42 exceeds 41$/,
  ],
  'rows in the transaction before': [
    `${batchUpTo('01')} 01 00 00`,
    146,
    /type of an event: rows say themselves/,
  ],
  'a transaction before the first': [
    `${batchUpTo('01')} 27 12 01`,
    148,
    /transactionHash: there is no event before/,
  ],
  'a transaction that is written again': [
    `${batchUpTo('02')} 26 12 ${H('12')} 01 26 13 ${H('12')} 01`,
    183,
    /transactionHash: the same as before is written again$/,
  ],
  'a third generation': [`${batchUpTo('01')} 06 02 ${H('02')} 02`, 180, /generation: 2 exceeds 1$/],
  'an amount of 33 bytes': [
    `${batchUpTo('01')} 06 02 ${H('02')} 00 21 ${H('01')} 01`,
    181,
    /length of globalIndex: 33/,
  ],
  'an amount with leading zeros': [
    `${batchUpTo('01')} 06 02 ${H('02')} 00 020005`,
    181,
    /globalIndex: a number begins/,
  ],
  'a rollup 0': [`${batchUpTo('01')} 1c 0d ${H('0d')} 00 ${H('e3')} 01`, 180, /networkId: 0 is below 1$/],
  'a chain id of 9 bytes': [
    `${batchUpTo('01')} 1a 0c ${H('0c')} 05 09${A('01')}`,
    181,
    /length of chainId: 9 exceeds 8/,
  ],
  'metadata that came before': [
    `${batchUpTo('01')} 0c 05 ${H('05')} 00${A('3a')} 01 00${A('70')} 01`,
    223,
    /metadata: the same as before are written again$/,
  ],
  'metadata of 2^40 bytes': [
    `${batchUpTo('01')} 0c 05 ${H('05')} 00${A('3a')} 01 00${A('70')} 818080808020`,
    229,
    /metadata: 1099511627776 bytes are needed, 0 are left$/,
  ],
}

for (const [title, [bytes, at, message]] of Object.entries(malformed))
  test(`${title}: refused with the byte and the field`, () => {
    assert.throws(
      () => decodeCommand(fromHex(bytes)),
      (error: Error & { fault?: string; at?: number }) => {
        assert.equal(error.name, 'CommandFormatError', error.stack)
        assert.deepEqual({ fault: error.fault, at: error.at }, { fault: 'malformed', at }, error.message)
        assert.match(error.message, message)
        return true
      },
    )
  })

/** The packed sample with another number of rows, bytes of all rows, first entry and rest. */
const packedWith = (totals: string, entries: string): Uint8Array =>
  fromHex(`${V} 00 06 ${headerOf8} 05 04 0103 018001 ${totals} 01 07 01 01 ${H('b7')} ${H('b6')} ${entries}`)
const aClaim = `00 02 ${H('02')} 0105 00${A('de')} 00 00 00${A('0a')}`
const aDeposit = (metadata: string): string =>
  `00 01 ${H('01')} 00 03 00${A('de')} 00 02 00${A('0a')} ${metadata}`

test('rows say before they come how much memory they need, and are refused when that is not right', () => {
  const read = (totals: string, entries: string): ShardCommand => decodeCommand(packedWith(totals, entries))
  assert.equal(read('01 c001', `01 02 01 ${aClaim}`).type, 'applyBlocks')
  const wrong: Readonly<Record<string, readonly [totals: string, entries: string, message: RegExp]>> = {
    'one row too many': ['02 c001', `01 02 01 ${aClaim}`, /rows: 1 of 2 rows are there$/],
    'one row too few': ['00 00', `01 02 01 ${aClaim}`, /number of rows: 0 \+ 1 rows of 0$/],
    'room for a row that there is not': [
      '00 c001',
      `01 02 01 ${aClaim}`,
      /: 0 rows can have \d+ bytes, not 192$/,
    ],
    'a word too many': ['01 e001', `01 02 01 ${aClaim}`, /bytes of all rows: rows have 192 bytes, not 224$/],
    'a word too few': ['01 a001', `01 02 01 ${aClaim}`, /bytes of all rows: rows have more than 160 bytes$/],
    'half a word': ['01 c101', `01 02 01 ${aClaim}`, /bytes of all rows: 193 is no multiple of 32$/],
    'metadata without room': [
      '01 c002',
      `01 00 01 ${aDeposit('02aa')}`,
      /bytes of all rows: rows have more than 320/,
    ],
    '2^29 bytes for one row': [
      '01 8080808002',
      `01 02 01 ${aClaim}`,
      /bytes of all rows: 1 rows can have \d+ bytes/,
    ],
    'more than 2^29 bytes': [
      '01 a080808002',
      `01 02 01 ${aClaim}`,
      /bytes of all rows: 536870944 exceeds 536870912$/,
    ],
    '2^32 − 1 rows': ['ffffffff0f c001', `01 02 01 ${aClaim}`, /rows: 4294967295 of at least 7 bytes each/],
    'a claim with a leaf type': ['01 c001', `01 02 01 02${aClaim.slice(2)}`, /claim: 2 exceeds 1$/],
  }
  for (const [title, [totals, entries, message]] of Object.entries(wrong))
    assert.throws(() => read(totals, entries), { name: 'CommandFormatError', message }, title)
})

test('lengths and counts that promise gigabytes allocate nothing', () => {
  const promises = [
    ...['09 ffffffffffffff0f', '05 808080808020 00 00', '07 8080808010 01 00'].map((bytes) =>
      fromHex(`${V} ${bytes}`),
    ),
    packedWith('ffffffff0f 8080808002', '00'),
    packedWith('01 8080808002', `01 02 01 ${aClaim}`),
    fromHex(`${batchUpTo('01')} 0c 05 ${H('05')} 00${A('3a')} 01 00${A('70')} 8180808010`),
  ]
  const { arrayBuffers, heapTotal } = process.memoryUsage()
  for (const bytes of promises) assert.throws(() => decodeCommand(bytes), isMalformed)
  const after = process.memoryUsage()
  assert.ok(after.arrayBuffers - arrayBuffers < 8 * 2 ** 20, `${after.arrayBuffers - arrayBuffers} bytes`)
  assert.ok(after.heapTotal - heapTotal < 64 * 2 ** 20, `${after.heapTotal - heapTotal} bytes`)
})

test('metadata that rows share take room for each of them, in proportion to the command', () => {
  const metadata = new Uint8Array(1_024).fill(7)
  const events = Array.from(
    { length: 2_000 },
    (_, row): ChainEvent => ({ ...sampleEvents.deposit, sender: null, metadata, depositCount: row as never }),
  )
  const batch = { fromBlock: block(7), head: header(7), finalizedBlock: block(5), undoFloor: block(4) }
  const blocks = packedBlocks([{ header: header(7), events }])
  const bytes = encodeCommand({ type: 'applyBlocks', batch: { ...batch, blocks } })
  const decoded = decodeCommand(bytes)
  assert.deepEqual(plain(decoded), { type: 'applyBlocks', batch: { ...batch, blocks: plainBlocks(blocks) } })
  const [rows] = (decoded as { batch: BlockBatch }).batch.blocks[0]!.events
  assert.ok(rows !== undefined && 'logs' in rows)
  assert.equal(rows.logs.bytes.length, 2_000 * (32 + 288 + 1_024))
  assert.ok(
    rows.logs.bytes.length < 200 * bytes.length,
    `${bytes.length} bytes became ${rows.logs.bytes.length}`,
  )
})

test('metadata of more than 1,024 bytes are written again each time', () => {
  for (const [length, times] of [
    [1_024, 1],
    [1_025, 2],
  ] as const) {
    const metadata = new Uint8Array(length).fill(7)
    const token = { ...sampleEvents.wrappedToken, metadata }
    const bytes = encodeCommand(batchOfEvents([token, { ...token, logIndex: 6 }]))
    const written = [...toHex(bytes).matchAll(new RegExp(`(?:07){${length}}`, 'g'))]
    assert.equal(written.length, times)
    assert.deepEqual(decodeCommand(bytes), batchOfEvents([token, { ...token, logIndex: 6 }]))
  }
})

/** Values that are not of their type. */
const unwritable: Readonly<Record<string, ShardCommand>> = {
  'a block that is no whole number': { type: 'revertTo', ancestor: block(1.5) },
  'a block below 0': { type: 'revertTo', ancestor: block(-1) },
  'a block of 2^48': { type: 'setFinalized', block: block(2 ** 48) },
  'a time that is no number': { type: 'startOver', startOvers: { count: 1, notBeforeMs: Number.NaN } },
  'a time before 1970': { type: 'startOver', startOvers: { count: 1, notBeforeMs: -1 } },
  'a count of 2^32': { type: 'startOver', startOvers: { count: 2 ** 32, notBeforeMs: 1 } },
  'a hash of 31 bytes': { type: 'addPolledGers', globalExitRoots: [hash(1).subarray(1)], polledLeaves: 1 },
  'an address of 21 bytes': batchOfEvents([
    { ...sampleEvents.legacyTokenRemoved, sovereignTokenAddress: new Uint8Array(21) },
  ]),
  'a sender of 21 bytes, of which 20 are the caller': {
    type: 'resolveSenders',
    resolved: [
      {
        ...{ kind: 'deposit', ordinal: 0 as never, ...aLog },
        sender: { caller: address(1), transactionSender: Uint8Array.of(...address(1), 0) },
      },
    ],
  },
  'an ordinal of 2^32': {
    type: 'resolveSenders',
    resolved: [{ kind: 'deposit', ordinal: (2 ** 32) as never, ...aLog, sender: null }],
  },
  'a log in block 2^48 behind one in block 1': {
    type: 'resolveSenders',
    resolved: [1, 2 ** 48].map((number) => ({
      ...{ kind: 'deposit', ordinal: 0 as never, ...aLog, blockNumber: block(number) },
      sender: null,
    })),
  },
  'a sender of a transaction hash of 33 bytes': {
    type: 'resolveSenders',
    resolved: [
      { kind: 'claim', ordinal: 0 as never, ...aLog, transactionHash: new Uint8Array(33), sender: null },
    ],
  },
  'an amount of 2^256': batchOfEvents([{ ...sampleEvents.claim, amount: 2n ** 256n }]),
  'an amount below 0': batchOfEvents([{ ...sampleEvents.claim, amount: -1n }]),
  'a chain id of 2^64': batchOfEvents([{ ...sampleEvents.rollupAdded, chainId: 2n ** 64n }]),
  'a rollup 0': batchOfEvents([{ ...sampleEvents.rollupAdded, networkId: 0 as never }]),
  'a transaction hash of 33 bytes': batchOfEvents([
    { ...sampleEvents.claimUnset, transactionHash: new Uint8Array(33) },
  ]),
  'an unknown generation': batchOfEvents([{ ...sampleEvents.claim, generation: 'v3' as never }]),
  'an event of another block': batchOfEvents([{ ...sampleEvents.claimUnset, blockNumber: block(8) }]),
  'a row of another block': {
    type: 'applyBlocks',
    batch: {
      ...sampleCommands.applyBlocks.batch,
      blocks: packedBlocks([{ header: header(7), events: [before] }]).map(({ events }) => ({
        ...{ header: header(8), events },
      })),
    },
  },
}

for (const [title, command] of Object.entries(unwritable))
  test(`${title}: not written`, () => {
    assert.throws(() => encodeCommand(command), RangeError)
  })

/** The same command, with Buffers where there were byte arrays. */
function withBuffers(value: ShardCommand): ShardCommand {
  const copy = (part: unknown): unknown => {
    if (part instanceof Uint8Array) return Buffer.from(part)
    if (Array.isArray(part)) return part.map(copy)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, copy(each)]))
  }
  return copy(value) as ShardCommand
}
