import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildSmallWorld } from '../test/support/fakeChainScenario.js'
import { serveFakeNetwork } from '../test/support/fakeEndpoint.js'
import { type ThreadTimes, threadsOf, threadTimes } from './http/threadCpu.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { markdownTable, type Target, targetTable, writeSection } from './micro/report.js'

const values = readOptions({
  networks: { type: 'string', default: '2', help: 'networks, from 1 to 3' },
  poll: {
    type: 'string',
    default: '2000',
    help: 'milliseconds between two looks at a head (poll_interval_ms)',
  },
  settle: {
    type: 'string',
    default: '60',
    help: 'seconds until V8 has compiled and collected what the start has used',
  },
  seconds: { type: 'string', default: '60', help: 'length of the measurement' },
  doc: { type: 'boolean', default: false, help: 'write the figures into bench/README.md' },
})

/** Written by each thread of the service as it starts: its number for the kernel, and what it is by what it was given. */
const TELL_NAME = `import { appendFileSync, readlinkSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'
const own = [].concat(workerData ?? {}).at(-1) ?? {}
const name = isMainThread ? 'main' : own.networkId !== undefined ? 'indexer ' + own.networkId : own.slots ? 'query' :
  own.counts ? 'front' : own.cells ? 'watchdog' : 'other'
appendFileSync(process.env.THREAD_NAMES, readlinkSync('/proc/thread-self').split('/').at(-1) + ' ' + name + '\\n')`

/*
 * CPU time of a service that has nothing to do: its chains make no blocks, and nobody asks it. What it costs is how often threads wake,
 * since a thread that wakes alone finds its caches cold.
 */
const folder = mkdtempSync(join(tmpdir(), 'bds-idle-'))
const names = join(folder, 'names')
const { world } = buildSmallWorld()
const networkIds = world.networkIds.slice(0, Number(values.networks))
const endpoints = await Promise.all(networkIds.map((networkId) => serveFakeNetwork(world.network(networkId))))
const config = join(folder, 'bds.toml')
writeFileSync(config, configText())
const flags = ['--import', `data:text/javascript,${encodeURIComponent(TELL_NAME)}`]
const bds = fileURLToPath(new URL('../src/cli/bds.js', import.meta.url))
const service = spawn(process.execPath, [...flags, bds, 'run', '--config', config], {
  env: { ...process.env, THREAD_NAMES: names },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const [line] = (await once(service.stdout, 'data')) as [Buffer]
  if (!String(line).startsWith('listening on ')) throw new Error(`the service said ${line}`)
  await delay(1_000 * Number(values.settle))
  await measure(service.pid!)
} finally {
  service.kill('SIGKILL')
  for (const endpoint of endpoints) await endpoint.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function configText(): string {
  const networks = networkIds.map((networkId, at) => {
    const { chainId, contracts } = world.network(networkId)
    return [
      '[[networks]]',
      `network_id = ${networkId}`,
      `chain_id = ${chainId}`,
      `rpc = ["${endpoints[at]!.url}"]`,
      `bridge = "${contracts.bridge}"`,
      `global_exit_root_manager = "${contracts.globalExitRootManager}"`,
      ...(networkId === 0 ? [`rollup_manager = "${contracts.rollupManager}"`] : []),
      ...['start_block = 0', `poll_interval_ms = ${values.poll}`],
    ].join('\n')
  })
  return [`data_dir = "${join(folder, 'data')}"`, '[http]\nport = 0', '[ops]\nport = 0', ...networks].join(
    '\n\n',
  )
}

async function measure(pid: number): Promise<void> {
  const nameOf = new Map(
    readFileSync(names, 'utf8')
      .trim()
      .split('\n')
      .map((line) => [Number(line.split(' ', 1)), line.slice(line.indexOf(' ') + 1)]),
  )
  const groups = new Map<string, number[]>()
  for (const thread of threadsOf(pid)) {
    const name = nameOf.get(thread) ?? 'libuv, V8'
    groups.set(name, [...(groups.get(name) ?? []), thread])
  }
  const read = (): [string, ThreadTimes][] =>
    [...groups].map(([name, threads]) => [name, threadTimes(pid, threads)])
  const asked = endpoints.map(({ endpoint }) => endpoint.requests.length)
  const [startedAtMs, before] = [performance.now(), new Map(read())]
  await delay(1_000 * Number(values.seconds))
  const [seconds, after] = [(performance.now() - startedAtMs) / 1_000, read()]
  const rows = after.map(([name, { runUs, sleeps }]) => ({
    name,
    runUs: (runUs - before.get(name)!.runUs) / seconds,
    wakes: (sleeps - before.get(name)!.sleeps) / seconds,
  }))
  const sum = { name: 'all', runUs: 0, wakes: 0 }
  for (const { runUs, wakes } of rows) {
    sum.runUs += runUs
    sum.wakes += wakes
  }
  const calls = endpoints.map(({ endpoint }, at) => (endpoint.requests.length - asked[at]!) / seconds)
  const target: Target = { text: 'idle CPU', value: sum.runUs / 10_000, atMost: 0.3, unit: '% of a core' }
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}; ${values.networks} networks without new blocks, \`poll_interval_ms = ${values.poll}\`, ${values.seconds} s; ${calls.map((perSecond) => perSecond.toFixed(1)).join(' and ')} calls per second to their endpoints.`,
    targetTable([target]),
    markdownTable(
      ['thread', 'wakes per second', 'µs of CPU per second', '% of a core', 'µs per wake'],
      [...rows, sum].map(({ name, runUs, wakes }) => [
        name,
        wakes.toFixed(1),
        runUs.toFixed(0),
        (runUs / 10_000).toFixed(3),
        wakes < 0.1 ? '' : (runUs / wakes).toFixed(0),
      ]),
    ),
  ].join('\n\n')
  console.log(body)
  if (values.doc) writeSection('idle', body)
}
