import { markdownTable } from '../micro/report.js'
import type { Condition } from './conditions.js'
import { type Run, runWrk } from './drive.js'
import { ask, median, type Stand } from './measure.js'
import type { BenchOperation } from './operations.js'
import { coreTimes, cpuTimes, endedChildrenUs } from './threadCpu.js'

/** Users that ask for points, a millisecond after each answer: some 13,000 points per second, a quarter of what ten users get who never pause. */
const USERS = 20
const PAUSE_MS = 1
const READERS = 4
const PATHS = 1_000
const RUNS = 5
/** So many of the runs must be within the target. */
const MET_IN = 4
/** A p99 below this counts as this: two threads that are woken in turn have it on a machine that does nothing else. */
const LEAST_MS = 1
const THOUSANDS = '/bridge/v1/bridges?network_id=0&page_size=1000&page_number='

interface Pair {
  readonly alone: Run
  readonly beside: Run
  readonly pagesPerSecond: number
  /** p99 of points beside pages ÷ alone, each `LEAST_MS` at least. */
  readonly ratio: number
}

interface MixRun {
  readonly service: Pair
  /** uWebSockets.js alone, which sends as many constant bytes. */
  readonly ceiling: Pair
  /** Share of all cores that programs took that are no part of this bench. */
  readonly others: number
}

/**
 * p99 of points, alone and while others read pages of 1,000 as fast as they can, in turn. Points and pages are asked for by a process each,
 * and points evenly: else p99 would tell how one load generator waits for another, and for what it sent at once itself.
 * @param folder for scripts of wrk, which must be installed.
 */
export async function measureMix(
  stand: Stand,
  folder: string,
  point: BenchOperation,
  pages: number,
): Promise<MixRun[]> {
  const points = Array.from({ length: PATHS }, (_, at) => point.path(at))
  const large = Array.from({ length: pages }, (_, at) => `${THOUSANDS}${at + 1}`)
  const { uncached } = stand.service
  const bytesOf = async (path: string): Promise<number> => Buffer.byteLength(await ask(uncached, path))
  const [pointBytes, pageBytes] = [await bytesOf(points[0]!), await bytesOf(large[0]!)]
  const { seconds } = stand
  const pair = async (port: number, points: readonly string[], large: readonly string[]): Promise<Pair> => {
    const askPoints = (): Promise<Run> =>
      runWrk({ port, paths: points, connections: USERS, pauseMs: PAUSE_MS, seconds }, folder)
    const alone = await askPoints()
    const [beside, { perSecond }] = await Promise.all([
      askPoints(),
      runWrk({ port, paths: large, connections: READERS, seconds }, folder),
    ])
    const ratio = Math.max(LEAST_MS, beside.p99Ms) / Math.max(LEAST_MS, alone.p99Ms)
    return { alone, beside, pagesPerSecond: perSecond, ratio }
  }
  /** Of this bench: load generators have ended when it is asked. */
  const ownUs = (): number =>
    [process.pid, stand.service.pid, stand.ceiling.pid]
      .map(cpuTimes)
      .reduce((sum, { frontUs, restUs }) => sum + frontUs + restUs, endedChildrenUs())
  const measure = async (): Promise<MixRun> => {
    const [before, own] = [coreTimes(), ownUs()]
    const service = await pair(uncached, points, large)
    const ceiling = await pair(
      stand.ceiling.port,
      points.map((path) => `/${pointBytes}?${path}`),
      large.map((path) => `/${pageBytes}?${path}`),
    )
    const after = coreTimes()
    const others = (after.busyUs - before.busyUs - (ownUs() - own)) / (after.allUs - before.allUs)
    return { service, ceiling, others: Math.max(0, others) }
  }
  // Code is compiled in the first, which does not count.
  await measure()
  const runs: MixRun[] = []
  for (let run = 0; run < RUNS; run++) runs.push(await measure())
  return runs
}

export function mixCondition(runs: readonly MixRun[]): Condition {
  const ratios = runs.map(({ service }) => service.ratio).toSorted((a, b) => a - b)
  return {
    text: `points beside pages of 1,000: p99 ÷ alone (at least ${LEAST_MS} ms), met in ${MET_IN} of ${RUNS} runs`,
    value: ratios[MET_IN - 1]!,
    target: { atMost: 2 },
  }
}

export function mixTable(runs: readonly MixRun[]): string {
  const ofSide = ({ alone, beside, ratio, pagesPerSecond }: Pair): string[] => [
    alone.p99Ms.toFixed(2),
    beside.p99Ms.toFixed(2),
    ratio.toFixed(2),
    pagesPerSecond.toFixed(0),
  ]
  return markdownTable(
    [
      'run',
      ...['service', 'uWebSockets.js alone'].flatMap((side) => [
        `${side}: p99 alone, ms`,
        'beside pages, ms',
        `÷ alone (at least ${LEAST_MS} ms)`,
        'pages/s',
      ]),
      'points/s alone, beside',
      'other programs, % of all cores',
    ],
    [
      ...runs.map(({ service, ceiling, others }, at) => [
        String(at + 1),
        ...ofSide(service),
        ...ofSide(ceiling),
        `${service.alone.perSecond.toFixed(0)}, ${service.beside.perSecond.toFixed(0)}`,
        (100 * others).toFixed(0),
      ]),
      [
        'median',
        '',
        '',
        median(runs.map(({ service }) => service.ratio)).toFixed(2),
        '',
        '',
        '',
        median(runs.map(({ ceiling }) => ceiling.ratio)).toFixed(2),
        '',
        '',
        '',
      ],
    ],
  )
}
