import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatusBoard, headPlaces, statusRow } from '../../../src/board/statusBoard.js'
import { RetryableError } from '../../../src/errors/chainErrors.js'
import { TermNotes } from '../../../src/replica/termNotes.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import { VirtualClock } from '../../support/virtualClock.js'

/** A term whose commands reach the log only while `isFull` is false. */
function openTerm() {
  const row = statusRow(createStatusBoard([1]), 1)
  const clock = new VirtualClock()
  const told: ShardCommand[] = []
  const log = { isFull: false }
  const term = new AbortController()
  const proposer = {
    propose: async (command: ShardCommand) => {
      if (log.isFull) throw new RetryableError('no room')
      told.push(command)
      return { type: 'applied' as const }
    },
  }
  const notes = new TermNotes({ row, proposer, clock, signal: term.signal })
  const pass = (ms: number) => clock.sleep(ms, new AbortController().signal)
  return { row, notes, told, log, term, pass }
}

test('what a machine has of its own, a full disk, is shown here and told to nobody', async () => {
  const { row, notes, told, pass } = openTerm()
  notes.row.replaceHaltReason('none', 'disk_full')
  await pass(10)
  assert.equal(row.haltReason(), 'disk_full')
  assert.deepEqual(told, [{ type: 'noteHalt', reason: 'none' }])
})

test('while the log is full the board shows what is new, and later the log gets the newest of it only', async () => {
  const { row, notes, told, log, pass } = openTerm()
  log.isFull = true
  notes.row.replaceHaltReason('none', 'missing_log')
  notes.row.setHeadPlace(headPlaces.below)
  await pass(5_000)
  notes.row.setHeadPlace(headPlaces.belowFinal)
  assert.equal(row.headPlace(), headPlaces.belowFinal)
  log.isFull = false
  await pass(5_000)
  const byType = (a: ShardCommand, b: ShardCommand) => a.type.localeCompare(b.type)
  assert.deepEqual(told.toSorted(byType), [
    { type: 'noteHalt', reason: 'missing_log' },
    { type: 'noteHeadPlace', place: headPlaces.belowFinal },
  ])
})

test('what was not told ends with the term, and what a query thread has found stays', async () => {
  const { row, notes, log, term, pass } = openTerm()
  notes.row.setHeadPlace(headPlaces.below)
  await pass(10)
  log.isFull = true
  notes.row.setHeadPlace(headPlaces.inStep)
  notes.row.replaceHaltReason('none', 'missing_log')
  await pass(10)
  term.abort()
  notes.end()
  assert.equal(row.headPlace(), headPlaces.below)
  assert.equal(row.haltReason(), 'none')
  row.setHaltReason('corrupt_store')
  notes.end()
  assert.equal(row.haltReason(), 'corrupt_store')
})
