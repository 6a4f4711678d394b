import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileMerkleModule, createHasher } from '../src/wasm/wasmModule.js'
import { installedProgram } from '../test/support/installedProgram.js'
import { cellReport } from './http/cellReport.js'
import type { CellStand } from './http/cellStand.js'
import type { CellSets } from './http/cellsProcess.js'
import { type Child, startChild } from './http/childProcess.js'
import {
  besideIndexer,
  type Condition,
  manyConnections,
  openConnections,
  poolByFrontThread,
  usualLatency,
} from './http/conditions.js'
import { type Load, runAutocannon, runWrk } from './http/drive.js'
import { ask, type Measured, measureOperation, type Stand } from './http/measure.js'
import { measureMix, mixCondition, mixTable } from './http/mix.js'
import { type BenchOperation, benchOperations } from './http/operations.js'
import { seedStores, wholeBatches } from './http/seedStores.js'
import type { ServicePorts } from './http/serviceProcess.js'
import { ProofCollector } from './http/sqliteProofs.js'
import { readOptions } from './micro/options.js'
import { benchRoot, commitLine, machineLine, requireRival, versionOf } from './micro/project.js'
import { markdownTable, type Target, targetTable, writeSection } from './micro/report.js'
import { queryConfig } from './query/queryConfig.js'
import { installSqlite } from './query/sqliteDatabase.js'
import { SqliteRival } from './query/sqliteRival.js'
import { BLOCK_DEPOSITS, Traffic } from './query/traffic.js'

const values = readOptions({
  bridges: {
    type: 'string',
    help: 'bridges in the stores that are asked (default: 1000000, 20000 with --quick)',
  },
  connections: { type: 'string', default: '64', help: 'connections that ask at once' },
  rounds: {
    type: 'string',
    help: 'turns of each operation, whose median counts (default: 5, 1 with --quick)',
  },
  seconds: { type: 'string', help: 'length of one turn (default: 3, 1 with --quick)' },
  quick: { type: 'boolean', default: false, help: 'a short look, whose figures are rough' },
  rival: { type: 'boolean', default: true, help: 'leave out fastify with SQLite, and installing it' },
  cells: {
    type: 'string',
    help: 'only the curve over these numbers of front threads, with --connections for each one (default: no curve)',
  },
  workers: { type: 'string', default: '1', help: 'query threads of each front thread of the curve' },
  mix: { type: 'boolean', default: false, help: 'only points beside readers of pages of 1,000, five runs' },
  doc: { type: 'boolean', default: false, help: 'write the figures into bench/README.md' },
})
const RIVAL_FACTOR = 8
const deposits = wholeBatches(Number(values.bridges ?? (values.quick ? 20_000 : 1_000_000)))
const rounds = Number(values.rounds ?? (values.quick ? 1 : 5))
const seconds = Number(values.seconds ?? (values.quick ? 1 : 3))
/** More than the indexer stores while two operations are measured beside it. */
const BESIDE_PER_SECOND = 100_000
const all = deposits + BESIDE_PER_SECOND * 2 * rounds * (seconds + 1)
const hasWrk = installedProgram('wrk') !== undefined
const tool = hasWrk ? 'wrk' : 'autocannon'
const hasRival = values.rival && values.cells === undefined && !values.mix

if (hasRival) installSqlite()
const folder = mkdtempSync(join(tmpdir(), 'bds-bench-'))
const rivalFile = join(folder, 'rival.sqlite')
const children: { kill(): unknown }[] = []
try {
  await seed()
  if (values.cells === undefined) await measureAll()
  else await measureCells(values.cells)
} finally {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

async function measureAll(): Promise<void> {
  const ceiling = await start<number>('./ceilingProcess.js')
  const service = await start<ServicePorts>('./serviceProcess.js', [folder, String(all), String(deposits)])
  const leaves = deposits / BLOCK_DEPOSITS
  const stand: Stand = {
    ceiling: { port: ceiling.hello, pid: ceiling.process.pid! },
    service: { ...service.hello, pid: service.process.pid! },
    rival: hasRival ? await startRival(service.hello.uncached, leaves - 1) : undefined,
    drive: driver(),
    connections: Number(values.connections),
    seconds,
    rounds,
  }
  const claims = await totalOf(service.hello.uncached, '/bridge/v1/claims?network_id=1&page_size=1')
  const operations = benchOperations(deposits, claims, leaves)
  if (values.mix) {
    const runs = await measureMix(stand, folder, operations[0]!, deposits / 1000)
    console.log(
      `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}; ${deposits} bridges, ${stand.seconds} s each.\n\n${mixTable(runs)}`,
    )
    return
  }
  const rows: Measured[] = []
  const targets: Target[] = []
  for (const operation of operations) {
    const measured = await measureOperation(stand, operation)
    rows.push(...measured)
    targets.push(...targetsOf(operation, measured))
  }
  const latencies = await measureLatencies(stand, operations)
  const conditions = await measureConditions(stand, operations, rows, latencies)
  conditions.push(
    ...(await besideIndexer(
      stand,
      service.process,
      operations.filter(({ kind }, at) => at === 0 || kind === 'proof'),
    )),
  )
  for (const { text, value, target } of conditions)
    if (target !== undefined) targets.push({ text, value, ...target })
  report(stand, rows, latencies, conditions, targets)
}

/** How the service grows with its cells. */
async function measureCells(numbers: string): Promise<void> {
  const { process, hello: sets } = await start<CellSets>('./cellsProcess.js', [
    folder,
    numbers,
    values.workers,
  ])
  const ceiling = await start<Record<number, number>>('./ceilingProcess.js', [numbers])
  const claims = await totalOf(Object.values(sets)[0]!.port, '/bridge/v1/claims?network_id=1&page_size=1')
  const operations = benchOperations(deposits, claims, deposits / BLOCK_DEPOSITS)
  const stand: CellStand = {
    process,
    sets,
    ceiling: { process: ceiling.process, ports: ceiling.hello },
    drive: driver(),
    connectionsPerCell: Number(values.connections),
    queryThreads: Number(values.workers),
    seconds,
    rounds,
  }
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}; ${deposits} bridges, ${tool}, ${rounds} rounds of ${seconds} s in turn, medians; without a cache; query threads of each cell: ${values.workers}.`,
    await cellReport(stand, operations, queryConfig(folder)),
  ].join('\n\n')
  console.log(body)
  if (values.doc) writeSection('cells', body)
}

function driver(): Stand['drive'] {
  return (load: Load) => (hasWrk ? runWrk(load, folder) : runAutocannon(load))
}

async function seed(): Promise<void> {
  const startedAtMs = performance.now()
  const compiled = compileMerkleModule()
  const hasher = createHasher(compiled)
  const rival = hasRival ? new SqliteRival(rivalFile, hasher) : undefined
  const proofs = hasRival ? new ProofCollector(hasher) : undefined
  await seedStores(queryConfig(folder), compiled, new Traffic(hasher, all), deposits, {
    add(networkId, blocks) {
      rival?.add(networkId, blocks)
      proofs?.add(networkId, blocks)
    },
  })
  rival?.finish()
  rival?.close()
  proofs?.finish(rivalFile)
  console.error(`seeded ${deposits} bridges in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`)
}

async function start<Hello>(file: string, args: readonly string[] = []): Promise<Child<Hello>> {
  const child = await startChild<Hello>(file, args)
  children.push(child.process)
  return child
}

/** The rival gets the one L1 info leaf that its proofs need as finished text. */
async function startRival(port: number, leafIndex: number): Promise<Stand['rival']> {
  const path = `/bridge/v1/claim-proof?network_id=0&deposit_count=0&leaf_index=${leafIndex}`
  const { proof } = JSON.parse(await ask(port, path)) as {
    readonly proof: { readonly l1InfoTreeLeaf: unknown }
  }
  const leaf = JSON.stringify(proof.l1InfoTreeLeaf)
  const rival = await start<number>('./rivalProcess.js', [rivalFile, String(leafIndex), leaf])
  return { port: rival.hello, pid: rival.process.pid! }
}

async function totalOf(port: number, path: string): Promise<number> {
  const answer = JSON.parse(await ask(port, path)) as { readonly pagination: { readonly total: number } }
  return answer.pagination.total
}

function targetsOf(operation: BenchOperation, measured: readonly Measured[]): Target[] {
  const targets: Target[] = []
  const of = (mode: Measured['mode']) => measured.find((row) => row.mode === mode)
  for (const mode of ['uncached', 'cached'] as const)
    if (operation.target !== undefined)
      targets.push({
        text: `${operation.name}, ${mode} ÷ ceiling`,
        value: of(mode)!.ratio,
        atLeast: operation.target[mode],
      })
  const rival = of('fastify + SQLite')
  if (rival !== undefined && operation.kind !== 'point')
    targets.push({
      text: `${operation.name}, uncached ÷ fastify + SQLite`,
      value: of('uncached')!.ratio / rival.ratio,
      atLeast: RIVAL_FACTOR,
    })
  return targets
}

interface Latency {
  readonly operation: BenchOperation
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Each body is compared, and there is no cache. */
async function measureLatencies(stand: Stand, operations: readonly BenchOperation[]): Promise<Latency[]> {
  const latencies: Latency[] = []
  for (const operation of operations) {
    const path = operation.path(1)
    const port = stand.service.uncached
    const expectedBody = await ask(port, path)
    const seconds = values.quick ? 1 : 5
    const run = await runAutocannon({ port, paths: [path], connections: 10, seconds, expectedBody })
    latencies.push({ operation, ...run })
  }
  return latencies
}

async function measureConditions(
  stand: Stand,
  operations: readonly BenchOperation[],
  rows: readonly Measured[],
  latencies: readonly Latency[],
): Promise<Condition[]> {
  const point = operations[0]!
  const conditions = [
    await poolByFrontThread(stand, point),
    await openConnections(stand, point, rows[0]!.bodyBytes),
  ]
  for (const each of operations)
    if (each.kind === 'point')
      conditions.push(
        await manyConnections(stand, each, rows.find((row) => row.operation === each.name)!.bodyBytes),
      )
  for (const { operation, perSecond } of latencies)
    if (operation.target !== undefined) conditions.push(await usualLatency(stand, operation, perSecond))
  if (hasWrk) conditions.push(mixCondition(await measureMix(stand, folder, point, deposits / 1000)))
  return conditions
}

function report(
  stand: Stand,
  rows: readonly Measured[],
  latencies: readonly Latency[],
  conditions: readonly Condition[],
  targets: readonly Target[],
): void {
  const rival = values.rival
    ? `fastify ${versionOf('fastify', requireRival)} with better-sqlite3 ${versionOf('better-sqlite3', requireRival)}`
    : 'no rival'
  const body = [
    `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}; ${deposits} bridges, ${tool}, ${values.connections} connections, ${stand.rounds} rounds of ${stand.seconds} s in turn, medians; ${rival}.`,
    ...(hasWrk
      ? [targetTable(targets)]
      : ['Without wrk nothing shows the ceiling: the ratios count for nothing.']),
    '### Rates',
    markdownTable(
      ['', '', 'bytes', 'req/s', 'p50 ms', 'p99 ms', '÷ ceiling', 'by CPU', 'front µs CPU', 'others µs CPU'],
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
    markdownTable(
      ['', 'req/s', 'p50 ms', 'p99 ms'],
      latencies.map(({ operation, perSecond, p50Ms, p99Ms }) => [
        operation.name,
        perSecond.toFixed(0),
        p50Ms.toFixed(1),
        p99Ms.toFixed(1),
      ]),
    ),
    '### Under other conditions, uncached',
    markdownTable(
      ['', 'ratio'],
      conditions.map(({ text, value }) => [text, value.toFixed(2)]),
    ),
  ].join('\n\n')
  console.log(body)
  const results = join(benchRoot, 'results')
  mkdirSync(results, { recursive: true })
  const figures = { at: new Date().toISOString(), commit: commitLine(), machine: machineLine(), tool, rival }
  writeFileSync(
    join(results, `http-${Date.now()}.json`),
    JSON.stringify({ ...figures, bridges: deposits, rows, latencies, conditions, targets }, undefined, 2),
  )
  if (values.doc) writeSection('http', body)
}
