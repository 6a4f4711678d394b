import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { CellCounts, CellSets } from './cellsProcess.js'
import type { Load, Run } from './drive.js'
import { ask, median } from './measure.js'
import type { BenchOperation } from './operations.js'
import { cpuTimes, endedChildrenUs, type ThreadTimes, threadTimes } from './threadCpu.js'

/** Sets of cells in one process, and what asks them. */
export interface CellStand {
  readonly process: ChildProcess
  readonly sets: CellSets
  /** Bare uWebSockets.js, on a port for each number of threads. */
  readonly ceiling: { readonly process: ChildProcess; readonly ports: Readonly<Record<number, number>> }
  readonly drive: (load: Load) => Promise<Run>
  readonly connectionsPerCell: number
  /** Of each cell. */
  readonly queryThreads: number
  readonly seconds: number
  readonly rounds: number
}

/** One turn of load on one set of cells. Times and counts are those of one request, in µs, but where a name says otherwise. */
export interface Turn {
  readonly perSecond: number
  readonly p99Ms: number
  /** CPU time of all threads of the process, also of those that do other things, such as garbage collection. */
  readonly cpuUs: number
  readonly front: ThreadTimes
  readonly query: ThreadTimes
  /** CPU time of the load generator, if it is a process of its own. */
  readonly clientUs: number
  readonly requestsPerBatch: number
  /** The busiest cell's requests ÷ an equal part of them. */
  readonly unevenness: number
}

/** Enough that no cell has them all in a processor's cache. */
const PATHS = 10_000
/**
 * Each thread compiles its code for itself. After one second in all, eight cells on two cores still took 10 µs per request for
 * compiling, and one cell 1.6.
 */
const WARM_UP_SECONDS_PER_CELL = 3

/** Load that compiles the code of every set's threads. */
export async function warmUp(stand: CellStand, operation: BenchOperation): Promise<void> {
  for (const cells of Object.keys(stand.sets).map(Number))
    await measureTurn(
      { ...stand, seconds: WARM_UP_SECONDS_PER_CELL * cells },
      operation,
      cells,
      cells * stand.connectionsPerCell,
    )
}

export async function measureTurn(
  stand: CellStand,
  operation: BenchOperation,
  cells: number,
  connections: number,
): Promise<Turn> {
  const pid = stand.process.pid!
  const { port, fronts, queries } = stand.sets[cells]!
  const paths = Array.from({ length: PATHS }, (_, at) => operation.path(at))
  const now = async () => ({
    counts: await cellCounts(stand.process, cells),
    cpu: cpuTimes(pid),
    front: threadTimes(pid, fronts),
    query: threadTimes(pid, queries),
    clientUs: endedChildrenUs(),
  })
  const before = await now()
  const run = await stand.drive({ port, paths, connections, seconds: stand.seconds })
  const after = await now()
  const answered = after.counts.answered.map((count, cell) => count - before.counts.answered[cell]!)
  const requests = answered.reduce((sum, count) => sum + count, 0)
  if (requests === 0)
    throw new Error(`no answer within ${stand.seconds} s: this machine has other work to do`)
  const batched = after.counts.batchedRequests - before.counts.batchedRequests
  return {
    perSecond: run.perSecond,
    p99Ms: run.p99Ms,
    cpuUs: (after.cpu.frontUs + after.cpu.restUs - before.cpu.frontUs - before.cpu.restUs) / requests,
    front: perRequest(before.front, after.front, requests),
    query: perRequest(before.query, after.query, requests),
    clientUs: (after.clientUs - before.clientUs) / requests,
    requestsPerBatch: batched / (after.counts.batches - before.counts.batches),
    unevenness: (Math.max(...answered) * cells) / requests,
  }
}

/** @returns CPU time per request of so many threads of bare uWebSockets.js, for requests and answers of the same length. */
export async function measureCeiling(
  { ceiling, drive, seconds }: CellStand,
  operation: BenchOperation,
  bodyBytes: number,
  threads: number,
  connections: number,
): Promise<number> {
  const pid = ceiling.process.pid!
  const paths = Array.from({ length: PATHS }, (_, at) => `/${bodyBytes}?${operation.path(at)}`)
  const before = cpuTimes(pid)
  const { requests } = await drive({ port: ceiling.ports[threads]!, paths, connections, seconds })
  const after = cpuTimes(pid)
  return (after.frontUs + after.restUs - before.frontUs - before.restUs) / requests
}

function perRequest(before: ThreadTimes, after: ThreadTimes, requests: number): ThreadTimes {
  return {
    runUs: (after.runUs - before.runUs) / requests,
    waitUs: (after.waitUs - before.waitUs) / requests,
    sleeps: (after.sleeps - before.sleeps) / requests,
    preemptions: (after.preemptions - before.preemptions) / requests,
  }
}

export async function cellCounts(process: ChildProcess, cells: number): Promise<CellCounts> {
  process.send(cells)
  const [counts] = (await once(process, 'message')) as [CellCounts]
  return counts
}

/** @returns bytes of the usual body. */
export async function checkAnswers({ sets }: CellStand, operation: BenchOperation): Promise<number> {
  const sizes: number[] = []
  for (let at = 0; at < 16; at++)
    for (const { port } of Object.values(sets)) {
      const path = operation.path(at)
      const answer = await ask(port, path)
      if (!operation.isRight(at, JSON.parse(answer))) throw new Error(`wrong answer to ${path}: ${answer}`)
      sizes.push(Buffer.byteLength(answer))
    }
  return median(sizes)
}
