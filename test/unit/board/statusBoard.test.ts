import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'

type Cell = [cells: BigInt64Array, index: number]

const byteOf = ([cells, index]: Cell) => cells.byteOffset + 8 * index

test('a reader that awaits a commit is woken when the writer publishes it, and waits neither for a published commit nor without a writer', (context) => {
  const board = createStatusBoard([0, 1])
  const row = statusRow(board, 1)
  const waits: [...Cell, told: bigint, atMostMs: number][] = []
  const wakes: { cell: Cell; told: number | undefined }[] = []
  context.mock.method(Atomics, 'wait', (...args: (typeof waits)[number]) => {
    waits.push(args)
    return 'ok'
  })
  context.mock.method(Atomics, 'notify', (...cell: Cell) => {
    wakes.push({ cell, told: row.get('publishedCommit') })
    return 0
  })
  // No writer has published a commit yet: a reader without a writer does not wait.
  row.awaitCommit(7)
  assert.equal(waits.length, 0)
  row.publishCommit(7)
  row.awaitCommit(7)
  row.awaitCommit(0)
  assert.equal(waits.length, 0)
  row.awaitCommit(8)
  assert.equal(waits.length, 1)
  row.publishCommit(8)
  assert.deepEqual(
    wakes.map(({ told }) => told),
    [7, 8],
  )
  const [cells, index, told, atMostMs] = waits[0]!
  assert.equal(cells.buffer, board.memory)
  assert.equal(byteOf([cells, index]), byteOf(wakes[1]!.cell))
  assert.equal(told, 7n)
  assert.ok(atMostMs <= 100)
})

test('a field of which nothing is known says so, in every thread, until it is set and after it is forgotten', () => {
  const board = createStatusBoard([0, 1])
  const row = statusRow(board, 1)
  const elsewhere = statusRow(structuredClone(board), 1)
  const told = () =>
    (['finalizedBlock', 'contractsCompared', 'polledL1Commits', 'depositCount'] as const).map((field) =>
      elsewhere.get(field),
    )
  assert.deepEqual(told(), [undefined, undefined, undefined, 0])
  row.set('finalizedBlock', 0)
  row.set('contractsCompared', 0)
  row.set('polledL1Commits', 3)
  assert.deepEqual(told(), [0, 0, 3, 0])
  row.set('polledL1Commits', undefined)
  assert.deepEqual(told(), [0, 0, undefined, 0])
})
