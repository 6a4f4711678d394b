import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeavyText, parseJson } from '../../../../src/chain/rpc/replyText.js'

const MIB = 1024 ** 2
const parse = (text: string): unknown => parseJson(Buffer.from(text))
const hex = (bytes: number): string => `0x${'a7'.repeat(bytes)}`

test('values that take many times the length of their text are refused before they are made', () => {
  const fill = (piece: string): string => piece.repeat(MIB / piece.length)
  for (const [what, text] of Object.entries({
    'open lists': fill('['),
    'nested lists': `${'['.repeat(MIB / 2)}${']'.repeat(MIB / 2)}`,
    'empty lists': `[${fill('[],')}[]]`,
    'empty objects': `[${fill('{},')}{}]`,
    'objects in objects': fill('{"a":'),
    zeros: `[${fill('0,')}0]`,
    'large numbers': `[${fill('5e9,')}0]`,
    nulls: `[${fill('null,')}0]`,
    'short texts': `[${Array.from({ length: 150_000 }, (_, at) => `"${at.toString(36).padStart(4, '0')}"`).join()}]`,
    'many properties': `{${Array.from({ length: 100_000 }, (_, at) => `"${at}":0`).join()}}`,
    'one deep value': `[${'['.repeat(5_000)}${']'.repeat(5_000)},"${'x'.repeat(MIB)}"]`,
  }))
    assert.throws(() => parse(text), HeavyText, what)
})

test('answers that nodes give are parsed, however long they are', () => {
  const transactions = Array.from({ length: 20_000 }, () => hex(32))
  const head = { number: '0x1', hash: hex(32), logsBloom: hex(256), transactions, withdrawals: [] }
  const log = { address: hex(20), topics: [hex(32)], data: '0x', blockNumber: '0x1', logIndex: '0x0' }
  // A thousand calls inside each other, and as many beside each other.
  const frame = { from: hex(20), gas: '0x1', gasUsed: '0x1', to: hex(20), input: '0x', type: 'CALL' }
  let deep: object = frame
  for (let at = 0; at < 1_024; at++) deep = { ...frame, calls: [deep] }
  const wide = { ...frame, calls: Array.from({ length: 10_000 }, () => frame) }
  const texts = ['"[[[[{{{{,,,,::::', '\\"[', '\\\\'].map((text) => text.repeat(10_000))
  // As text: the deepest one is too deep for `deepEqual`.
  const block = {
    ...head,
    transactions: Array(1_000).fill({ hash: hex(32), from: hex(20), value: '0x0', accessList: [] }),
  }
  // Empty logs, and a tracer that does not tell their positions.
  const noise = { ...frame, logs: Array(2_000).fill({ address: hex(20), index: 12, topics: [], data: '0x' }) }
  for (const answer of [noise, block, head, Array.from({ length: 20_000 }, () => log), deep, wide, texts])
    assert.equal(JSON.stringify(parse(JSON.stringify(answer))), JSON.stringify(answer))
})

test('broken JSON is a syntax error, and not called heavy', () => {
  for (const text of ['{"a":', `["${'x'.repeat(MIB)}`])
    assert.throws(
      () => parse(text),
      (error) => error instanceof SyntaxError && !(error instanceof HeavyText),
    )
})
