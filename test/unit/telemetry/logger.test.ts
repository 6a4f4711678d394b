import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryableError } from '../../../src/errors/chainErrors.js'
import {
  createLogger,
  createSharedLog,
  type LogConfig,
  requestLinesReader,
  setSharedLog,
} from '../../../src/telemetry/logger.js'

function logs(config: Partial<LogConfig> = {}) {
  const lines: string[] = []
  const sink = (line: string): void => void lines.push(line)
  const logger = createLogger({ level: 'info', format: 'json', ...config }, { component: 'test' }, sink)
  return { logger, lines, records: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test('a line is one JSON object with time, level, text, bindings and fields', () => {
  const { logger, lines, records } = logs()
  logger.child({ networkId: 1 }).info('block applied', { blockNumber: 7 })
  assert.equal(lines[0]!.indexOf('\n'), lines[0]!.length - 1)
  const [{ ts, ...rest }] = records() as [Record<string, unknown>]
  assert.match(String(ts), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, {
    level: 'info',
    component: 'test',
    network_id: 1,
    block_number: 7,
    msg: 'block applied',
  })
})

test('fields are named as the labels of metrics, those of what they hold are left alone', () => {
  const { logger, records } = logs()
  const child = logger.child({ networkId: 1, l1InfoTreeIndex: 2 })
  child.info('said', { msg2: 'x', rollupIDs: [1], 'a-B': 1, record: { innerName: 1 } })
  const [{ ts: _, ...rest }] = records() as [Record<string, unknown>]
  assert.deepEqual(rest, {
    ...{ level: 'info', component: 'test', msg: 'said' },
    ...{ network_id: 1, l1_info_tree_index: 2 },
    ...{ msg2: 'x', rollup_ids: [1], 'a-B': 1, record: { innerName: 1 } },
  })
})

test('requests have lines where the level shows them, and a change counts for the next request', () => {
  const told = (level: LogConfig['level'], requests?: LogConfig['requests']) =>
    requestLinesReader({ level, format: 'json', ...(requests === undefined ? {} : { requests }) })()
  assert.deepEqual(
    (['error', 'warn', 'info', 'debug'] as const).map((level) => [
      told(level),
      ...(['auto', 'all', 'failed', 'off'] as const).map((requests) => told(level, requests)),
    ]),
    [
      [undefined, undefined, undefined, undefined, undefined],
      [undefined, undefined, undefined, 'warn', undefined],
      [undefined, undefined, 'info', 'warn', undefined],
      ['debug', 'debug', 'info', 'warn', undefined],
    ],
  )
  const shared = createSharedLog({ level: 'info', requests: 'auto' })
  const read = requestLinesReader({ level: 'info', format: 'json', shared })
  assert.equal(read(), undefined)
  setSharedLog(shared, { level: 'debug', requests: 'auto' })
  assert.equal(read(), 'debug')
})

test('lines below the level are not written', () => {
  const { logger, records } = logs({ level: 'warn' })
  logger.debug('a')
  logger.info('b')
  logger.warn('c')
  logger.error('d')
  assert.deepEqual(
    records().map(({ msg }) => msg),
    ['c', 'd'],
  )
})

test('an error is logged with its causes and codes', () => {
  const { logger, records } = logs()
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  logger.error('failed', { error: new RetryableError('network 1 endpoint 0 does not answer', { cause }) })
  const { name, message, cause: told } = records()[0]!.error as Record<string, Record<string, unknown>>
  assert.deepEqual([name, message], ['RetryableError', 'network 1 endpoint 0 does not answer'])
  assert.deepEqual([told!.message, told!.code], ['connect ECONNREFUSED', 'ECONNREFUSED'])
})

test('no line has an RPC address, wherever a library has put it', () => {
  for (const format of ['json', 'pretty'] as const) {
    const { logger, lines } = logs({ format })
    const url = 'https://user:pass@node.example:8545/v3/secret-key?token=secret-key'
    logger.warn(`request to ${url} failed`, {
      error: new Error(`HTTP request failed.\n\nURL: ${url}\nRequest body: {}`),
      nested: { list: [`wss://node.example/secret-key`, `"${url}"`] },
    })
    assert.equal(lines.length, 1)
    assert.ok(!lines[0]!.includes('secret-key'), lines[0])
    assert.ok(!lines[0]!.includes('node.example'), lines[0])
    assert.match(lines[0]!, /request to \[address\] failed/)
  }
})

test('on a terminal a line has time, level, text, fields, and the error below', () => {
  const { logger, lines } = logs({ format: 'pretty' })
  logger.error('halted', { networkId: 2, reason: 'missing log', error: new Error('no log') })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal
  const [head, trouble] = lines[0]!.replace(/\u001b\[\d+m/g, '').split('\n')
  assert.match(head!, /^\d\d:\d\d:\d\d\.\d{3} error halted component=test network_id=2 reason="missing log"$/)
  assert.equal(trouble, '  Error: no log')
})

test('no text in a line on a terminal is obeyed by it or begins a line', () => {
  const { logger, lines } = logs({ format: 'pretty' })
  const evil = 'x\u001b[2J\u0007\u009b31m\u202egnp\u2028y\rz'
  const error = new Error(evil, { cause: new Error(evil) })
  logger.error(evil, { [evil]: evil, list: [evil], alias: '\u009b31m\u2066', error })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal
  const plain = lines[0]!.replace(/\u001b\[(?:31|0)m/g, '')
  assert.doesNotMatch(plain.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
  assert.match(plain, /alias=\\u009b31m\\u2066/)
  for (const line of plain.split('\n').slice(1, -1)) assert.match(line, /^ {2}/)
})

test('a JSON line shows C1 and bidi characters as escapes that mean the same', () => {
  const { logger, lines, records } = logs()
  const evil = 'a\u0085b\u009bc\u202ed\u2069e'
  logger.warn('said', { evil })
  assert.doesNotMatch(lines[0]!, /[\u007f-\u009f\p{Bidi_Control}]/u)
  assert.equal(records()[0]!.evil, evil)
})

test('a character that shows nothing is shown, also one of two units', () => {
  const { logger, lines } = logs({ format: 'pretty' })
  logger.info('zero\u200bwidth tag\u{e0041} mark\ufeff')
  assert.ok(lines[0]!.endsWith('zero\\u200bwidth tag\\udb40\\udc41 mark\\ufeff component=test\n'), lines[0])
})

test('each kind of character that a terminal obeys, or that shows nothing, is an escape in every format', () => {
  const unseen = [
    ...['\u0000', '\u0007', '\u001b', '\u007f', '\u0085', '\u009b', '\u009d'],
    ...['\u061c', '\u200b', '\u200e', '\u200f', '\u202a', '\u202e', '\u2060', '\u2066', '\u2069', '\ufeff'],
    ...['\u00ad', '\u034f', '\u115f', '\u180b', '\u3164', '\uffa0', '\ufe0f', '\ud800', '\udc00'],
  ]
  for (const format of ['json', 'pretty'] as const)
    for (const sign of unseen) {
      const { logger, lines } = logs({ format })
      logger.info('said', { text: `a${sign}]0;b` })
      // Behind our own colours.
      const told = lines[0]!.slice(lines[0]!.indexOf('text'))
      assert.ok(!told.includes(sign), `${format}: ${JSON.stringify(sign)}`)
      // JSON has a short escape for some.
      assert.match(told, /a\\/, `${format}: ${JSON.stringify(sign)}`)
    }
})

test('an error that is its own cause is logged', () => {
  const { logger, records } = logs()
  const error = new Error('round')
  error.cause = error
  logger.error('failed', { error })
  assert.equal((records()[0]!.error as Record<string, unknown>).message, 'round')
})
