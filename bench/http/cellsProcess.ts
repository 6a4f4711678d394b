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

/** The port of each set of cells, by the number of cells. */
export type CellPorts = Readonly<Record<number, number>>

/** What the query threads of a set of cells have done since the start. */
export interface BatchCounts {
  readonly batches: number
  readonly requests: number
}

/*
 * Sets of cells over seeded stores, without a cache and without chains, as the service starts them: `node cellsProcess.js <folder>
 * 1,2,4`. All sets are in one process, since one process may open the stores; those that are not asked sleep.
 */

const [, , folder, numbers] = process.argv
const loaded = queryConfig(folder!)
const config = { ...loaded, http: { ...loaded.http, port: 0, cacheBytes: 0 } }
const status = createStatusBoard([...SERVED])
const compiled = compileMerkleModule()
prepareStores(config)
const transport = transportLabel(chooseTransport(config.http).transport)
const ports: Record<number, number> = {}
const readers = new Map<number, FrontCountsReader[]>()
for (const cells of numbers!.split(',').map(Number)) {
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
  await fronts.ready
  ports[cells] = await fronts.open()
  readers.set(
    cells,
    fronts.counts.map((counts) => new FrontCountsReader(counts)),
  )
}
process.on('message', (cells: number) => {
  let [batches, requests] = [0, 0]
  for (const reader of readers.get(cells)!) {
    const { buckets, sum } = reader.batches()
    batches += buckets.reduce((all, inBucket) => all + inBucket, 0)
    requests += sum
  }
  process.send!({ batches, requests } satisfies BatchCounts)
})
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send!(ports satisfies CellPorts)
