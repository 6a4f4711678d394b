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
