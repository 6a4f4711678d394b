import type { MeasuredGrowth } from '../growth/growthTables.js'
import { markdownTable } from '../micro/report.js'
import { type CellStand, checkAnswers, measureCeiling, measureTurn, type Turn, warmUp } from './cellStand.js'
import { median } from './measure.js'
import type { BenchOperation } from './operations.js'

/** Medians over the rounds of one operation on one number of cells. */
export interface CurvePoint extends MeasuredGrowth {
  readonly perSecond: number
  readonly p99Ms: number
  /** CPU time of the process per request. */
  readonly cpuUs: number
  /** What the same number of threads of bare uWebSockets.js take of the CPU ÷ what the fewest do. */
  readonly ceilingCpuRatio: number
  /** Parts of `cpuUs`. */
  readonly frontUs: number
  readonly queryUs: number
  readonly otherUs: number
  /** Per thousand requests. */
  readonly frontSleeps: number
  readonly querySleeps: number
  readonly preemptions: number
  /** Time in which front and query thread could have run, but all cores were taken. */
  readonly waitUs: number
  readonly unevenness: number
}

/** What one more cell brings and costs on this machine: an operation with each number of cells, in turn, round after round. */
export async function measureCurve(stand: CellStand, operation: BenchOperation): Promise<CurvePoint[]> {
  const numbers = Object.keys(stand.sets).map(Number)
  const turns = new Map<number, (Turn & { readonly ceilingUs: number })[]>()
  const bodyBytes = await checkAnswers(stand, operation)
  await warmUp(stand, operation)
  for (let round = 0; round < stand.rounds; round++)
    for (const cells of numbers) {
      const connections = cells * stand.connectionsPerCell
      const turn = await measureTurn(stand, operation, cells, connections)
      const ceilingUs = await measureCeiling(stand, operation, bodyBytes, cells, connections)
      turns.set(cells, [...(turns.get(cells) ?? []), { ...turn, ceilingUs }])
    }
  const first = turns.get(numbers[0]!)!
  return [...turns].map(([cells, all]) => {
    const of = (value: (turn: (typeof all)[number], round: number) => number): number =>
      median(all.map(value))
    return {
      operation: operation.name,
      cells,
      perSecond: of(({ perSecond }) => perSecond),
      perSecondRatio: of(({ perSecond }, round) => perSecond / first[round]!.perSecond),
      p99Ms: of(({ p99Ms }) => p99Ms),
      cpuUs: of(({ cpuUs }) => cpuUs),
      cpuRatio: of(({ cpuUs }, round) => cpuUs / first[round]!.cpuUs),
      ceilingCpuRatio: of(({ ceilingUs }, round) => ceilingUs / first[round]!.ceilingUs),
      frontUs: of(({ front }) => front.runUs),
      queryUs: of(({ query }) => query.runUs),
      otherUs: of(({ cpuUs, front, query }) => cpuUs - front.runUs - query.runUs),
      requestsPerBatch: of(({ requestsPerBatch }) => requestsPerBatch),
      frontSleeps: 1000 * of(({ front }) => front.sleeps),
      querySleeps: 1000 * of(({ query }) => query.sleeps),
      preemptions: 1000 * of(({ front, query }) => front.preemptions + query.preemptions),
      waitUs: of(({ front, query }) => front.waitUs + query.waitUs),
      unevenness: of(({ unevenness }) => unevenness),
    }
  })
}

export function curveTable(points: readonly CurvePoint[]): string {
  return markdownTable(
    [
      '',
      'cells',
      'req/s',
      '÷ first',
      'p99 ms',
      'process µs CPU',
      '÷ first',
      'bare threads, ÷ first',
      'front µs',
      'query µs',
      'others µs',
      'requests per batch',
      'sleeps of the front, ‰',
      'of the query thread, ‰',
      'preemptions, ‰',
      'waited for a core µs',
      'busiest cell ÷ mean',
    ],
    points.map((point) => [
      point.operation,
      String(point.cells),
      point.perSecond.toFixed(0),
      point.perSecondRatio.toFixed(2),
      point.p99Ms.toFixed(1),
      point.cpuUs.toFixed(1),
      point.cpuRatio.toFixed(2),
      point.ceilingCpuRatio.toFixed(2),
      point.frontUs.toFixed(1),
      point.queryUs.toFixed(1),
      point.otherUs.toFixed(1),
      point.requestsPerBatch.toFixed(1),
      point.frontSleeps.toFixed(0),
      point.querySleeps.toFixed(0),
      point.preemptions.toFixed(0),
      point.waitUs.toFixed(0),
      point.unevenness.toFixed(2),
    ]),
  )
}
