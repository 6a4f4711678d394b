import { parseArgs } from 'node:util'
import { chooseTransport } from '../../src/http/chooseTransport.js'
import { startDataWorld } from '../support/httpWorld.js'
import { fuzz } from './fuzzer.js'

/** `npm run test:fuzz -- [--requests N] [--seeds 1,2,3] [--transport auto|uws|node]`: requests are shared out evenly among the seeds. */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seeds: { type: 'string', default: '1,2,3,4' },
    transport: { type: 'string', default: 'auto' },
  },
})
const seeds = values.seeds.split(',').map(Number)
const perSeed = Math.ceil(Number(values.requests) / seeds.length)
const cleaners: (() => Promise<void> | void)[] = []
const chosen = (['auto', 'uws', 'node'] as const).find((name) => name === values.transport)
if (chosen === undefined) throw new Error(`no transport ${values.transport}: auto, uws or node`)
const { transport } = chooseTransport({ transport: chosen, adaptCore: true })
const world = await startDataWorld({ after: (body) => void cleaners.push(body) }, undefined, transport)
let isWrong = false
for (const seed of seeds) {
  const startedAtMs = performance.now()
  const report = await fuzz({
    port: world.server.port,
    seed,
    connections: 24,
    refusesHighBytes: transport.name === 'node:http',
    goOn: (made) => made < perSeed,
    bodyEvery: 4,
  })
  const perSecond = (1000 * report.made) / (performance.now() - startedAtMs)
  const statuses = [...report.byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  console.log(
    `${transport.name}, seed ${seed}: ${report.made} requests (${perSecond.toFixed(0)}/s), ${report.aborted} left; ${statuses.join(', ')}`,
  )
  for (const fault of report.faults) console.error(`✖ seed ${seed}: ${fault}`)
  isWrong ||= report.faults.length > 0
}
for (const line of world.logLines.slice(0, 5)) console.error(`✖ logged: ${line}`)
for (const body of cleaners.reverse()) await body()
process.exitCode = isWrong || world.logLines.length > 0 ? 1 : 0
