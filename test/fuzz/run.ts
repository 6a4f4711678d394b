import { parseArgs } from 'node:util'
import { startDataWorld } from '../support/dataWorld.js'
import { fuzz } from './fuzzer.js'

/** `npm run test:fuzz -- [--requests N] [--seeds 1,2,3]`: requests are shared out evenly among the seeds. */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seeds: { type: 'string', default: '1,2,3,4' },
  },
})
const seeds = values.seeds.split(',').map(Number)
const perSeed = Math.ceil(Number(values.requests) / seeds.length)
const cleaners: (() => Promise<void> | void)[] = []
const world = await startDataWorld({ after: (body) => void cleaners.push(body) })
let isWrong = false
for (const seed of seeds) {
  const startedAtMs = performance.now()
  const report = await fuzz({
    port: world.server.port,
    seed,
    connections: 24,
    goOn: (made) => made < perSeed,
    bodyEvery: 4,
  })
  const perSecond = (1000 * report.made) / (performance.now() - startedAtMs)
  const statuses = [...report.byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  console.log(
    `seed ${seed}: ${report.made} requests (${perSecond.toFixed(0)}/s), ${report.aborted} left; ${statuses.join(', ')}`,
  )
  for (const fault of report.faults) console.error(`✖ seed ${seed}: ${fault}`)
  isWrong ||= report.faults.length > 0
}
for (const line of world.logLines.slice(0, 5)) console.error(`✖ logged: ${line}`)
for (const body of cleaners.reverse()) await body()
process.exitCode = isWrong || world.logLines.length > 0 ? 1 : 0
