import { parentPort, workerData } from 'node:worker_threads'
import type { CellData, CellMessage, CellOrder } from '../../../src/cell/cellMessages.js'
import { FrontCounts } from '../../../src/telemetry/frontCounts.js'

/** A cell's thread that opens nothing and does what its test wants: `how` is in the place of the transport. */
const { counts, transport: how } = workerData as CellData
const port = parentPort!
const post = (message: CellMessage): void => port.postMessage(message)

if (how === 'throws') throw new Error('a module is broken')
if (how === 'refuses')
  post({ type: 'failed', fault: { kind: 'operator', error: new Error('the store is gone') } })
else {
  new FrontCounts(counts).beat(0, 0, 0)
  post({ type: 'ready' })
}

port.on('message', (order: CellOrder) => {
  switch (order.type) {
    case 'open':
      if (how === 'dies') process.exit(3)
      if (how === 'hangs') for (;;);
      return post({ type: 'listening', port: order.port + 1 })
    case 'drain':
      return post({ type: 'drained' })
    case 'cut':
      return post({ type: 'cut' })
    case 'stop':
      return port.close()
  }
})
