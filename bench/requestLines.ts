import { setImmediate as nextTurn } from 'node:timers/promises'
import { TrustedProxies } from '../src/http/limits/trustedProxies.js'
import { RequestLog } from '../src/http/requestLog.js'
import { createLogger, requestLinesReader } from '../src/telemetry/logger.js'
import { type FrontAloneOptions, frontAlone } from '../test/unit/http/frontAlone.js'
import { readOptions } from './micro/options.js'
import { cpuMs } from './micro/race.js'

const values = readOptions({
  lines: {
    type: 'string',
    default: 'off',
    help: 'off, failed or all of log.requests; none: a front that knows no lines',
  },
  requests: { type: 'string', default: '2000000', help: 'how many are asked' },
})

const PATH = '/bridge/v1/bridges'
const PER_TURN = 1_000

/*
 * What the lines of requests (`log.requests`) cost the front thread for an answer that it keeps: no transport, no query thread, and lines that
 * go nowhere. One kind of lines per process, so that no other kind shapes the code that the engine makes.
 */
const { lines } = values
const ask = frontAlone({ cacheBytes: 2 ** 26, ...linesOf() })
ask('GET', PATH, 'network_id=0', [])
await nextTurn()
await nextTurn()
const requests = Number(values.requests)
let before = cpuMs()
for (let asked = 0; asked < 2 * requests; asked += PER_TURN) {
  // The first half is for the engine.
  if (asked === requests) before = cpuMs()
  for (let at = 0; at < PER_TURN; at++) ask('GET', PATH, 'network_id=0', [])
  await nextTurn()
}
console.log(`${lines}: ${((1_000 * (cpuMs() - before)) / requests).toFixed(3)} µs of CPU per request`)

function linesOf(): FrontAloneOptions {
  if (lines === 'none') return {}
  if (lines !== 'off' && lines !== 'failed' && lines !== 'all') throw new Error(`no such lines: ${lines}`)
  const log = { level: 'info', format: 'json', requests: lines } as const
  const logger = createLogger(log, {}, () => undefined)
  return { requestLog: new RequestLog(requestLinesReader(log), new TrustedProxies([]), logger) }
}
