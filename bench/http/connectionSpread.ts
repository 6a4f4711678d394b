import { connect, type Socket } from 'node:net'
import { markdownTable } from '../micro/report.js'
import { type CellStand, cellCounts, measureTurn, type Turn } from './cellStand.js'
import { median } from './measure.js'
import type { BenchOperation } from './operations.js'

/** Few, as many as one cell is measured with, and many. */
const CONNECTIONS = [8, 64, 1_000]

/**
 * The same number of connections on each number of cells: how the kernel deals them out, and what comes of it. The generator does not
 * tell which of its connections went where, so they are counted with connections of our own, anew in each round.
 */
export async function connectionSpread(stand: CellStand, operation: BenchOperation): Promise<string> {
  const numbers = Object.keys(stand.sets).map(Number)
  const rows: string[][] = []
  for (const connections of CONNECTIONS) {
    const turns = new Map<number, (Turn & { readonly dealt: readonly number[] })[]>()
    for (let round = 0; round < stand.rounds; round++)
      for (const cells of numbers) {
        const dealt = await dealtOut(stand, cells, connections, operation.path(0))
        const turn = await measureTurn(stand, operation, cells, connections)
        turns.set(cells, [...(turns.get(cells) ?? []), { ...turn, dealt }])
      }
    const first = turns.get(numbers[0]!)!
    for (const [cells, all] of turns) {
      const of = (value: (turn: Turn, round: number) => number): string => median(all.map(value)).toFixed(2)
      rows.push([
        String(connections),
        String(cells),
        all.map(({ dealt }) => `${Math.min(...dealt)}–${Math.max(...dealt)}`).join(', '),
        of(({ unevenness }) => unevenness),
        median(all.map(({ perSecond }) => perSecond)).toFixed(0),
        of(({ perSecond }, round) => perSecond / first[round]!.perSecond),
        of(({ p99Ms }) => p99Ms),
        of(({ cpuUs }, round) => cpuUs / first[round]!.cpuUs),
        median(all.map(({ requestsPerBatch }) => requestsPerBatch)).toFixed(1),
      ])
    }
  }
  return markdownTable(
    [
      'connections',
      'cells',
      'on the emptiest and the fullest cell, per round',
      'busiest cell ÷ mean',
      'req/s',
      '÷ first',
      'p99 ms',
      'process µs CPU ÷ first',
      'requests per batch',
    ],
    rows,
  )
}

/** Opens connections, asks once on each, and closes them. @returns how many of them each cell had. */
async function dealtOut(
  { process, sets }: CellStand,
  cells: number,
  connections: number,
  path: string,
): Promise<number[]> {
  const before = await cellCounts(process, cells)
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => askAndStay(sets[cells]!.port, path)),
  )
  const after = await cellCounts(process, cells)
  for (const socket of sockets) socket.destroy()
  return after.answered.map((count, cell) => count - before.answered[cell]!)
}

function askAndStay(port: number, path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', reject)
    socket.once('data', () => resolve(socket))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  })
}
