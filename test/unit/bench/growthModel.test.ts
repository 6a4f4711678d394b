import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Clock } from '../../../bench/growth/clock.js'
import { type Scene, simulate } from '../../../bench/growth/simulate.js'
import { Cores, Thread } from '../../../bench/growth/threads.js'
import { randomNumbers } from '../../support/testNumbers.js'

const oneCell: Scene = {
  cores: 2,
  cells: 1,
  queryThreads: 1,
  connections: 64,
  times: { frontRequestUs: 8, frontBatchUs: 30, queryRequestUs: 5, queryBatchUs: 40, clientUs: 4 },
  mostPerBatch: 256,
  wakeUs: 5,
  roundTripUs: 200,
  isClientHere: false,
}

/** @returns the mean time between coming and beginning, of work that comes at random. */
function meanWait(cores: number, perUs: number, workUs: (random: () => number) => number): number {
  const clock = new Clock()
  const queue = new Cores(clock, cores)
  const random = randomNumbers(7)
  let [begun, waited] = [0, 0]
  const come = (): void => {
    const cameUs = clock.nowUs
    queue.add({
      begin: () => {
        begun++
        waited += clock.nowUs - cameUs
        return workUs(random)
      },
      end: () => undefined,
    })
    clock.after(-Math.log(1 - random()) / perUs, come)
  }
  come()
  clock.run(() => begun === 400_000)
  return waited / begun
}

function assertClose(value: number, expected: number, share: number, what: string): void {
  assert.ok(Math.abs(value / expected - 1) <= share, `${what}: ${value} instead of ${expected}`)
}

test('events happen in the order of their time, and those of one moment in the order in which they were asked for', () => {
  const clock = new Clock()
  const random = randomNumbers(3)
  const asked = Array.from({ length: 2_000 }, (_, order) => ({ atUs: Math.floor(random() * 50), order }))
  const happened: typeof asked = []
  for (const event of asked) clock.after(event.atUs, () => happened.push(event))
  clock.run(() => false)
  assert.deepEqual(
    happened,
    asked.toSorted((one, other) => one.atUs - other.atUs || one.order - other.order),
  )
})

test('work of one length on one core waits as long as an M/D/1 queue says', () => {
  // Pollaczek and Khinchine, without variance: ρ s ÷ (2 (1 − ρ)).
  for (const load of [0.3, 0.6, 0.9])
    assertClose(
      meanWait(1, load / 10, () => 10),
      (load * 10) / (2 * (1 - load)),
      0.04,
      `load ${load}`,
    )
})

test('work of random length on several cores waits as long as an M/M/c queue says', () => {
  for (const [cores, load] of [
    [2, 0.7],
    [8, 0.9],
  ] as const) {
    // Erlang's C: the chance to wait at all.
    const offered = cores * load
    let [sum, term] = [0, 1]
    for (let k = 0; k < cores; k++) {
      sum += term
      term *= offered / (k + 1)
    }
    const all = term / (1 - load)
    const expected = ((all / (sum + all)) * 10) / (cores * (1 - load))
    const wait = meanWait(cores, offered / 10, (random) => -10 * Math.log(1 - random()))
    assertClose(wait, expected, 0.05, `${cores} cores, load ${load}`)
  }
})

test('a thread takes all that came while it waited for a core, in one turn', () => {
  const clock = new Clock()
  const cores = new Cores(clock, 1)
  const turns: number[][] = []
  const thread = new Thread<number>(clock, cores, 0, (items) => {
    turns.push([...items])
    return 1
  })
  // Something else has the only core for 10 µs.
  cores.add({ begin: () => 10, end: () => undefined })
  for (const at of [2, 4, 6]) clock.after(at, () => thread.put(at))
  clock.after(20, () => thread.put(20))
  clock.run(() => false)
  assert.deepEqual(turns, [[2, 4, 6], [20]])
})

test('one connection alone takes the sum of all steps, and no step overlaps another', () => {
  const { meanMs, perSecond, requestsPerBatch, cpuUs } = simulate({ ...oneCell, connections: 1 })
  // Front, query thread and front again are woken, 5 µs each; then all that one request and one batch take.
  const expectedUs = 3 * 5 + 8 + 30 + 5 + 40
  assertClose(1000 * meanMs, expectedUs, 1e-6, 'time')
  assertClose(perSecond, 1e6 / (expectedUs + 200), 0.01, 'rate')
  assert.equal(requestsPerBatch, 1)
  assertClose(cpuUs, 8 + 30 + 5 + 40, 1e-3, 'CPU')
})

test("requests inside are rate × time (Little's law), at any load", () => {
  for (const connections of [4, 64, 1_000]) {
    const { meanInside, perSecond, meanMs } = simulate({ ...oneCell, connections })
    assertClose(meanInside, (perSecond * meanMs) / 1000, 0.01, `${connections} connections`)
  }
})

test('CPU time per request is that of a request, and that of a batch divided by its size', () => {
  for (const connections of [1, 16, 256]) {
    const { cpuUs, requestsPerBatch } = simulate({ ...oneCell, connections })
    assertClose(cpuUs, 13 + 70 / requestsPerBatch, 0.01, `${connections} connections`)
  }
})

test('a front thread that many connections keep busy answers as often as its own time allows', () => {
  const { perSecond, requestsPerBatch } = simulate({
    ...oneCell,
    connections: 4_000,
    cores: 4,
    queryThreads: 3,
  })
  assertClose(perSecond, 1e6 / (8 + 30 / requestsPerBatch), 0.01, 'rate')
})

test('cells with cores of their own and even connections answer as many times more as there are cells', () => {
  const one = simulate(oneCell)
  const eight = simulate({ ...oneCell, cores: 16, cells: 8, connections: 8 * 64, isEven: true })
  assertClose(eight.perSecond, 8 * one.perSecond, 0.01, 'rate')
  assertClose(eight.cpuUs, one.cpuUs, 0.01, 'CPU')
})

test('the same scene gives the same figures', () => {
  const scene = { ...oneCell, cells: 4, connections: 256, isClientHere: true }
  assert.deepEqual(simulate(scene), simulate(scene))
})
