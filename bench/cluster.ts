import assert from 'node:assert/strict'
import type { CommandLog } from '../src/cluster/commandLog.js'
import { ReplicaProcesses } from '../test/e2e/cluster/replicaProcesses.js'
import { BEGINNING } from '../test/support/clusterContract.js'
import { installedProgram } from '../test/support/installedProgram.js'
import { until } from '../test/support/until.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { markdownTable } from './micro/report.js'

/**
 * Three processes that follow one log on three NATS servers, over a chain with a block and a deposit each quarter of a second: how long
 * the network stands still when the one that leads is killed, and how long the last one has a block after the first.
 */
const { rounds } = readOptions({
  rounds: { type: 'string', default: '50', help: 'how often the process that leads is killed' },
})

/** What the log has got so far. */
const read = { atMs: Number.NEGATIVE_INFINITY, bytes: 0, commands: 0 }

async function follow(log: CommandLog, signal: AbortSignal): Promise<void> {
  for await (const { payload, id } of log.read(BEGINNING, signal)) {
    read.atMs = performance.now()
    read.bytes += payload.length
    if (id.endsWith('.0')) read.commands++
  }
}

/** @returns milliseconds from SIGKILL until the log has a command of another process. */
async function failOver(cluster: ReplicaProcesses): Promise<number> {
  await cluster.inStep()
  const leader = cluster.leader()
  const killedMs = performance.now()
  await leader.kill()
  await until(
    () => cluster.leader().ledAt,
    (ledAtMs) => ledAtMs > killedMs && read.atMs > ledAtMs,
    'another one goes on',
  )
  const tookMs = read.atMs - killedMs
  leader.start()
  return tookMs
}

/** Of each block that all have: milliseconds from the first one that has stored it to the last one. */
function spreads({ instances }: ReplicaProcesses): number[] {
  const [first, ...others] = instances.map(({ storedAt }) => storedAt)
  return [...first!].flatMap(([block, atMs]) => {
    const times = [atMs, ...others.map((storedAt) => storedAt.get(block) ?? Number.NaN)]
    const spread = Math.max(...times) - Math.min(...times)
    return Number.isNaN(spread) ? [] : [spread]
  })
}

/** The value that so large a part of them does not exceed. */
function part(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!.toFixed(1)
}

if (installedProgram('nats-server') === undefined) throw new Error('nats-server is not installed')
const cleanups: (() => void | Promise<void>)[] = []
const stop = new AbortController()
try {
  const cluster = await ReplicaProcesses.start({ after: (body) => void cleanups.push(body) })
  const following = follow(await cluster.openLog(stop.signal), stop.signal)
  await cluster.inStep()
  for (const { storedAt } of cluster.instances) storedAt.clear()
  await cluster.grow(100)
  const visible = spreads(cluster)
  const stoodStill: number[] = []
  while (stoodStill.length < Number(rounds)) stoodStill.push(await failOver(cluster))
  const counts = await cluster.endWell(stop.signal)
  const deposits = cluster.network.deposits().length
  assert.deepEqual(new Set(counts), new Set([deposits]))
  stop.abort()
  await following
  console.log(`Measured at ${commitLine()}, on ${machineLine()}.\n`)
  const rows = [
    [`ms from the kill to the next command, ${rounds} times`, stoodStill],
    [`ms from the first process that has a block to the last one, ${visible.length} blocks`, visible],
  ] as const
  const cells = rows.map(([what, values]) => [what, part(values, 0.5), part(values, 0.99), part(values, 1)])
  console.log(markdownTable(['', 'half', '99 %', 'all'], cells))
  const { bytes, commands } = read
  console.log(`\n${commands} commands with ${bytes} bytes for ${deposits} deposits.`)
} finally {
  stop.abort()
  for (const body of cleanups) await body()
}
