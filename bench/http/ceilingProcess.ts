import { LISTEN_EXCLUSIVE_PORT, loadUws } from '../../src/http/wire/uws.js'

// uWebSockets.js alone: one handler answers `/<bytes>?…` with that many constant bytes and does nothing else.

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
app.listen('127.0.0.1', 0, LISTEN_EXCLUSIVE_PORT, (socket) => {
  if (socket === false) throw new Error('the ceiling can not listen')
  process.send!(core.portOf(socket))
})
process.on('disconnect', () => process.exit())
