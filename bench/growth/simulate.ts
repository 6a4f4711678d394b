import { randomNumbers } from '../../test/support/testNumbers.js'
import { CellModel, type CellOptions } from './cellModel.js'
import { Clock } from './clock.js'
import { Cores, Thread } from './threads.js'

export interface Scene extends CellOptions {
  readonly cores: number
  readonly cells: number
  /** Of all cells together. Each asks again once it has its answer. */
  readonly connections: number
  /** Mean time between an answer and the next request on its connection: network and client, on other machines. */
  readonly roundTripUs: number
  /** The client is one thread on these cores, as a load generator on the same machine is. */
  readonly isClientHere: boolean
  /** Whether each cell gets as many connections as any other; else each connection falls on a cell by chance. */
  readonly isEven?: boolean
}

export interface Growth {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly meanMs: number
  /** CPU time of front and query threads per request. */
  readonly cpuUs: number
  readonly requestsPerBatch: number
  /** Mean number of requests that were on their way. */
  readonly meanInside: number
  /** Connections of the fullest cell ÷ an equal part of them. */
  readonly unevenness: number
}

const SEED = 20_231
const WARM_UP = 10_000
const MEASURED = 50_000

/** Runs cells under load until enough requests are answered. The same scene gives the same figures. */
export function simulate(scene: Scene): Growth {
  const clock = new Clock()
  const cores = new Cores(clock, scene.cores)
  const random = randomNumbers(SEED)
  const cells = Array.from({ length: scene.cells }, () => new CellModel(clock, cores, scene))
  const sums = () => {
    const total = (of: (cell: CellModel) => number) => cells.reduce((sum, cell) => sum + of(cell), 0)
    return {
      busyUs: total((cell) => cell.busyUs),
      batches: total((cell) => cell.batches),
      requests: total((cell) => cell.requests),
    }
  }
  const durations: number[] = []
  let answered = 0
  let [inside, insideUs, changedUs] = [0, 0, 0]
  const change = (by: number): void => {
    insideUs += inside * (clock.nowUs - changedUs)
    changedUs = clock.nowUs
    inside += by
  }
  const client = new Thread<() => void>(clock, cores, scene.wakeUs, (asks) => {
    for (const [at, ask] of asks.entries()) clock.after((at + 1) * scene.times.clientUs, ask)
    return asks.length * scene.times.clientUs
  })
  const askLater = (ask: () => void): void => {
    if (scene.isClientHere) client.put(ask)
    // Not all at the same moment: an exponential distribution.
    else clock.after(-scene.roundTripUs * Math.log(1 - random()), ask)
  }
  let startedUs = 0
  let before = sums()
  const connected = new Array<number>(scene.cells).fill(0)
  for (let connection = 0; connection < scene.connections; connection++) {
    const at = scene.isEven === true ? connection % scene.cells : Math.floor(random() * scene.cells)
    connected[at]! += 1
    const ask = (): void => {
      const askedUs = clock.nowUs
      change(1)
      cells[at]!.receive({
        answered: () => {
          change(-1)
          answered++
          if (answered > WARM_UP) durations.push(clock.nowUs - askedUs)
          else if (answered === WARM_UP) {
            startedUs = clock.nowUs
            insideUs = 0
            before = sums()
          }
          askLater(ask)
        },
      })
    }
    askLater(ask)
  }
  clock.run(() => answered >= WARM_UP + MEASURED)
  change(0)
  const after = sums()
  const us = clock.nowUs - startedUs
  durations.sort((left, right) => left - right)
  return {
    perSecond: (MEASURED / us) * 1e6,
    p50Ms: durations[Math.floor(MEASURED / 2)]! / 1000,
    p99Ms: durations[Math.floor(MEASURED * 0.99)]! / 1000,
    meanMs: durations.reduce((sum, each) => sum + each, 0) / MEASURED / 1000,
    cpuUs: (after.busyUs - before.busyUs) / MEASURED,
    requestsPerBatch: (after.requests - before.requests) / (after.batches - before.batches),
    meanInside: insideUs / us,
    unevenness: (Math.max(...connected) * scene.cells) / scene.connections,
  }
}
