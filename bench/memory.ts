import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { memoryOf } from '../src/telemetry/processMemory.js'
import { benchConfig } from './backfill/benchConfig.js'
import { startSyntheticChain } from './backfill/syntheticChain.js'
import { runWrk } from './http/drive.js'
import { ask, median } from './http/measure.js'
import { cpuTimes } from './http/threadCpu.js'
import { readOptions } from './micro/options.js'
import { commitLine, machineLine } from './micro/project.js'
import { markdownTable, type Target, targetTable, writeSection } from './micro/report.js'

const values = readOptions({
  size: { type: 'string', default: '200000', help: 'bridges on the chains that are read' },
  shared: { type: 'string', default: '../shared', help: 'folder that holds the generator of the chains' },
  settle: { type: 'string', default: '90', help: 'seconds of rest before each look at memory at rest' },
  seconds: { type: 'string', default: '20', help: 'length of the load' },
  restarts: { type: 'string', default: '5', help: 'restarts, whose median counts' },
  threshold: {
    type: 'string',
    default: '131072',
    help: 'MALLOC_MMAP_THRESHOLD_ of the service, as bds sets it; none leaves it out',
  },
  doc: { type: 'boolean', default: false, help: 'write the figures into bench/README.md' },
})

const EVERY_MS = 200
const BYTES_PER_MIB = 2 ** 20
const POINT = '/bridge/v1/bridges?network_id=0&deposit_count='

/** A service, with the parts of its resident memory and their peaks since they were last asked for. */
interface Watched {
  readonly child: ChildProcess
  readonly port: number
  readonly startedAtMs: number
  /** @returns the row of a table; the peak begins anew. */
  row(name: string): string[]
}

/*
 * What a whole service takes of memory: while it reads a history, when all of it is stored, under load and afterwards; and how long a
 * restart takes until it answers. The load asks for points and pages all over the store with the cache on, as clients do.
 */
const bridges = Number(values.size)
const chain = await startSyntheticChain(values.shared, bridges)
const folder = mkdtempSync(join(tmpdir(), 'bds-memory-'))
const running: ChildProcess[] = []
try {
  benchConfig({ folder, networks: chain.networks, withSenders: true })
  const rows: string[][] = []
  const restarts: { readonly ms: number; readonly cpuMs: number; readonly mib: number }[] = []
  const first = await start()
  await untilStored(first)
  rows.push(first.row('while the history and its senders are read'))
  await delay(1_000 * Number(values.settle))
  first.row('')
  await delay(EVERY_MS * 3)
  rows.push(first.row('afterwards, at rest'))
  await load(first)
  rows.push(first.row('under load: points and pages of 100, 64 connections'))
  await delay(1_000 * Number(values.settle))
  first.row('')
  await delay(EVERY_MS * 3)
  rows.push(first.row('afterwards, at rest again'))
  await stop(first)
  for (let round = 0; round < Number(values.restarts); round++) {
    const again = await start()
    await ask(again.port, `${POINT}0`)
    const ms = performance.now() - again.startedAtMs
    const { frontUs, restUs } = cpuTimes(again.child.pid!)
    const mib = memoryOfChild(again.child)!.anonymousBytes / BYTES_PER_MIB
    restarts.push({ ms, cpuMs: (frontUs + restUs) / 1_000, mib })
    await stop(again)
  }
  report(rows, restarts)
} finally {
  for (const child of running) child.kill('SIGKILL')
  await chain.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function memoryOfChild({ pid }: ChildProcess): ReturnType<typeof memoryOf> {
  return memoryOf(readFileSync(`/proc/${pid}/status`, 'latin1'))
}

async function start(): Promise<Watched> {
  const bds = fileURLToPath(new URL('../src/cli/bds.js', import.meta.url))
  const startedAtMs = performance.now()
  const args = [bds, 'run', '--config', join(folder, 'bench.toml'), '--http-port', '0', '--ops-port', '0']
  const env = values.threshold === 'none' ? {} : { MALLOC_MMAP_THRESHOLD_: values.threshold }
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  running.push(child)
  let [peak, peakFile] = [0, 0]
  const look = (): void => {
    // Undefined once the process has ended.
    const { anonymousBytes = 0, fileBytes = 0 } = memoryOfChild(child) ?? {}
    peak = Math.max(peak, anonymousBytes)
    peakFile = Math.max(peakFile, fileBytes)
  }
  const timer = setInterval(look, EVERY_MS)
  child.once('exit', () => clearInterval(timer))
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const told = /^listening on \S+:(\d+)/.exec(line)?.[1]
      if (told !== undefined) resolve(Number(told))
    })
    child.once('exit', (code) => reject(new Error(`the service ended with code ${code}`)))
  })
  const row = (name: string): string[] => {
    look()
    const told = [name, mib(peak), mib(peakFile)]
    ;[peak, peakFile] = [0, 0]
    return told
  }
  return { child, port, startedAtMs, row }
}

function mib(bytes: number): string {
  return (bytes / BYTES_PER_MIB).toFixed(0)
}

async function stop({ child }: Watched): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`the service ended with code ${code}`)
}

interface SyncStatus {
  readonly networks: readonly { readonly is_synced: boolean; readonly indexed_deposit_count: number }[]
}

async function untilStored({ port }: Watched): Promise<void> {
  for (;;) {
    const { networks } = JSON.parse(await ask(port, '/bridge/v1/sync-status')) as SyncStatus
    if (networks.every((network) => network.is_synced)) return
    await delay(EVERY_MS)
  }
}

async function load({ port }: Watched): Promise<void> {
  const { networks } = JSON.parse(await ask(port, '/bridge/v1/sync-status')) as SyncStatus
  const deposits = networks[0]!.indexed_deposit_count
  const pages = Math.floor(deposits / 100)
  const paths = Array.from({ length: 20_000 }, (_, at) =>
    at % 10 === 0
      ? `/bridge/v1/bridges?network_id=0&page_size=100&page_number=${1 + ((at * 31) % pages)}`
      : `${POINT}${(at * 7_919) % deposits}`,
  )
  await runWrk({ port, paths, connections: 64, seconds: Number(values.seconds) }, folder)
}

function report(
  rows: readonly (readonly string[])[],
  restarts: readonly { readonly ms: number; readonly cpuMs: number; readonly mib: number }[],
): void {
  const atRest = Number(rows[1]![1])
  const targets: Target[] = [
    { text: 'RssAnon after indexing, at rest', value: atRest, atMost: 300, unit: 'MiB' },
    { text: 'RssAnon under load', value: Number(rows[2]![1]), atMost: 300, unit: 'MiB' },
    ...(restarts.length === 0
      ? []
      : [
          {
            text: 'restart to the first answer',
            value: median(restarts.map(({ ms }) => ms)) / 1_000,
            atMost: 1,
            unit: 's',
          },
        ]),
  ]
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}; ${bridges} bridges on three networks, one front thread, one query thread; \`MALLOC_MMAP_THRESHOLD_\`: ${values.threshold}; MiB, the highest of looks every ${EVERY_MS} ms.`,
    targetTable(targets),
    markdownTable(['', 'RssAnon', 'RssFile'], rows),
    ...(restarts.length === 0
      ? []
      : [
          markdownTable(
            ['restart', 'ms to the first answer', 'ms of CPU until then', 'RssAnon then'],
            restarts.map(({ ms, cpuMs, mib: then }, at) => [
              String(at + 1),
              ms.toFixed(0),
              cpuMs.toFixed(0),
              then.toFixed(0),
            ]),
          ),
        ]),
  ].join('\n\n')
  console.log(body)
  if (values.doc) writeSection('memory', body)
}
