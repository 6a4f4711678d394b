import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SyncMessage } from '../../../src/indexer/messages.js'
import { SyncReport } from '../../../src/indexer/syncReport.js'
import { createStatusBoard, statusRow } from '../../../src/telemetry/statusBoard.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'

function openReport() {
  const row = statusRow(createStatusBoard([1]), 1)
  const messages: SyncMessage[] = []
  const { logger } = createKeepingLogger()
  const post = (message: SyncMessage): void => {
    messages.push(message)
  }
  const report = new SyncReport({ networkId: 1, row, post, logger, clock: { now: () => 0 } })
  return { row, report, types: () => messages.map(({ type }) => type) }
}

test('a halt that the thread told ends when it goes on', () => {
  const { row, report, types } = openReport()
  report.halted('missing_log', new Error('a gap'))
  assert.equal(row.haltReason(), 'missing_log')
  report.resumed()
  assert.equal(row.haltReason(), 'none')
  assert.deepEqual(types(), ['halted', 'resumed'])
})

test('a store that a query found damaged stays halted, whatever the indexer can still do', () => {
  const { row, report, types } = openReport()
  row.setHaltReason('corrupt_store')
  report.resumed()
  assert.equal(row.haltReason(), 'corrupt_store')
  report.halted('rpc_unavailable', new Error('no endpoint answers'))
  report.resumed()
  assert.equal(row.haltReason(), 'corrupt_store')
  assert.deepEqual(types(), [])
})

test('damage that is found while the thread is halted outlives that halt', () => {
  const { row, report } = openReport()
  report.halted('missing_log', new Error('a gap'))
  row.setHaltReason('corrupt_store')
  report.resumed()
  assert.equal(row.haltReason(), 'corrupt_store')
})

test('damage that is found while the thread halts or goes on again is not written over', (context) => {
  for (const change of [
    (report: SyncReport) => report.resumed(),
    (report: SyncReport) => report.halted('missing_log', new Error('a gap')),
  ]) {
    const { row, report, types } = openReport()
    report.halted('rpc_unavailable', new Error('no endpoint answers'))
    // Main finds the damage just before the thread writes its own word, in whatever way it does.
    let isFound = false
    for (const name of ['store', 'compareExchange'] as const) {
      const write = Atomics[name] as (...args: unknown[]) => unknown
      context.mock.method(Atomics, name, (...args: unknown[]) => {
        if (!isFound) {
          isFound = true
          row.setHaltReason('corrupt_store')
        }
        return write(...args)
      })
    }
    change(report)
    context.mock.restoreAll()
    assert.deepEqual([isFound, row.haltReason(), types()], [true, 'corrupt_store', ['halted']])
  }
})
