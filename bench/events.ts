import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { startDataWorld } from '../test/support/httpWorld.js'
import { fetchRaw } from '../test/support/rawHttp.js'
import { startChild } from './http/childProcess.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { markdownTable } from './micro/report.js'

/**
 * How old an event is when all who have asked for it have it, and what those cost who only wait. Front, query thread and indexer are in this
 * process, its readers in another one.
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
  points: {
    type: 'string',
    default: '20000',
    help: 'requests for one proof, with and without those who wait',
  },
})

const cleanups: (() => unknown)[] = []
const served = await startDataWorld({ after: (cleanup: () => unknown) => cleanups.unshift(cleanup) })
const { world, indexed, server } = served
const text = [machineLine(), commitLine()]
try {
  const rows = [
    ['age of an event at the last of all readers', await ages(Number(values.readers))],
    ['points with those who wait ÷ without, CPU time', await points(Number(values.idle))],
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

/** @returns CPU time of this process for the same requests, without readers divided by with them: the rate with them, as a part. */
async function points(readers: number): Promise<string> {
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < 3; round++) {
    alone.push(await cpuOfPoints())
    const args = [
      String(server.port),
      String(readers),
      'types=token_mapping&network_ids=1',
      String(values.protocol),
    ]
    const { process: child } = await startChild<{ open: number }>('eventReadersProcess.js', args)
    beside.push(await cpuOfPoints())
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    await delay(1_000)
  }
  const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[1]!
  return `${(median(alone) / median(beside)).toFixed(3)}, ${readers} connections, ${values.points} points, ${values.protocol}`
}

async function cpuOfPoints(): Promise<number> {
  const before = process.cpuUsage()
  const path = `/bridge/v1/l1-info-tree-index?network_id=0&deposit_count=0`
  for (let left = Number(values.points); left > 0; left -= 50)
    await Promise.all(Array.from({ length: 50 }, () => fetchRaw(server.port, 'GET', path)))
  const { user, system } = process.cpuUsage(before)
  return user + system
}
