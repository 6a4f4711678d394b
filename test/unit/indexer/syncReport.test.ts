import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HaltReason } from '../../../src/board/haltReason.js'
import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'
import type { SyncMessage } from '../../../src/indexer/indexerMessages.js'
import { SyncReport } from '../../../src/indexer/syncReport.js'
import { asBlockNumber } from '../../../src/protocol/units.js'
import {
  auditResults,
  IndexerCounts,
  IndexerCountsReader,
  mismatchedRoots,
} from '../../../src/telemetry/counts/indexerCounts.js'
import { atEachWrite } from '../../support/boardWrites.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'

function openReport(halt: HaltReason = 'none') {
  const board = createStatusBoard([1])
  const row = statusRow(board, 1)
  const messages: SyncMessage[] = []
  const { logger } = createKeepingLogger()
  const post = (message: SyncMessage): void => {
    messages.push(message)
  }
  const counts = new IndexerCounts(board.counts, 1)
  row.setHaltReason(halt)
  const report = new SyncReport({ networkId: 1, row, halt, post, logger, clock: { now: () => 0 }, counts })
  return {
    counted: new IndexerCountsReader(board.counts, 1),
    row,
    report,
    types: () => messages.map(({ type }) => type),
  }
}

test('a reported halt ends when the thread goes on', () => {
  const { row, report, types } = openReport()
  report.halted('missing_log', new Error('a gap'))
  assert.equal(row.haltReason(), 'missing_log')
  report.resumed()
  assert.equal(row.haltReason(), 'none')
  assert.deepEqual(types(), ['halted', 'resumed'])
})

test('a halt that a thread before has left stays until this one goes on, and is said once when it is met again', () => {
  const { row, report, types } = openReport('missing_log')
  assert.equal(row.haltReason(), 'missing_log')
  report.halted('missing_log', new Error('a gap'))
  report.halted('missing_log', new Error('a gap'))
  assert.deepEqual(types(), ['halted'])
  report.resumed()
  assert.equal(row.haltReason(), 'none')
  assert.deepEqual(types(), ['halted', 'resumed'])
})

test('a store that a query found corrupt stays halted, whatever the indexer can still do', () => {
  const { row, report, types } = openReport()
  row.setHaltReason('corrupt_store')
  report.resumed()
  assert.equal(row.haltReason(), 'corrupt_store')
  report.halted('rpc_unavailable', new Error('no endpoint answers'))
  report.resumed()
  assert.equal(row.haltReason(), 'corrupt_store')
  assert.deepEqual(types(), [])
})

test('damage that is found while the thread is halted outlasts that halt', () => {
  const { row, report } = openReport()
  report.halted('missing_log', new Error('a gap'))
  row.setHaltReason('corrupt_store')
  report.resumed()
  assert.equal(row.haltReason(), 'corrupt_store')
})

test('damage that is found while the thread halts or resumes is not overwritten', (context) => {
  for (const change of [
    (report: SyncReport) => report.resumed(),
    (report: SyncReport) => report.halted('missing_log', new Error('a gap')),
  ]) {
    /**
     * The main thread finds the damage just before one of the thread's writes.
     * @returns how many writes there are.
     */
    const findBefore = (moment: number): number => {
      const { row, report, types } = openReport()
      report.halted('rpc_unavailable', new Error('no endpoint answers'))
      let writes = 0
      let isMain = false
      const before = () => {
        if (isMain || writes++ !== moment) return
        isMain = true
        row.setHaltReason('corrupt_store')
        isMain = false
      }
      atEachWrite(context, { before })
      change(report)
      context.mock.restoreAll()
      assert.equal(row.haltReason(), 'corrupt_store', `before write ${moment}`)
      told.push(types().length)
      return writes
    }
    const told: number[] = []
    const writes = findBefore(0)
    for (let moment = 1; moment < writes; moment++) findBefore(moment)
    assert.equal(told[0], 1, 'the thread has no word in it')
    assert.ok(writes >= 4, `${writes} writes`)
  }
})

test('the depth of each reorg, the end of each audit and the roots that did not agree are counted', () => {
  const { report, counted } = openReport()
  const header = (number: number) => ({
    number: asBlockNumber(number),
    hash: new Uint8Array(32),
    timestampSec: 0,
  })
  report.reorged(header(20), header(17))
  report.contractsCompared(true)
  report.contractsCompared(true)
  report.contractsCompared(false)
  report.contractsDisputed('deposits', 1)
  report.contradicted('exit_root_mismatch', true)
  report.contradicted('rollup_exit_root_mismatch', false)
  assert.equal(counted.reorgDepths().sum, 3)
  assert.deepEqual(
    auditResults.map((result) => [result, counted.audits(result)]),
    [
      ['same', 2],
      ['unanswered', 1],
      ['disputed', 1],
      ['contradicted', 1],
    ],
  )
  assert.deepEqual(
    mismatchedRoots.map((root) => counted.mismatches(root)),
    [0, 1, 1],
  )
})
