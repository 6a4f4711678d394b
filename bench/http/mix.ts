import { markdownTable } from '../micro/report.js'
import type { Condition } from './conditions.js'
import { runAutocannon } from './drive.js'
import { median, type Stand } from './measure.js'
import type { BenchOperation } from './operations.js'

/** Users that ask for points, and readers of pages. */
const USERS = 10
const READERS = 4
const FEW_PATHS = 256
const LIGHT_LOAD = 0.3
const RUNS = 5
/** So many of the runs must be within the target. */
const MET_IN = 4
const THOUSANDS = '/bridge/v1/bridges?network_id=0&page_size=1000&page_number='

interface MixRun {
  readonly aloneMs: number
  readonly besideMs: number
  readonly pagesPerSecond: number
  /** p99 of points beside pages ÷ alone. Autocannon counts whole milliseconds, so alone counts as 1 ms at least. */
  readonly ratio: number
}

/** p99 of points at 30 % of their highest rate, alone and while others read pages of 1,000 as fast as they can, in turn. */
export async function measureMix(
  stand: Stand,
  point: BenchOperation,
  fullPerSecond: number,
  pages: number,
): Promise<MixRun[]> {
  const port = stand.service.uncached
  const points = () =>
    runAutocannon({
      port,
      paths: Array.from({ length: FEW_PATHS }, (_, at) => point.path(at)),
      connections: USERS,
      seconds: stand.seconds,
      perSecond: LIGHT_LOAD * fullPerSecond,
    })
  const large = Array.from({ length: pages }, (_, at) => `${THOUSANDS}${at + 1}`)
  const runs: MixRun[] = []
  for (let run = 0; run < RUNS; run++) {
    const { p99Ms: aloneMs } = await points()
    const [{ p99Ms: besideMs }, { perSecond }] = await Promise.all([
      points(),
      stand.drive({ port, paths: large, connections: READERS, seconds: stand.seconds }),
    ])
    runs.push({ aloneMs, besideMs, pagesPerSecond: perSecond, ratio: besideMs / Math.max(1, aloneMs) })
  }
  return runs
}

export function mixCondition(runs: readonly MixRun[]): Condition {
  const ratios = runs.map(({ ratio }) => ratio).toSorted((a, b) => a - b)
  return {
    text: `points beside pages of 1,000: p99 ÷ alone (at least 1 ms), met in ${MET_IN} of ${RUNS} runs`,
    value: ratios[MET_IN - 1]!,
    target: { atMost: 2 },
  }
}

export function mixTable(runs: readonly MixRun[]): string {
  return markdownTable(
    ['run', 'p99 alone, ms', 'p99 beside pages, ms', '÷ alone', 'pages/s'],
    [
      ...runs.map(({ aloneMs, besideMs, ratio, pagesPerSecond }, at) => [
        String(at + 1),
        String(aloneMs),
        String(besideMs),
        ratio.toFixed(2),
        pagesPerSecond.toFixed(0),
      ]),
      ['median', '', '', median(runs.map(({ ratio }) => ratio)).toFixed(2), ''],
    ],
  )
}
