import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type Run, runAutocannon } from './drive.js'
import type { ToIndexer } from './indexerProcess.js'
import { median, type Stand } from './measure.js'
import { runOpening } from './openConnections.js'
import type { BenchOperation } from './operations.js'
import { cpuTimes } from './threadCpu.js'

/** A measured ratio of two ways, and its target if there is one. */
export interface Condition {
  readonly text: string
  readonly value: number
  readonly target?: { readonly atLeast: number } | { readonly atMost: number }
}

const PATHS = 10_000
/** Autocannon prepares a request per path and connection, so there are few paths. */
const FEW_PATHS = 256
const MANY_CONNECTIONS = 256
/** Users of the latency runs: so few that they hardly wait for one another. */
const USERS = 10
const USUAL_LOAD = 0.7

/** The rate of one way divided by that of another: the median over rounds in which they take turns. */
async function rateRatio(
  stand: Stand,
  first: () => Promise<Run>,
  second: () => Promise<Run>,
): Promise<number> {
  const ratios: number[] = []
  for (let round = 0; round < stand.rounds; round++) {
    const { perSecond } = await first()
    ratios.push(perSecond / (await second()).perSecond)
  }
  return median(ratios)
}

/** @param point the usual point query. */
export async function poolByFrontThread(stand: Stand, point: BenchOperation): Promise<Condition> {
  const { connections, seconds, service } = stand
  const paths = Array.from({ length: PATHS }, (_, at) => point.path(at))
  const run = (port: number) => () => stand.drive({ port, paths, connections, seconds })
  return {
    text: 'points through the pool ÷ read by the thread that listens',
    value: await rateRatio(stand, run(service.uncached), run(service.alone)),
    target: { atLeast: 0.8 },
  }
}

/** The rate with many connections: so many requests wait that batches fill by themselves. */
export async function manyConnections(
  stand: Stand,
  point: BenchOperation,
  bodyBytes: number,
): Promise<Condition> {
  const { seconds, service, ceiling } = stand
  const paths = Array.from({ length: PATHS }, (_, at) => point.path(at))
  const constant = paths.map((path) => `/${bodyBytes}?${path}`)
  const run = (port: number, asked: readonly string[]) => () =>
    stand.drive({ port, paths: asked, connections: MANY_CONNECTIONS, seconds })
  return {
    text: `${point.name}, ${MANY_CONNECTIONS} connections ÷ ceiling`,
    value: await rateRatio(stand, run(service.uncached, paths), run(ceiling.port, constant)),
    target: { atLeast: 0.7 },
  }
}

/** What a new connection for each request costs the front, compared with the ceiling. */
export async function openConnections(
  stand: Stand,
  point: BenchOperation,
  bodyBytes: number,
): Promise<Condition> {
  const { connections, seconds, service, ceiling } = stand
  const paths = Array.from({ length: FEW_PATHS }, (_, at) => point.path(at))
  const frontUs = async (port: number, pid: number, asked: readonly string[]): Promise<number> => {
    const before = cpuTimes(pid)
    const requests = await runOpening({ port, paths: asked, connections, seconds })
    return (cpuTimes(pid).frontUs - before.frontUs) / requests
  }
  const constant = paths.map((path) => `/${bodyBytes}?${path}`)
  const ours = await frontUs(service.uncached, service.pid, paths)
  const theirs = await frontUs(ceiling.port, ceiling.pid, constant)
  return {
    text: `points, a connection for each: CPU of the ceiling (${theirs.toFixed(1)} µs) ÷ of our front (${ours.toFixed(1)} µs)`,
    value: theirs / ours,
  }
}

/** p99 divided by p50 at 70 % of the highest rate. */
export async function usualLatency(
  stand: Stand,
  operation: BenchOperation,
  fullPerSecond: number,
): Promise<Condition> {
  const { p50Ms, p99Ms } = await runAutocannon({
    port: stand.service.uncached,
    paths: Array.from({ length: FEW_PATHS }, (_, at) => operation.path(at)),
    connections: USERS,
    seconds: stand.seconds,
    perSecond: USUAL_LOAD * fullPerSecond,
  })
  // Autocannon counts whole milliseconds.
  return {
    text: `${operation.name} at 70 % load: p99 (${p99Ms} ms) ÷ p50 (${p50Ms} ms, at least 1)`,
    value: p99Ms / Math.max(1, p50Ms),
  }
}

/** Rates while an indexer writes as fast as it can, divided by rates without it. It leaves the stores larger than before. */
export async function besideIndexer(
  stand: Stand,
  service: ChildProcess,
  operations: readonly BenchOperation[],
): Promise<Condition[]> {
  const send = async (order: ToIndexer): Promise<unknown> => {
    service.send(order)
    return order === 'write' ? undefined : (await once(service, 'message'))[0]
  }
  await send('prepare')
  const conditions: Condition[] = []
  for (const operation of operations) {
    const { connections, seconds } = stand
    const paths = Array.from({ length: PATHS }, (_, at) => operation.path(at))
    const run = () => stand.drive({ port: stand.service.uncached, paths, connections, seconds })
    let batches = 0
    const value = await rateRatio(
      stand,
      async () => {
        await send('write')
        const writing = await run()
        batches += (await send('pause')) as number
        return writing
      },
      run,
    )
    if (batches === 0) throw new Error('the indexer wrote nothing')
    conditions.push({
      text: `${operation.name} while an indexer backfills (${batches} batches) ÷ idle`,
      value,
      target: { atLeast: 0.7 },
    })
  }
  return conditions
}
