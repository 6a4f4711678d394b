import { stat } from 'node:fs/promises'
import { createStatusBoard } from '../../src/board/statusBoard.js'
import { createHealthBoard } from '../../src/health/healthBoard.js'
import { chooseTransport, transportLabel } from '../../src/http/chooseTransport.js'
import { startFronts } from '../../src/service/fronts.js'
import { Rooms } from '../../src/service/rooms.js'
import { prepareStores } from '../../src/store/openStores.js'
import { FrontCountsReader } from '../../src/telemetry/frontCounts.js'
import { compileMerkleModule } from '../../src/wasm/wasmModule.js'
import { queryConfig } from '../query/queryConfig.js'
import { SERVED } from '../query/traffic.js'
import { threadsOf } from './threadCpu.js'

/** One set of cells: where it listens, and which threads of the process it has. */
export interface CellSet {
  readonly port: number
  readonly fronts: readonly number[]
  readonly queries: readonly number[]
}

/** By the number of cells. */
export type CellSets = Readonly<Record<number, CellSet>>

/** What a set of cells has done since the start. */
export interface CellCounts {
  readonly batches: number
  readonly batchedRequests: number
  /** Answers of each cell. */
  readonly answered: readonly number[]
}

/*
 * Sets of cells over seeded stores, without a cache and without chains, as the service starts them: `node cellsProcess.js <folder>
 * 1,2,4 <query threads of each cell>`. All sets are in one process, since one process may open the stores; those that are not asked
 * sleep.
 */

const [, , folder, numbers, workers] = process.argv
const loaded = queryConfig(folder!)
const config = {
  ...loaded,
  http: { ...loaded.http, port: 0, cacheBytes: 0 },
  pool: { ...loaded.pool, workers: Number(workers) },
}
const status = createStatusBoard([...SERVED])
const compiled = compileMerkleModule()
prepareStores(config)
const transport = transportLabel(chooseTransport(config.http).transport)
const sets: Record<number, CellSet> = {}
const readers = new Map<number, FrontCountsReader[]>()
// Makes libuv start its own threads, which would else be taken for threads of a cell.
await stat(folder!)
for (const cells of numbers!.split(',').map(Number)) {
  const others = new Set(threadsOf(process.pid))
  const newThreads = (count: number): readonly number[] => {
    const found = threadsOf(process.pid).filter((thread) => !others.has(thread))
    if (found.length !== count) throw new Error(`${found.length} new threads instead of ${count}`)
    for (const thread of found) others.add(thread)
    return found
  }
  const fronts = startFronts(
    {
      config,
      compiled,
      status,
      health: createHealthBoard([...SERVED], cells),
      sizes: { cells, workers: config.pool.workers },
      transport,
      fail: (error) => {
        throw error
      },
    },
    new Rooms(),
  )
  // They load their code for a while before they start query threads.
  const frontThreads = newThreads(cells)
  await fronts.ready
  sets[cells] = {
    fronts: frontThreads,
    queries: newThreads(cells * config.pool.workers),
    port: await fronts.open(),
  }
  readers.set(
    cells,
    fronts.counts.map((counts) => new FrontCountsReader(counts)),
  )
}
process.on('message', (cells: number) => {
  let [batches, batchedRequests] = [0, 0]
  const answered: number[] = []
  for (const reader of readers.get(cells)!) {
    const { buckets, sum } = reader.batches()
    batches += buckets.reduce((all, inBucket) => all + inBucket, 0)
    batchedRequests += sum
    answered.push([...reader.answers()].reduce((all, { count }) => all + count, 0))
  }
  process.send!({ batches, batchedRequests, answered } satisfies CellCounts)
})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send!(sets satisfies CellSets)
