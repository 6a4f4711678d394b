import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadConfig } from '../src/config/load.js'
import { compileMerkleModule } from '../src/merkle/wasm.js'
import { EXAMPLE_TOML } from '../test/support/exampleConfig.js'
import { installedProgram } from '../test/support/installedProgram.js'
import { startChild } from './http/childProcess.js'
import { type Load, runAutocannon, runWrk } from './http/drive.js'
import { type Measured, measureOperation, type Stand } from './http/measure.js'
import { benchOperations } from './http/operations.js'
import type { ServicePorts } from './http/serviceProcess.js'
import { benchRoot, commitLine, machineLine } from './micro/project.js'
import { markdownTable, type Target, targetTable, writeSection } from './micro/report.js'
import { BLOCK_DEPOSITS } from './store/seededChains.js'
import { seedStore } from './store/seedStore.js'

/** `npm run bench -- [--bridges N] [--connections N] [--quick] [--doc]`. */
const { values } = parseArgs({
  options: {
    bridges: { type: 'string' },
    connections: { type: 'string', default: '64' },
    quick: { type: 'boolean', default: false },
    doc: { type: 'boolean', default: false },
  },
})
const bridges = Number(values.bridges ?? (values.quick ? 20_000 : 1_000_000))
const hasWrk = installedProgram('wrk') !== undefined
const tool = hasWrk ? 'wrk' : 'autocannon'

const folder = mkdtempSync(join(tmpdir(), 'bds-bench-'))
const children: { kill(): unknown }[] = []
try {
  const file = join(folder, 'bds.toml')
  const quiet = `data_dir = "${join(folder, 'data')}"\n[log]\nlevel = "error"`
  writeFileSync(
    file,
    EXAMPLE_TOML.replace('data_dir = "./data"', '').replace('\n[http]', `\n${quiet}\n[http]`),
  )
  const startedAtMs = performance.now()
  const deposits = await seedStore(
    loadConfig({ file, environment: {} }).config,
    compileMerkleModule(),
    bridges,
  )
  console.log(`seeded ${2 * deposits} bridges in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`)

  const ceiling = await startChild<number>('./ceilingProcess.js')
  children.push(ceiling.process)
  const service = await startChild<ServicePorts>('./serviceProcess.js', [file])
  children.push(service.process)
  const stand: Stand = {
    ceiling: { port: ceiling.hello, pid: ceiling.process.pid! },
    service: { ...service.hello, pid: service.process.pid! },
    drive: (load: Load) => (hasWrk ? runWrk(load, folder) : runAutocannon(load)),
    connections: Number(values.connections),
    seconds: values.quick ? 1 : 3,
    rounds: values.quick ? 1 : 5,
  }
  const rows: Measured[] = []
  const latencies: string[][] = []
  const targets: Target[] = []
  for (const operation of benchOperations(deposits, deposits / BLOCK_DEPOSITS)) {
    const measured = await measureOperation(stand, operation)
    rows.push(...measured)
    for (const { mode, ratio } of measured)
      if (mode !== 'ceiling' && operation.target !== undefined)
        targets.push({
          text: `${operation.name}, ${mode} ÷ ceiling`,
          value: ratio,
          atLeast: operation.target[mode],
        })
    const path = operation.path(1)
    const expectedBody = await (await fetch(`http://127.0.0.1:${service.hello.uncached}${path}`)).text()
    const seconds = values.quick ? 1 : 5
    const run = await runAutocannon({
      port: service.hello.uncached,
      paths: [path],
      connections: 10,
      seconds,
      expectedBody,
    })
    latencies.push([operation.name, run.perSecond.toFixed(0), run.p50Ms.toFixed(1), run.p99Ms.toFixed(1)])
  }
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}; ${2 * deposits} bridges, ${tool}, ${values.connections} connections, ${stand.rounds} rounds of ${stand.seconds} s in turn, medians.`,
    ...(hasWrk
      ? [targetTable(targets)]
      : ['Without wrk nothing shows the ceiling: the ratios count for nothing.']),
    '### Rates',
    markdownTable(
      ['', '', 'bytes', 'req/s', 'p50 ms', 'p99 ms', '÷ ceiling', 'by CPU', 'front µs CPU', 'worker µs CPU'],
      rows.map((row) => [
        row.operation,
        row.mode,
        String(row.bodyBytes),
        row.perSecond.toFixed(0),
        row.p50Ms.toFixed(2),
        row.p99Ms.toFixed(2),
        row.ratio.toFixed(2),
        row.cpuRatio.toFixed(2),
        row.frontUs.toFixed(1),
        row.restUs.toFixed(1),
      ]),
    ),
    '### With autocannon, 10 connections, uncached, every body checked',
    markdownTable(['', 'req/s', 'p50 ms', 'p99 ms'], latencies),
  ].join('\n\n')
  console.log(body)
  const results = join(benchRoot, 'results')
  mkdirSync(results, { recursive: true })
  const report = {
    at: new Date().toISOString(),
    commit: commitLine(),
    machine: machineLine(),
    tool,
    bridges: 2 * deposits,
    rows,
    latencies,
    targets,
  }
  writeFileSync(join(results, `http-${Date.now()}.json`), JSON.stringify(report, undefined, 2))
  if (values.doc) writeSection('http', body)
} finally {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
