import { type CellSizes, cellSizes } from '../../src/cell/cellSizes.js'
import type { Config } from '../../src/config/config.types.js'
import { markdownTable } from '../micro/report.js'
import type { ServiceTimes } from './cellModel.js'
import { type Growth, type Scene, simulate } from './simulate.js'

/** An operation whose times were measured: what the model is fed with. */
export interface MeasuredOperation {
  readonly name: string
  readonly mostPerBatch: number
  readonly times: ServiceTimes
}

/** What was measured of an operation on some number of cells. */
export interface MeasuredGrowth {
  readonly operation: string
  readonly cells: number
  readonly perSecondRatio: number
  readonly cpuRatio: number
  readonly requestsPerBatch: number
}

/** The assumptions of the model that are not measured. */
export const assumed = {
  /** Mean time between an answer and the next request on its connection: a network in one place, and a quick client. */
  roundTripUs: 200,
  /** About what a woken thread takes to begin. */
  wakeUs: 10,
  connectionsPerCell: 64,
} as const

/** The times of `operations`, from which the model can be run again. */
export function timesTable(operations: readonly MeasuredOperation[]): string {
  return markdownTable(
    [
      'µs of CPU',
      'front, a request',
      'front, a batch',
      'query thread, a request',
      'query thread, a batch',
      'client, a request',
      'requests per batch at most',
    ],
    operations.map(({ name, times, mostPerBatch }) => [
      name,
      String(times.frontRequestUs),
      String(times.frontBatchUs),
      String(times.queryRequestUs),
      String(times.queryBatchUs),
      String(times.clientUs),
      String(mostPerBatch),
    ]),
  )
}

const CORES = [4, 8, 16, 32, 64]

/** An operation on a machine with some number of cores, as modelled. */
export interface ModelledGrowth {
  readonly operation: string
  readonly cores: number
  readonly sizes: CellSizes
  readonly growth: Growth
  /** This rate ÷ the rate on the fewest cores. */
  readonly perSecondRatio: number
  /** What it would be if each cell had as many connections as any other ÷ what it is. */
  readonly evenRatio: number
}

/** The curve to 64 cores, with as many cells and query threads as `http.threads = "auto"` gives, and clients on other machines. */
export function modelGrowth(
  operations: readonly MeasuredOperation[],
  config: Pick<Config, 'http' | 'pool'>,
): ModelledGrowth[] {
  return operations.flatMap((operation) => {
    let fewest: Growth | undefined
    return CORES.map((cores) => {
      const sizes = automaticSizes(config, cores)
      const scene = sceneOf(operation, cores, sizes)
      const growth = simulate(scene)
      fewest ??= growth
      return {
        operation: operation.name,
        cores,
        sizes,
        growth,
        perSecondRatio: growth.perSecond / fewest.perSecond,
        evenRatio: simulate({ ...scene, isEven: true }).perSecond / growth.perSecond,
      }
    })
  })
}

export function growthTable(modelled: readonly ModelledGrowth[]): string {
  return markdownTable(
    [
      '',
      'cores',
      'front + query threads',
      'req/s',
      `÷ ${CORES[0]} cores`,
      'with even connections ÷ this',
      'fullest cell ÷ mean',
      'p50 ms',
      'p99 ms',
      'µs CPU',
      'requests per batch',
    ],
    modelled.map(({ operation, cores, sizes, growth, perSecondRatio, evenRatio }) => [
      operation,
      String(cores),
      tellThreads(sizes),
      growth.perSecond.toFixed(0),
      perSecondRatio.toFixed(2),
      evenRatio.toFixed(2),
      growth.unevenness.toFixed(2),
      growth.p50Ms.toFixed(2),
      growth.p99Ms.toFixed(2),
      growth.cpuUs.toFixed(1),
      growth.requestsPerBatch.toFixed(1),
    ]),
  )
}

/** Front threads and query threads of all cells: `4 + 12`. */
export function tellThreads({ cells, workers }: CellSizes): string {
  return `${cells} + ${cells * workers}`
}

function sceneOf({ times, mostPerBatch }: MeasuredOperation, cores: number, sizes: CellSizes): Scene {
  return {
    cores,
    cells: sizes.cells,
    queryThreads: sizes.workers,
    connections: sizes.cells * assumed.connectionsPerCell,
    times,
    mostPerBatch,
    wakeUs: assumed.wakeUs,
    roundTripUs: assumed.roundTripUs,
    isClientHere: false,
  }
}

function automaticSizes({ http, pool }: Pick<Config, 'http' | 'pool'>, cores: number): CellSizes {
  return cellSizes(
    { http: { ...http, threads: 'auto' }, pool },
    { cores, sharesPorts: true, transport: '', fits: () => true },
  )
}

/**
 * The model beside what was measured on this machine, whose cores the load generator shares. The model knows queues, batches and
 * wake-ups only: what it lacks is what caches, the kernel's switches of threads and cold code cost.
 */
export function checkTable(
  operations: readonly MeasuredOperation[],
  measured: readonly MeasuredGrowth[],
  {
    cores,
    connectionsPerCell,
    queryThreads,
  }: { cores: number; connectionsPerCell: number; queryThreads: number },
): string {
  const rows: string[][] = []
  for (const { name, times, mostPerBatch } of operations) {
    let first: Growth | undefined
    for (const each of measured.filter(({ operation }) => operation === name)) {
      const { cells } = each
      const growth = simulate({
        cores,
        cells,
        queryThreads,
        connections: cells * connectionsPerCell,
        times,
        mostPerBatch,
        wakeUs: assumed.wakeUs,
        roundTripUs: 0,
        isClientHere: true,
      })
      first ??= growth
      rows.push([
        name,
        String(cells),
        (growth.perSecond / first.perSecond).toFixed(2),
        each.perSecondRatio.toFixed(2),
        (growth.cpuUs / first.cpuUs).toFixed(2),
        each.cpuRatio.toFixed(2),
        growth.requestsPerBatch.toFixed(1),
        each.requestsPerBatch.toFixed(1),
      ])
    }
  }
  return markdownTable(
    [
      '',
      'cells',
      'req/s ÷ first, model',
      'measured',
      'µs CPU ÷ first, model',
      'measured',
      'requests per batch, model',
      'measured',
    ],
    rows,
  )
}
