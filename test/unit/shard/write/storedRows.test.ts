import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvariantError } from '../../../../src/errors/invariantError.js'
import { readUint32BigEndian } from '../../../../src/protocol/abiBytes.js'
import { StoredRows } from '../../../../src/shard/write/storedRows.js'
import type { ReadView } from '../../../../src/store/shardStore.types.js'

const ROW_BYTES = 2
const ROWS_PER_CHUNK = 3

/** `count` rows, each with its ordinal twice, and the chunks that were read, by their first row. */
function storedRows(count: number) {
  const reads: number[] = []
  const get: ReadView['get'] = (table, key) => {
    assert.equal(table, 'claims')
    const from = readUint32BigEndian(key, 0)
    reads.push(from)
    const rows = Math.min(ROWS_PER_CHUNK, count - from)
    return rows <= 0
      ? undefined
      : Uint8Array.from({ length: ROW_BYTES * rows }, (_, at) => from + Math.floor(at / ROW_BYTES))
  }
  const view: ReadView = { get, list: () => assert.fail('nothing is listed') }
  return { rows: new StoredRows(view, 'claims', ROW_BYTES, ROWS_PER_CHUNK), reads }
}

test('rows in order are read once per chunk, and a short last chunk ends with its rows', () => {
  const { rows, reads } = storedRows(8)
  for (let ordinal = 1; ordinal < 8; ordinal++) {
    const offset = rows.open(ordinal)
    assert.deepEqual([...rows.bytes.subarray(offset, offset + ROW_BYTES)], [ordinal, ordinal])
  }
  assert.deepEqual(reads, [0, 3, 6])
  assert.throws(() => rows.open(8), new InvariantError('row 8 of claims is not stored'))
  assert.throws(() => rows.open(9), new InvariantError('row 9 of claims is not stored'))
})
