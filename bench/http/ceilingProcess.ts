import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { takePort } from '../../src/cell/sharedPort.js'
import { LISTEN_EXCLUSIVE_PORT, LISTEN_SHARED_PORT, loadUws } from '../../src/http/wire/uws.js'

/*
 * uWebSockets.js alone: one handler answers `/<bytes>?…` with that many constant bytes and does nothing else. With an argument as
 * `1,2,4` there is a port for each of these numbers, which so many threads share.
 */

const [, , numbers] = process.argv
if (!isMainThread) listen(workerData as number, LISTEN_SHARED_PORT, (port) => parentPort!.postMessage(port))
else {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  if (numbers === undefined) listen(0, LISTEN_EXCLUSIVE_PORT, (port) => process.send!(port))
  else process.send!(await startThreads(numbers.split(',').map(Number)))
}

/** @returns the port of each number of threads. */
async function startThreads(all: readonly number[]): Promise<Record<number, number>> {
  const ports: Record<number, number> = {}
  for (const threads of all) {
    // The core shares no port that it has chosen itself.
    const { port } = await takePort('127.0.0.1', 0)
    for (let thread = 0; thread < threads; thread++)
      await once(new Worker(new URL(import.meta.url), { workerData: port }), 'message')
    ports[threads] = port
  }
  return ports
}

function listen(wanted: number, options: number, onOpen: (port: number) => void): void {
  const core = loadUws()
  const bodies = new Map<string, Uint8Array>()
  const app = core.createApp()
  app.any('/*', (res, req) => {
    const path = req.getUrl()
    let body = bodies.get(path)
    if (body === undefined) {
      body = Buffer.alloc(Number(path.slice(1)), 'x')
      bodies.set(path, body)
    }
    res.end(body)
  })
  app.listen('127.0.0.1', wanted, options, (socket) => {
    if (socket === false) throw new Error('the ceiling can not listen')
    onOpen(core.portOf(socket))
  })
}
