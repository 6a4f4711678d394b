import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProgressLine, progressBar, spellSeconds } from '../../../../src/cli/input/progressBar.js'

test('a bar is full, and says 100 %, only when all is done', () => {
  assert.deepEqual(
    [0, 0.5, 0.999, 1, -1, 7].map((share) => progressBar(share, 4)),
    ['░░░░   0 %', '██░░  50 %', '███░  99 %', '████ 100 %', '░░░░   0 %', '████ 100 %'],
  )
})

test('times are spelled in the two largest units', () => {
  assert.deepEqual([0.2, 59, 61, 3_600, 12_000, 100_000].map(spellSeconds), [
    '1 s',
    '59 s',
    '2 min',
    '1 h 0 min',
    '3 h 20 min',
    '1 d 3 h',
  ])
})

test('progress is one line that changes in place on a terminal, and nothing elsewhere', () => {
  const write = (isTTY: boolean): string => {
    const written: string[] = []
    const output = { isTTY, columns: 40, write: (text: string) => written.push(text) > 0 }
    const line = new ProgressLine(output as unknown as NodeJS.WriteStream)
    line.show(0.5, 'network 1: deposits, which is a long text')
    line.clear()
    return written.join('')
  }
  assert.equal(write(true), '\r\u001b[K████████████░░░░░░░░░░░░  50 %  network\r\u001b[K')
  assert.equal(write(false), '')
})
