import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encodeCommand } from '../../../src/log/commandCodec.js'
import { CommandFormatError } from '../../../src/log/commandFormatError.js'
import {
  CommandGatherer,
  commandMessages,
  type Gathered,
  MOST_MESSAGE_BYTES,
  MOST_PARTS,
} from '../../../src/log/commandMessages.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { sampleCommands } from './commandSamples.js'

/** Version, id, part, parts, SHA-256. */
const HEAD_BYTES = 1 + 16 + 2 + 2 + 32
const FULL = MOST_MESSAGE_BYTES - HEAD_BYTES

const idOf = (byte: number): Uint8Array => new Uint8Array(16).fill(byte)

/** Bytes of which no two stretches are the same. What they say does not matter here. */
function commandOf(length: number, seed = 1): Uint8Array {
  const command = new Uint8Array(length)
  const words = new Uint32Array(command.buffer, 0, length >>> 2)
  for (let word = 0; word < words.length; word++) words[word] = Math.imul(word + seed, 0x9e37_79b1)
  return command
}

function take(gatherer: CommandGatherer, messages: readonly Uint8Array[]): Gathered[] {
  return messages.map((message) => gatherer.take(message))
}

/** Which commands come out, by the first byte of their id, and how many messages are refused. */
function outcomeOf(messages: readonly Uint8Array[]): { finished: number[]; refused: number } {
  const gathered = take(new CommandGatherer(), messages)
  return {
    finished: gathered.flatMap((each) => (each.type === 'finished' ? [each.id[0]!] : [])),
    refused: gathered.filter(({ type }) => type === 'refused').length,
  }
}

test('a message is version, id, part, number of parts, hash of all that, and bytes of the command', () => {
  const command = encodeCommand(sampleCommands.revertTo)
  const [message, ...others] = commandMessages(idOf(0x1d), command)
  const digest = createHash('sha256')
    .update(`\u0003${'\u001d'.repeat(16)}\u0001\u0000`)
    .update(command)
    .digest('hex')
  const expected = `03${'1d'.repeat(16)}00000100${digest}${'0301ffffffffffff3f01ac02'}`
  assert.equal(Buffer.from(message!).toString('hex'), expected)
  assert.deepEqual(others, [])
})

/** A message as an older build wrote it: the version is part of what is hashed. */
function ofVersion(version: number, id: Uint8Array, command: Uint8Array): Uint8Array {
  const [message] = commandMessages(id, command)
  const digest = createHash('sha256')
    .update(Uint8Array.of(version, ...id, 1, 0))
    .update(command)
    .digest()
  message![0] = version
  message!.set(digest, HEAD_BYTES - 32)
  return message!
}

test('a message of version 1 is read, and not one whose version alone was changed', () => {
  const command = Uint8Array.of(1, 4, 1)
  assert.deepEqual(new CommandGatherer().take(ofVersion(1, idOf(3), command)), {
    ...{ type: 'finished', id: idOf(3), command },
  })
  const changed = ofVersion(2, idOf(3), command)
  changed[0] = 1
  assert.throws(() => new CommandGatherer().take(changed), {
    name: 'CommandFormatError',
    fault: 'wrong_hash',
  })
})

test('parts of one command are of one version', () => {
  const [part0, part1] = commandMessages(idOf(1), commandOf(FULL + 9))
  const older = part1!.slice()
  older[0] = 1
  assert.deepEqual(outcomeOf([part0!, older, part1!]), { finished: [1], refused: 1 })
})

test('a command of any length comes out as it went in, in as few messages as there can be', () => {
  for (const [length, parts] of [
    [1, 1],
    [FULL - 1, 1],
    [FULL, 1],
    [FULL + 1, 2],
    [2 * FULL, 2],
    [2 * FULL + 1, 3],
  ] as const) {
    const command = commandOf(length)
    const messages = commandMessages(idOf(1), command)
    assert.equal(messages.length, parts)
    for (const message of messages) assert.ok(message.length <= 512_000, `${message.length} bytes`)
    const gathered = take(new CommandGatherer(), messages)
    assert.deepEqual(gathered.slice(0, -1), Array(parts - 1).fill({ type: 'unfinished' }))
    assert.deepEqual(gathered.at(-1), { type: 'finished', id: idOf(1), command })
  }
})

test('a command may have 128 parts, and not one byte more', () => {
  const command = commandOf(MOST_PARTS * FULL)
  const messages = commandMessages(idOf(1), command)
  assert.equal(messages.length, 128)
  const last = take(new CommandGatherer(), messages).at(-1)!
  assert.ok(last.type === 'finished' && Buffer.compare(last.command, command) === 0)
  assert.throws(() => commandMessages(idOf(1), new Uint8Array(MOST_PARTS * FULL + 1)), RangeError)
  assert.throws(() => commandMessages(idOf(1), new Uint8Array(0)), RangeError)
  assert.throws(() => commandMessages(new Uint8Array(15), commandOf(1)), RangeError)
})

test('what was taken does not change with the memory of its message', () => {
  const command = commandOf(FULL + 5)
  const gatherer = new CommandGatherer()
  const gathered = commandMessages(idOf(1), command).map((message) => {
    // As a Buffer, whose slices are views.
    const lent = Buffer.from(message)
    const each = gatherer.take(lent)
    lent.fill(0xee)
    return each
  })
  assert.deepEqual(gathered[1], { type: 'finished', id: idOf(1), command })
})

const first = commandMessages(idOf(1), commandOf(2 * FULL + 9))
const second = commandMessages(idOf(2), commandOf(FULL + 9, 5))
const small = commandMessages(idOf(3), commandOf(9))

test('a command that lost any of its messages never comes out, and the next one does', () => {
  for (let lost = 0; lost < first.length; lost++) {
    const rest = first.filter((_, part) => part !== lost)
    assert.deepEqual(outcomeOf([...rest, ...second]), {
      finished: [2],
      refused: lost === 2 ? 0 : lost === 0 ? 2 : 1,
    })
  }
})

test('a message that comes twice changes nothing, save that part 0 begins anew', () => {
  const [a, b, c] = first as [Uint8Array, Uint8Array, Uint8Array]
  assert.deepEqual(outcomeOf([a, a, b, c, ...second]), { finished: [1, 2], refused: 0 })
  assert.deepEqual(outcomeOf([a, b, b, c, ...second]), { finished: [1, 2], refused: 1 })
  assert.deepEqual(outcomeOf([a, b, c, c, ...second]), { finished: [1, 2], refused: 1 })
  assert.deepEqual(outcomeOf([a, b, a, b, c]), { finished: [1], refused: 0 })
  assert.deepEqual(outcomeOf([a, b, a, c]), { finished: [], refused: 1 })
})

test('messages in any other order than that of their parts do not make a command', () => {
  const [a, b, c] = first as [Uint8Array, Uint8Array, Uint8Array]
  for (const [order, refused] of [
    [[b, a, c], 2],
    [[b, c, a], 2],
    [[c, a, b], 1],
    [[c, b, a], 2],
  ] as const)
    assert.deepEqual(outcomeOf(order), { finished: [], refused })
  // The one that came too early came in vain; the command waits for it.
  assert.deepEqual(outcomeOf([a, c, b]), { finished: [], refused: 1 })
  assert.deepEqual(outcomeOf([a, c, b, c]), { finished: [1], refused: 1 })
})

test('part 0 of another command voids an unfinished one, whose later parts are refused', () => {
  const [a, b, c] = first as [Uint8Array, Uint8Array, Uint8Array]
  const [d, e] = second as [Uint8Array, Uint8Array]
  assert.deepEqual(outcomeOf([a, b, d, c, e]), { finished: [2], refused: 1 })
  assert.deepEqual(outcomeOf([a, b, ...small, c]), { finished: [3], refused: 1 })
})

test('a part of another command, of another number of parts or with another hash is refused, and the command goes on', () => {
  const [a, b, c] = first as [Uint8Array, Uint8Array, Uint8Array]
  const changed = (at: number, to: number): Uint8Array => {
    const message = b.slice()
    message[at] = to
    return message
  }
  const strangers: readonly (readonly [Uint8Array, RegExp])[] = [
    [second[1]!, /^part 1 of 2 of command (02){16} is not of command (01){16}$/],
    [changed(1, 0x77), /^part 1 of 3 of command 77(01){15} is not of command (01){16}$/],
    [changed(19, 4), /^part 1 of 4 of command (01){16}, which has 3 parts$/],
    [changed(17, 0) && changed(40, b[40]! ^ 1), /has another hash than its part 0$/],
  ]
  for (const [stranger, message] of strangers) {
    const [, refused, ...rest] = take(new CommandGatherer(), [a, stranger, b, c])
    assert.ok(refused?.type === 'refused')
    assert.match(refused.message, message)
    assert.equal(rest.at(-1)!.type, 'finished')
  }
  assert.deepEqual(new CommandGatherer().take(b), {
    ...{ type: 'refused', message: `part 1 of 3 of command ${'01'.repeat(16)} continues no command` },
  })
})

test('who starts behind any finished command gathers the same as one that never stopped', () => {
  const numbers = new TestNumbers(3)
  const pool = [...first, ...second, ...small]
  let finished = 0
  for (let round = 0; round < 60; round++) {
    const stream: Uint8Array[] = []
    while (stream.length < 24)
      stream.push(...numbers.pick([first, second, small, [numbers.pick(pool)], [numbers.pick(pool)]]))
    const always = new CommandGatherer()
    let restarted = new CommandGatherer()
    for (const message of stream) {
      const gathered = always.take(message)
      assert.deepEqual(restarted.take(message), gathered)
      if (gathered.type !== 'finished') continue
      restarted = new CommandGatherer()
      finished++
    }
  }
  assert.ok(finished > 100, `only ${finished} commands came out`)
})

const faultOf = (body: () => unknown): string => {
  try {
    body()
    return 'none'
  } catch (error) {
    if (!(error instanceof CommandFormatError)) throw error
    return error.fault
  }
}

test('10,000 messages with a wrong byte: no command comes out', () => {
  const numbers = new TestNumbers(11)
  const messages = Object.values(sampleCommands).map(
    (each) => commandMessages(idOf(9), encodeCommand(each))[0]!,
  )
  const faults: Record<string, number> = {}
  for (let flip = 0; flip < 10_000; flip++) {
    const message = numbers.pick(messages).slice()
    const at = numbers.below(message.length)
    message[at] = message[at]! ^ (1 + numbers.below(255))
    const gatherer = new CommandGatherer()
    const fault = faultOf(() => assert.notEqual(gatherer.take(message).type, 'finished', `byte ${at}`))
    faults[fault] = (faults[fault] ?? 0) + 1
    // It left nothing behind.
    assert.equal(gatherer.take(small[0]!).type, 'finished')
  }
  assert.deepEqual(Object.keys(faults).sort(), ['malformed', 'newer_version', 'wrong_hash'])
  assert.ok(faults.wrong_hash! > 5_000, JSON.stringify(faults))
})

test('a command of several messages with a wrong byte in any of them does not come out', () => {
  const places = [
    ...Array.from({ length: HEAD_BYTES }, (_, at) => at),
    HEAD_BYTES,
    FULL,
    MOST_MESSAGE_BYTES - 1,
  ]
  for (const part of [0, 1])
    for (const at of places) {
      const message = second[part]!.slice()
      if (at >= message.length) continue
      message[at] = message[at]! ^ 0x10
      const gatherer = new CommandGatherer()
      const taken = second.map((each, index) => {
        const one = index === part ? message : each
        const fault = faultOf(() =>
          assert.notEqual(gatherer.take(one).type, 'finished', `part ${part}, byte ${at}`),
        )
        return fault
      })
      assert.equal(taken.length, 2)
    }
})

test('a wrong hash voids the command and names both', () => {
  const message = small[0]!.slice()
  message[HEAD_BYTES] = message[HEAD_BYTES]! ^ 1
  const gatherer = new CommandGatherer()
  assert.throws(() => gatherer.take(message), {
    ...{ name: 'CommandFormatError', fault: 'wrong_hash' },
    message: /^byte 21, SHA-256: command (03){16} was sent with [0-9a-f]{64}, what came has [0-9a-f]{64}$/,
  })
  assert.deepEqual(outcomeOf([...small, ...second]), { finished: [3, 2], refused: 0 })
})

test('what is no message is refused with its byte and its field, and the command goes on', () => {
  const [a, b, c] = first as [Uint8Array, Uint8Array, Uint8Array]
  const changed = (...changes: readonly (readonly [at: number, to: number])[]): Uint8Array => {
    const message = b.slice()
    for (const [at, to] of changes) message[at] = to
    return message
  }
  const wrong: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
    'no bytes': [new Uint8Array(0), /^byte 0, version of the message: nothing is no version$/],
    'version 0': [changed([0, 0]), /^byte 0, version of the message: 0 is no version$/],
    'a head alone': [b.subarray(0, HEAD_BYTES), /^byte 0, message: 53 bytes, 53 are its head$/],
    'half a head': [b.subarray(0, 20), /^byte 0, message: 20 bytes, 53 are its head$/],
    'no parts': [changed([19, 0]), /^byte 19, number of parts: 0 is not 1 to 128$/],
    '129 parts': [changed([19, 129]), /^byte 19, number of parts: 129 is not 1 to 128$/],
    '65,283 parts': [changed([20, 255]), /^byte 19, number of parts: 65283 is not 1 to 128$/],
    'a part behind the last': [changed([17, 3]), /^byte 17, part: 3 of 3$/],
    'a short part': [
      b.subarray(0, b.length - 1),
      /^byte 53, bytes of the command: 511946 in part 1 of 3, a full part/,
    ],
    'a long part': [Buffer.concat([b, Uint8Array.of(0)]), /^byte 53, bytes of the command/],
  }
  for (const [title, [message, text]] of Object.entries(wrong)) {
    const gatherer = new CommandGatherer()
    gatherer.take(a)
    assert.throws(
      () => gatherer.take(message),
      { name: 'CommandFormatError', fault: 'malformed', message: text },
      title,
    )
    assert.equal(take(gatherer, [b, c]).at(-1)!.type, 'finished', title)
  }
})

test('a message of a newer version is refused in one line, whatever else it says', () => {
  for (const message of [
    Uint8Array.of(4),
    Uint8Array.of(4, ...small[0]!.subarray(1)),
    new Uint8Array(600_000).fill(9),
  ])
    assert.throws(() => new CommandGatherer().take(message), {
      ...{ name: 'CommandFormatError', fault: 'newer_version', at: 0 },
      message: `byte 0, version of the message: ${message[0]} is newer than 3, the newest that this build reads: upgrade this instance`,
    })
})
