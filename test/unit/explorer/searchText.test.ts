import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSearch } from '../../../src/explorer/searchText.js'

const HASH = `0x${'ab'.repeat(32)}`
const ADDRESS = `0x${'c1'.repeat(20)}`

test('whatever people paste is found: blanks, capitals, no 0x, and pages of explorers', () => {
  const rows: [string, string | undefined][] = [
    [HASH, `tx/${HASH}`],
    [` ${HASH.toUpperCase().replace('X', 'x')}\n`, `tx/${HASH}`],
    [HASH.slice(2), `tx/${HASH}`],
    [`https://etherscan.io/tx/${HASH}#eventlog`, `tx/${HASH}`],
    [HASH.replace(/(.{20})/g, '$1 '), `tx/${HASH}`],
    [ADDRESS, `address/${ADDRESS}`],
    [ADDRESS.slice(2), `address/${ADDRESS}`],
    [`https://example.org/address/${ADDRESS}?tab=txs`, `address/${ADDRESS}`],
    ['1:25', 'bridge/1/25'],
    ['1 : 25', 'bridge/1/25'],
    ['1/25', 'bridge/1/25'],
    ['http://127.0.0.1:5577/explorer/bridge/1/25', 'bridge/1/25'],
    ['18446744073709551641', 'search?q=18446744073709551641'],
    ['0x10000000000000019', 'search?q=0x10000000000000019'],
    ['USDC', undefined],
    ['0x', undefined],
    [`${HASH}ab`, undefined],
    ['<script>', undefined],
  ]
  for (const [text, path] of rows) assert.equal(readSearch(text), path, text)
})
