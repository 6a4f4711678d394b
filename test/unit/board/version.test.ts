import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatusBoard, headPlaces, statusRow } from '../../../src/board/statusBoard.js'
import { createVersionReader, hasOnlyGrown } from '../../../src/board/version.js'
import { atEachWrite } from '../../support/boardWrites.js'

test('a network that halts as disk_full and then as corrupt_store voids every kept answer', () => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const row = statusRow(status, 1)
  row.setHaltReason('disk_full')
  const onFullDisk = readVersion()
  row.setHaltReason('corrupt_store')
  assert.equal(hasOnlyGrown(onFullDisk, readVersion()), false)
})

test('a halt as disk_full alone voids no kept answer', () => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const before = readVersion()
  statusRow(status, 1).setHaltReason('disk_full')
  assert.deepEqual(readVersion(), before)
})

test('every write that moves a version is visible to the next reader, for each field and each network', () => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const row = statusRow(status, 1)
  const seen = [readVersion()]
  for (const change of [
    () => row.set('commits', 5),
    () => row.add('commits', 1),
    () => row.set('committing', 1),
    () => row.set('committing', 0),
    () => row.add('epoch', 1),
    () => row.setHaltReason('corrupt_store'),
    () => row.set('halting', 1),
    () => row.set('halting', 0),
    () => statusRow(status, 0).set('commits', 7),
    () => row.setHeadPlace(headPlaces.below),
    () => row.setHeadPlace(headPlaces.inStep),
  ]) {
    change()
    seen.push(readVersion())
  }
  assert.deepEqual(seen, [
    { commits: 0, epoch: 0, halted: 0, isChanging: false },
    { commits: 5, epoch: 0, halted: 0, isChanging: false },
    { commits: 6, epoch: 0, halted: 0, isChanging: false },
    { commits: 6, epoch: 0, halted: 0, isChanging: true },
    { commits: 6, epoch: 0, halted: 0, isChanging: false },
    { commits: 6, epoch: 1, halted: 0, isChanging: false },
    { commits: 6, epoch: 1, halted: 2, isChanging: false },
    { commits: 6, epoch: 1, halted: 2, isChanging: true },
    { commits: 6, epoch: 1, halted: 2, isChanging: false },
    { commits: 13, epoch: 1, halted: 2, isChanging: false },
    { commits: 14, epoch: 1, halted: 2, isChanging: false },
    { commits: 15, epoch: 1, halted: 2, isChanging: false },
  ])
  assert.equal(readVersion(), seen.at(-1))
})

test('a reader that sees a changed head place never sees the version that answers were kept under before the change', (context) => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const row = statusRow(status, 1)
  let looks = 0
  for (const place of [headPlaces.below, headPlaces.belowFinal, headPlaces.inStep, headPlaces.below]) {
    const { commits } = readVersion()
    const look = (): void => {
      const version = readVersion()
      if (row.headPlace() !== place) return
      looks += 1
      assert.ok(
        version.isChanging || version.commits !== commits,
        `${place}: the version stands at ${commits}`,
      )
    }
    atEachWrite(context, { after: look })
    row.setHeadPlace(place)
    context.mock.restoreAll()
    assert.equal(readVersion().isChanging, false)
    assert.notEqual(readVersion().commits, commits)
  }
  assert.ok(looks >= 12, `${looks} looks`)
})

test('a reader that sees a halt begin or end never sees the version that answers were kept under before the change', (context) => {
  const status = createStatusBoard([0, 1])
  const readVersion = createVersionReader(status)
  const row = statusRow(status, 1)
  let looks = 0
  for (const [before, after, change] of [
    ['none', 'corrupt_store', () => row.setHaltReason('corrupt_store')],
    ['corrupt_store', 'none', () => row.setHaltReason('none')],
    ['none', 'missing_log', () => assert.ok(row.replaceHaltReason('none', 'missing_log'))],
    ['missing_log', 'none', () => assert.ok(row.replaceHaltReason('missing_log', 'none'))],
  ] as const) {
    assert.equal(row.haltReason(), before)
    const { halted } = readVersion()
    const look = (): void => {
      const version = readVersion()
      if (row.haltReason() !== after) return
      looks += 1
      assert.ok(version.isChanging || version.halted !== halted, `${after}: the version stands at ${halted}`)
    }
    atEachWrite(context, { after: look })
    change()
    context.mock.restoreAll()
    assert.equal(readVersion().isChanging, false)
    assert.notEqual(readVersion().halted, halted)
  }
  assert.ok(looks >= 8, `${looks} looks`)
})
