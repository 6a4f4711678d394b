import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLine } from '../../../../src/cli/input/csv.js'

test('a text that a spreadsheet would run begins with an apostrophe', () => {
  const formulas = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '  =1',
    '\t=1',
    '\tx',
    '\rx',
    '\nx',
    '＝1',
    '＠x',
    '="a"&"b"',
  ]
  for (const text of formulas) assert.match(csvLine([text]), /^"'/, JSON.stringify(text))
  for (const text of ['USDC', '0x2d', 'a=1', '1-1', 'e@mail', ''])
    assert.equal(csvLine([text]), `${text}\r\n`)
})

test('lines end as RFC 4180 says, quotes are doubled, and a null is an empty cell', () => {
  assert.equal(csvLine(['a', null, 'b,c', 'd"e', true, 7, undefined]), 'a,,"b,c","d""e",true,7,\r\n')
})
