import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { startDataWorld } from '../test/support/httpWorld.js'
import { tempFolder } from '../test/support/tempFolder.js'
import { startChild } from './http/childProcess.js'
import { runWrk } from './http/drive.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { markdownTable } from './micro/report.js'

/**
 * How old an event is when all who have asked for it have it, and what those cost who only wait. Front, query thread and indexer are in this
 * process, its readers in another one, and so is wrk, which has to be installed.
 */
const values = readOptions({
  readers: { type: 'string', default: '1000', help: 'connections that get every event' },
  idle: {
    type: 'string',
    default: '10000',
    help: 'connections whose filter lets nothing pass but signs of life',
  },
  protocol: { type: 'string', default: 'sse', help: 'sse or websocket' },
  events: { type: 'string', default: '200', help: 'events that are measured' },
  rounds: { type: 'string', default: '5', help: 'turns of points with and without those who wait' },
  // All who wait get a sign of life in it.
  seconds: { type: 'string', default: '15', help: 'length of one such run, by wrk' },
})

const cleanups: (() => unknown)[] = []
const cleaner = { after: (cleanup: () => unknown) => cleanups.unshift(cleanup) }
const folder = tempFolder(cleaner)
const served = await startDataWorld(cleaner)
const { world, indexed, server } = served
const text = [machineLine(), commitLine()]
try {
  const rows = [
    ['age of an event at the last of all readers', await ages(Number(values.readers))],
    ['points with those who wait ÷ without', await points(Number(values.idle))],
  ]
  console.log([...text, markdownTable(['', ''], rows as string[][])].join('\n\n'))
} finally {
  for (const cleanup of cleanups) await cleanup()
}

/** @returns median and p99 of the ages of each event at each reader. */
async function ages(readers: number): Promise<string> {
  const args = [String(server.port), String(readers), 'types=bridge&network_ids=1', String(values.protocol)]
  const { process: child } = await startChild<{ open: number }>('eventReadersProcess.js', args)
  const found: number[] = []
  for (let count = 0; count < Number(values.events); count++) {
    const amount = BigInt(Math.round(1_000 * (performance.timeOrigin + performance.now())))
    world.network(1).mine((block) => block.tx().deposit({ amount }))
    const arrived = once(child, 'message') as Promise<[{ ages: number[] }]>
    indexed.sync(1)
    found.push(...(await arrived)[0].ages)
    await delay(20)
  }
  child.kill()
  found.sort((a, b) => a - b)
  const part = (share: number) => `${found[Math.floor(share * (found.length - 1))]!.toFixed(1)} ms`
  return `median ${part(0.5)}, p99 ${part(0.99)}, ${readers} readers, ${values.events} events, ${values.protocol}`
}

interface Points {
  readonly perSecond: number
  /** CPU time of this process for one. */
  readonly cpuUs: number
}

/** @returns medians of pairs, of the rate and of the CPU time for each: the latter as a rate, too. */
async function points(readers: number): Promise<string> {
  const pairs: { readonly alone: Points; readonly beside: Points }[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const alone = await runPoints()
    const args = [
      String(server.port),
      String(readers),
      'types=token_mapping&network_ids=1',
      String(values.protocol),
    ]
    const { process: child } = await startChild<{ open: number }>('eventReadersProcess.js', args)
    pairs.push({ alone, beside: await runPoints() })
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    await delay(1_000)
  }
  const median = (ratioOf: (pair: (typeof pairs)[number]) => number) =>
    pairs
      .map(ratioOf)
      .toSorted((a, b) => a - b)
      [Math.floor(pairs.length / 2)]!.toFixed(3)
  const cpu = median(({ alone, beside }) => alone.cpuUs / beside.cpuUs)
  const rate = median(({ alone, beside }) => beside.perSecond / alone.perSecond)
  return `${cpu} by CPU time, ${rate} by the clock, ${readers} connections, ${pairs.length} pairs of ${values.seconds} s, ${values.protocol}`
}

async function runPoints(): Promise<Points> {
  const before = process.cpuUsage()
  const paths = ['/bridge/v1/l1-info-tree-index?network_id=0&deposit_count=0']
  const load = { port: server.port, paths, connections: 64, seconds: Number(values.seconds) }
  const { requests, perSecond } = await runWrk(load, folder)
  const { user, system } = process.cpuUsage(before)
  return { perSecond, cpuUs: (user + system) / requests }
}
