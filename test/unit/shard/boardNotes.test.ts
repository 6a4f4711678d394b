import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatusBoard, headPlaces, statusRow } from '../../../src/board/statusBoard.js'
import { RetryableError } from '../../../src/errors/chainErrors.js'
import { BoardNotes } from '../../../src/shard/boardNotes.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import type { NotedState } from '../../../src/shard/shardWriter.types.js'
import { VirtualClock } from '../../support/virtualClock.js'

/** Notes whose commands reach the shard, or its log, only while there is no `fault`. */
function openNotes(noted: NotedState = { halt: 'none', headPlace: headPlaces.inStep }) {
  const row = statusRow(createStatusBoard([1]), 1)
  const clock = new VirtualClock()
  const told: ShardCommand[] = []
  const shard: { fault: Error | undefined } = { fault: undefined }
  const end = new AbortController()
  const proposer = {
    propose: async (command: ShardCommand) => {
      if (shard.fault !== undefined) throw shard.fault
      told.push(command)
      return { type: 'applied' as const }
    },
  }
  const untold = ['disk_full', 'data_folder_lost'] as const
  const notes = new BoardNotes({ row, noted, untold, proposer, clock, signal: end.signal })
  const pass = (ms: number) => clock.sleep(ms, new AbortController().signal)
  return { row, notes, told, shard, end, pass }
}

const noRoom = () => new RetryableError('no room')

test('what is not to be told is shown and told to nobody, and what was told before stays', async () => {
  const { row, notes, told, pass } = openNotes()
  notes.row.replaceHaltReason('none', 'disk_full')
  await pass(10)
  assert.equal(row.haltReason(), 'disk_full')
  assert.deepEqual(told, [])
  notes.row.replaceHaltReason('disk_full', 'missing_log')
  notes.row.replaceHaltReason('missing_log', 'data_folder_lost')
  await pass(10)
  assert.deepEqual(told, [{ type: 'noteHalt', reason: 'missing_log' }])
  notes.row.replaceHaltReason('data_folder_lost', 'none')
  await pass(10)
  assert.deepEqual(told.slice(1), [{ type: 'noteHalt', reason: 'none' }])
})

test('while the log is full the board shows what is new, and later the log gets the newest of it only', async () => {
  const { row, notes, told, shard, pass } = openNotes()
  shard.fault = noRoom()
  notes.row.replaceHaltReason('none', 'missing_log')
  notes.row.setHeadPlace(headPlaces.below)
  await pass(5_000)
  notes.row.setHeadPlace(headPlaces.belowFinal)
  assert.equal(row.headPlace(), headPlaces.belowFinal)
  shard.fault = undefined
  await pass(5_000)
  assert.deepEqual(told, [
    { type: 'noteHalt', reason: 'missing_log' },
    { type: 'noteHeadPlace', place: headPlaces.belowFinal },
  ])
})

test('what was not told ends with the term, and what a query thread has found stays', async () => {
  const { row, notes, shard, end, pass } = openNotes()
  notes.row.setHeadPlace(headPlaces.below)
  await pass(10)
  shard.fault = noRoom()
  notes.row.setHeadPlace(headPlaces.inStep)
  notes.row.replaceHaltReason('none', 'missing_log')
  await pass(10)
  end.abort()
  notes.end()
  assert.equal(row.headPlace(), headPlaces.below)
  assert.equal(row.haltReason(), 'none')
  row.setHaltReason('corrupt_store')
  notes.end()
  assert.equal(row.haltReason(), 'corrupt_store')
})

test('after a restart only what has changed is told', async () => {
  const noted = { halt: 'missing_log', headPlace: headPlaces.below } as const
  const { row, notes, told, pass } = openNotes(noted)
  row.setHeadPlace(headPlaces.unseen)
  row.setHaltReason('missing_log')
  notes.look()
  notes.row.setHeadPlace(headPlaces.below)
  notes.row.replaceHaltReason('missing_log', 'missing_log')
  await pass(10)
  assert.deepEqual(told, [])
  notes.row.replaceHaltReason('missing_log', 'none')
  notes.row.setHeadPlace(headPlaces.inStep)
  await pass(10)
  assert.deepEqual(told, [
    { type: 'noteHalt', reason: 'none' },
    { type: 'noteHeadPlace', place: headPlaces.inStep },
  ])
})

test('a halt by another thread is told at the next look, and one that the store could not take is tried again then', async () => {
  const { row, notes, told, shard, pass } = openNotes()
  row.setHaltReason('corrupt_store')
  shard.fault = new Error('no space left on device')
  notes.look()
  await pass(60_000)
  assert.deepEqual(told, [])
  shard.fault = undefined
  notes.look()
  notes.look()
  await pass(10)
  assert.deepEqual(told, [{ type: 'noteHalt', reason: 'corrupt_store' }])
})

test('nothing is told when the thread ends', async () => {
  const { notes, told, end, pass } = openNotes()
  end.abort()
  notes.row.replaceHaltReason('none', 'missing_log')
  await pass(10)
  assert.deepEqual(told, [])
})
