import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVersionReader, isSameEpoch } from '../../../src/pool/shardVersion.js'
import { createStatusBoard, statusRow } from '../../../src/telemetry/statusBoard.js'

test('a network that stood still for want of disk and is found corrupt voids every kept answer', () => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const row = statusRow(status, 1)
  row.setHaltReason('disk_full')
  const onFullDisk = readVersion()
  row.setHaltReason('corrupt_store')
  assert.equal(isSameEpoch(onFullDisk, readVersion()), false)
})

test('a full disk alone voids nothing: what is stored can be answered for', () => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const before = readVersion()
  statusRow(status, 1).setHaltReason('disk_full')
  assert.deepEqual(readVersion(), before)
})

test('whatever moves a version is seen by its next reader, in each way of writing and on each network', () => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const row = statusRow(status, 1)
  const seen = [readVersion()]
  for (const change of [
    () => row.set('tip', 5),
    () => row.add('tip', 1),
    () => row.set('committing', 1),
    () => row.set('committing', 0),
    () => row.add('epoch', 1),
    () => row.setHaltReason('corrupt_store'),
    () => statusRow(status, 0).set('tip', 7),
  ]) {
    change()
    seen.push(readVersion())
  }
  assert.deepEqual(seen, [
    { tip: 0, epoch: 0, halted: 0, isCommitting: false },
    { tip: 5, epoch: 0, halted: 0, isCommitting: false },
    { tip: 6, epoch: 0, halted: 0, isCommitting: false },
    { tip: 6, epoch: 0, halted: 0, isCommitting: true },
    { tip: 6, epoch: 0, halted: 0, isCommitting: false },
    { tip: 6, epoch: 1, halted: 0, isCommitting: false },
    { tip: 6, epoch: 1, halted: 2, isCommitting: false },
    { tip: 13, epoch: 1, halted: 2, isCommitting: false },
  ])
  assert.equal(readVersion(), seen.at(-1))
})
