import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { markdownTable } from '../micro/report.js'
import type { BatchCounts, CellPorts } from './cellsProcess.js'
import type { Load, Run } from './drive.js'
import { ask, median } from './measure.js'
import type { BenchOperation } from './operations.js'
import { cpuTimes } from './threadCpu.js'

export interface CellStand {
  readonly process: ChildProcess
  readonly ports: CellPorts
  readonly drive: (load: Load) => Promise<Run>
  readonly connectionsPerCell: number
  readonly seconds: number
  readonly rounds: number
}

interface Turn {
  readonly perSecond: number
  /** CPU time of all threads of the process per request. */
  readonly cpuUs: number
  readonly requestsPerBatch: number
}

/** Enough that no cell has them all in a processor's cache. */
const PATHS = 10_000

/** What one more cell brings and costs on this machine: each operation with each number of cells, in turn, round after round. */
export async function cellCurve(stand: CellStand, operations: readonly BenchOperation[]): Promise<string> {
  const numbers = Object.keys(stand.ports).map(Number)
  const rows: string[][] = []
  for (const operation of operations) {
    const turns = new Map<number, Turn[]>(numbers.map((cells) => [cells, []]))
    await checkAnswers(stand, operation, numbers)
    // The first round compiles code and does not count.
    for (let round = -1; round < stand.rounds; round++)
      for (const cells of numbers) {
        const turn = await measureTurn(stand, operation, cells)
        if (round >= 0) turns.get(cells)!.push(turn)
      }
    const first = turns.get(numbers[0]!)!
    for (const [cells, all] of turns) {
      const of = (value: (turn: Turn, round: number) => number): number => median(all.map(value))
      rows.push([
        operation.name,
        String(cells),
        of(({ perSecond }) => perSecond).toFixed(0),
        of(({ perSecond }, round) => perSecond / first[round]!.perSecond).toFixed(2),
        of(({ cpuUs }) => cpuUs).toFixed(1),
        of(({ cpuUs }, round) => cpuUs / first[round]!.cpuUs).toFixed(3),
        of(({ requestsPerBatch }) => requestsPerBatch).toFixed(1),
      ])
    }
  }
  return markdownTable(
    ['', 'cells', 'req/s', '÷ first', 'process µs CPU', '÷ first', 'requests per batch'],
    rows,
  )
}

async function measureTurn(stand: CellStand, operation: BenchOperation, cells: number): Promise<Turn> {
  const pid = stand.process.pid!
  const paths = Array.from({ length: PATHS }, (_, at) => operation.path(at))
  const connections = cells * stand.connectionsPerCell
  const countsBefore = await batchCounts(stand.process, cells)
  const before = cpuTimes(pid)
  const run = await stand.drive({ port: stand.ports[cells]!, paths, connections, seconds: stand.seconds })
  const after = cpuTimes(pid)
  const counts = await batchCounts(stand.process, cells)
  const cpuUs = after.frontUs + after.restUs - before.frontUs - before.restUs
  return {
    perSecond: run.perSecond,
    cpuUs: cpuUs / run.requests,
    requestsPerBatch: (counts.requests - countsBefore.requests) / (counts.batches - countsBefore.batches),
  }
}

async function batchCounts(process: ChildProcess, cells: number): Promise<BatchCounts> {
  process.send(cells)
  const [counts] = (await once(process, 'message')) as [BatchCounts]
  return counts
}

async function checkAnswers(
  { ports }: CellStand,
  operation: BenchOperation,
  numbers: readonly number[],
): Promise<void> {
  for (let at = 0; at < 16; at++)
    for (const cells of numbers) {
      const path = operation.path(at)
      const answer = await ask(ports[cells]!, path)
      if (!operation.isRight(at, JSON.parse(answer))) throw new Error(`wrong answer to ${path}: ${answer}`)
    }
}
