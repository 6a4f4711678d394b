import { parentPort, workerData } from 'node:worker_threads'
import { uint32Key } from '../../../src/store/layout/keys.js'
import { decodeUint32 } from '../../../src/store/layout/smallRows.js'
import { openShardStoreReader } from '../../../src/store/shardStore.js'

/**
 * A thread that works like an idle pool worker: it sleeps in `Atomics.wait` between tasks, so none of its timers ever
 * fires. Cell 0 is the task's number (0 = done, −1 = stop), cell 1 takes what it read.
 */
const { directory, cells } = workerData as { directory: string; cells: Int32Array }
const reader = openShardStoreReader(directory)
parentPort!.postMessage('ready')
for (;;) {
  Atomics.wait(cells, 0, 0)
  const task = Atomics.load(cells, 0)
  if (task < 0) break
  reader.refresh()
  Atomics.store(cells, 1, decodeUint32(reader.get('meta', uint32Key(0))!))
  reader.release()
  Atomics.store(cells, 0, 0)
  Atomics.notify(cells, 0)
}
await reader.close()
