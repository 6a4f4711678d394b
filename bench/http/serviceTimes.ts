import type { ServiceTimes } from '../growth/cellModel.js'
import { type CellStand, measureTurn, type Turn } from './cellStand.js'
import type { BenchOperation } from './operations.js'

/** From batches of one request to full ones. */
const CONNECTIONS = [1, 4, 16, 64, 256]

/**
 * What one request and what one batch take of the CPU in front and query thread, from loads that make batches of different sizes: time
 * per request = (time of a request) + (time of a batch) ÷ (requests per batch). On the fewest cells, whose code must be
 * compiled.
 */
export async function measureServiceTimes(
  stand: CellStand,
  operation: BenchOperation,
): Promise<ServiceTimes> {
  const cells = Math.min(...Object.keys(stand.sets).map(Number))
  const turns: Turn[] = []
  for (let round = 0; round < stand.rounds; round++)
    for (const connections of CONNECTIONS) turns.push(await measureTurn(stand, operation, cells, connections))
  const fit = (value: (turn: Turn) => number) =>
    fitLine(turns.map((turn) => ({ x: 1 / turn.requestsPerBatch, y: value(turn) })))
  const front = fit(({ front }) => front.runUs)
  const query = fit(({ query }) => query.runUs)
  const client = fit(({ clientUs }) => clientUs)
  return {
    frontRequestUs: tenths(front.base),
    frontBatchUs: tenths(front.slope),
    queryRequestUs: tenths(query.base),
    queryBatchUs: tenths(query.slope),
    clientUs: tenths(client.base),
  }
}

/** As the report has them, so that its readers get the same curve from the same times. */
function tenths(us: number): number {
  return Math.round(10 * us) / 10
}

/** The line through points with the least squared distances, where neither part may be below 0. */
function fitLine(points: readonly { readonly x: number; readonly y: number }[]): {
  readonly base: number
  readonly slope: number
} {
  const meanOf = (value: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + value(point), 0) / points.length
  const [x, y] = [meanOf((point) => point.x), meanOf((point) => point.y)]
  const slope =
    meanOf((point) => (point.x - x) * (point.y - y)) /
    Math.max(
      1e-9,
      meanOf((point) => (point.x - x) ** 2),
    )
  if (slope < 0) return { base: y, slope: 0 }
  const base = y - slope * x
  return base < 0 ? { base: 0, slope: y / x } : { base, slope }
}
