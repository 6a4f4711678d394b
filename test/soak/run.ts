import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fuzz } from '../fuzz/fuzzer.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { startService } from '../support/serviceProcess.js'
import { everyAnswer, inStep, serveWorld } from '../support/serviceWorld.js'
import { findGrowth, type Gauges, readGauges } from './gauges.js'

/**
 * `npm run test:soak -- [--minutes N]`: a whole service, ten minutes by default, under the requests of the fuzzer (clients
 * that leave included), while its chains grow and are reorganised all the time. Memory, files and handles must stay flat,
 * every answer must be of the right kind, and at the end a service that never saw a reorg must give the same answers.
 */
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const endAtMs = performance.now() + Number(values.minutes) * 60_000
const isOver = (): boolean => performance.now() > endAtMs
const SAMPLES = 60
const ROUND_PAUSE_MS = 150
const FUZZERS = 12

const cleaners: (() => Promise<void> | void)[] = []
const context = { after: (body: () => Promise<void> | void): void => void cleaners.push(body) }
const faults: string[] = []
try {
  const { world, configFile } = await serveWorld(context, buildSmallWorld().world)
  const file = configFile('data')
  const dataDir = join(dirname(file), 'data')
  const service = await startService(context, file, ['--log-level', 'error'])
  await inStep(service, world)
  let [reorgs, requests] = [0, 0]

  /** Grows a chain and reorganises it back, so that the data stay the same and only a leak can grow. */
  const shakeChains = async (): Promise<void> => {
    for (let round = 0; !isOver(); round++) {
      const network = world.network(world.networkIds[round % world.networkIds.length]!)
      for (let block = 0; block < 3; block++)
        network.mine((next) =>
          next
            .tx()
            .deposit({ amount: BigInt(1 + block), destinationNetwork: 1 - Math.min(1, network.networkId) }),
        )
      await delay(ROUND_PAUSE_MS)
      network.reorg({ depth: 3, blocks: 'empty' })
      reorgs++
      await delay(ROUND_PAUSE_MS)
    }
  }
  const ask = async (): Promise<void> => {
    for (let seed = 1; !isOver(); seed++) {
      const port = Number(new URL(service.url).port)
      const report = await fuzz({
        port,
        seed,
        connections: FUZZERS,
        goOn: (made) => made < 20_000 && !isOver(),
      })
      requests += report.made
      faults.push(...report.faults)
      if (faults.length > 0) return
    }
  }
  const samples: Gauges[] = []
  const watch = async (): Promise<void> => {
    while (!isOver()) {
      await delay((Number(values.minutes) * 60_000) / SAMPLES)
      samples.push(readGauges(service.child.pid!, dataDir))
    }
  }
  await Promise.all([shakeChains(), ask(), watch()])
  for (const at of [0, Math.floor(samples.length / 3), samples.length - 1])
    console.log(`sample ${at}: ${JSON.stringify(samples[at])}`)
  console.log(`${requests} requests, ${reorgs} reorgs`)
  faults.push(...findGrowth(samples))

  await inStep(service, world)
  const fresh = await startService(context, configFile('fresh'), ['--log-level', 'error'])
  await inStep(fresh, world)
  const [told, wanted] = [await everyAnswer(service, world), await everyAnswer(fresh, world)]
  for (const [path, answer] of Object.entries(wanted))
    if (JSON.stringify(told[path]) !== JSON.stringify(answer))
      faults.push(`${path} differs from a service that saw no reorg`)
  if (service.stderr.length > 0) faults.push(`logged: ${service.stderr.slice(0, 5).join('\n')}`)
  const { code } = await service.kill('SIGTERM')
  if (code !== 0) faults.push(`ended with ${code}`)
} finally {
  for (const body of cleaners.reverse()) await body()
}
for (const fault of faults) console.error(`✖ ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1
