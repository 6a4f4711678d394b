import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeLimits, limitsOf, type ProcessLimits } from '../../../src/telemetry/processLimits.js'

const UNLIMITED = Number.POSITIVE_INFINITY
const MIB = 2 ** 20

/** As Linux writes the file, reduced to the lines that are read. */
const TEXT = `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max file size             65536                unlimited            bytes
Max data size             unlimited            unlimited            bytes
Max stack size            8388608              unlimited            bytes
Max processes             96365                96365                processes
Max open files            1024                 524288               files
Max address space         1024000000           1024000000           bytes
`

const GENEROUS: ProcessLimits = {
  openFiles: { soft: 65_536, hard: 65_536 },
  addressSpace: UNLIMITED,
  dataSize: UNLIMITED,
  fileSize: UNLIMITED,
  stackSize: 8 * MIB,
  cpuSeconds: UNLIMITED,
  threads: UNLIMITED,
  memory: UNLIMITED,
}

const DEMAND = { networks: 3, fronts: 1, workers: 1, storeBytes: 0 }

function outcomeOf(change: Partial<ProcessLimits>, demand = DEMAND): Record<string, string> {
  const findings = judgeLimits({ ...GENEROUS, ...change }, demand)
  return Object.fromEntries(
    findings.filter(({ outcome }) => outcome !== 'ok').map(({ what, outcome }) => [what, outcome]),
  )
}

test('process limits are read as the system reports them', () => {
  const limits = limitsOf(TEXT)
  assert.deepEqual(limits.openFiles, { soft: 1024, hard: 524_288 })
  assert.equal(limits.fileSize, 65_536)
  assert.equal(limits.addressSpace, 1_024_000_000)
  assert.equal(limits.dataSize, UNLIMITED)
  assert.equal(limits.stackSize, 8_388_608)
})

test('an absent limit counts as unlimited', () => {
  assert.deepEqual(limitsOf('').openFiles, { soft: UNLIMITED, hard: UNLIMITED })
})

test('generous limits give no warning', () => {
  assert.deepEqual(outcomeOf({}), {})
})

test('each limit that is too low fails, and one that is tight warns', () => {
  const cases: [Partial<ProcessLimits>, Record<string, string>][] = [
    [{ openFiles: { soft: 1055, hard: 1055 } }, { 'open files': 'fail' }],
    [{ openFiles: { soft: 1056, hard: 1056 } }, { 'open files': 'warn' }],
    [{ addressSpace: 100 * 2 ** 30 }, { 'address space': 'fail' }],
    [{ dataSize: 500 * MIB }, { 'data size': 'fail' }],
    [{ dataSize: 2 ** 40 }, { 'data size': 'warn' }],
    [{ fileSize: 64 * MIB - 1 }, { 'file size': 'fail' }],
    [{ fileSize: 2 ** 40 }, { 'file size': 'warn' }],
    [{ stackSize: MIB / 2 }, { 'stack size': 'fail' }],
    [{ threads: 20 }, { threads: 'fail' }],
    [{ cpuSeconds: 3600 }, { 'CPU time': 'warn' }],
    [{ memory: 200 * MIB }, { memory: 'fail' }],
    [{ memory: 400 * MIB }, { memory: 'warn' }],
  ]
  for (const [change, told] of cases) assert.deepEqual(outcomeOf(change), told, JSON.stringify(change))
})

test('more networks, threads and data need higher limits', () => {
  const openFiles = { soft: 2048, hard: 2048 }
  assert.deepEqual(outcomeOf({ openFiles }, { ...DEMAND, networks: 53 }), { 'open files': 'fail' })
  assert.deepEqual(outcomeOf({ memory: 600 * MIB }, { ...DEMAND, workers: 32 }), { memory: 'fail' })
  assert.deepEqual(outcomeOf({ fileSize: 2 ** 30 }, { ...DEMAND, storeBytes: 2 ** 30 }), {
    'file size': 'fail',
  })
})
