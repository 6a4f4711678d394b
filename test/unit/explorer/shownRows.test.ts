import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextRows, type ShownRow } from '../../../src/explorer/shownRows.js'

interface Row {
  readonly id: number
  readonly state: string
}

const options = { keyOf: ({ id }: Row) => String(id), isHeld: false, isTakenBack: () => false }
const rows = (ids: readonly number[], state = ''): readonly Row[] => ids.map((id) => ({ id, state }))
const first = (ids: readonly number[]): readonly ShownRow<Row>[] => nextRows([], rows(ids), options)
const marks = (shown: readonly ShownRow<Row>[]): readonly string[] =>
  shown.map(({ key, mark = '' }) => key + mark)

test('what was not there before is new, but not at first, nor where another list is shown', () => {
  assert.deepEqual(marks(first([3, 2, 1])), ['3', '2', '1'])
  assert.deepEqual(marks(nextRows(first([3, 2, 1]), rows([4, 3, 2]), options)), ['4new', '3', '2'])
  assert.deepEqual(marks(nextRows(first([3, 2, 1]), rows([9, 8]), options)), ['9', '8'])
})

test('rows that are held neither come nor move, and show what is known of them now', () => {
  const held = nextRows(first([3, 2]), rows([4, 3], 'claimed'), { ...options, isHeld: true })
  assert.deepEqual(held, [
    { key: '3', row: { id: 3, state: 'claimed' } },
    { key: '2', row: { id: 2, state: '' } },
  ])
  assert.deepEqual(marks(nextRows([], rows([4, 3]), { ...options, isHeld: true })), ['4', '3'])
})

test('a row that was taken back stays where it was, marked, and one that made room for newer ones does not', () => {
  const taken = { ...options, isTakenBack: ({ id }: Row) => id >= 4 }
  assert.deepEqual(marks(nextRows(first([5, 4, 3, 2]), rows([3, 2]), taken)), ['5gone', '4gone', '3', '2'])
  assert.deepEqual(marks(nextRows(first([5, 3, 4, 2]), rows([5, 3, 1]), taken)), ['5', '3', '4gone', '1new'])
  assert.deepEqual(marks(nextRows(first([5, 4, 3]), rows([6, 5, 4]), taken)), ['6new', '5', '4'])
  assert.deepEqual(marks(nextRows(first([5, 3]), rows([3]), { ...taken, isHeld: true })), ['5gone', '3'])
})
