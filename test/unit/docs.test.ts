import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import {
  BridgesParameters,
  ClaimProofParameters,
  ClaimsParameters,
  ClaimTransactionParameters,
  L1InfoTreeIndexParameters,
  TokenMappingsParameters,
} from '../../src/api/parse/querySchemas.js'
import { type HaltReason, haltReasons, isInDoubt } from '../../src/board/haltReason.js'
import { createStatusBoard } from '../../src/board/statusBoard.js'
import { configKeys } from '../../src/config/configKeys.js'
import { applyEnvironment, flagName, type ValueSources } from '../../src/config/layers.js'
import type { HealthSource } from '../../src/health/healthSource.types.js'
import { countedLabels } from '../../src/http/countedLabels.js'
import { staticDocuments } from '../../src/http/docsPage.js'
import { createTargets } from '../../src/http/targets.js'
import { corsHeaders } from '../../src/http/wire/headers.js'
import { startOpsServer } from '../../src/ops/opsServer.js'
import type { HealthReason, ServiceStatus } from '../../src/query/healthReasons.js'
import { registerServiceMetrics } from '../../src/service/serviceMetrics.js'
import { createFrontCounts } from '../../src/telemetry/frontCounts.js'
import { registerFrontMetrics } from '../../src/telemetry/metrics.js'
import { type Demand, judgeLimits, type ProcessLimits } from '../../src/telemetry/processLimits.js'
import { pageOf, rowsOf } from '../support/docsPages.js'
import { loadedConfig } from '../support/loadedConfig.js'
import { NO_NETWORKS } from '../support/sampleRecords.js'
import { tempFolder } from '../support/tempFolder.js'
import { docsTables } from './docsTables.js'

const project = new URL('../../../', import.meta.url)

const api = pageOf('docs/api.md')
const configuration = pageOf('docs/configuration.md')
const operations = pageOf('docs/operations.md')

const sourceTexts = readdirSync(new URL('src', project), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => pageOf(`src/${file}`))

for (const { file, what, render } of docsTables)
  test(`the table of ${what} in ${file} agrees with the code, row by row`, () => {
    const table = render()
    // With the empty lines around the table, so that an extra row is noticed too.
    assert.ok(pageOf(file).includes(`\n\n${table}\n\n`), `${file} should hold:\n\n${table}`)
  })

/** The names between backticks in a cell. */
const namesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)

/** All names in the first column of that table, sorted. */
const firstNames = (text: string, head: string): string[] =>
  rowsOf(text, head)
    .flatMap(([cell]) => namesIn(cell))
    .toSorted()

/** The names in each column of a table of parameters. */
function parametersOf(heading: string): string[][] {
  const rows = rowsOf(api.slice(api.indexOf(`\n## ${heading}\n`)), 'parameter')
  const columns = rows[0]!.slice(1)
  return columns.map((_, i) =>
    rows
      .filter((row) => row[i + 1] !== '')
      .flatMap(([cell]) => namesIn(cell))
      .toSorted(),
  )
}

const propertiesOf = ({ properties }: { readonly properties: object }) => Object.keys(properties).toSorted()

test('docs/api.md names the parameters of each list, and no others', () => {
  assert.deepEqual(
    parametersOf('Parameters of the lists'),
    [BridgesParameters, ClaimsParameters, TokenMappingsParameters].map(propertiesOf),
  )
})

test('docs/api.md names the parameters of each proof, and no others', () => {
  assert.deepEqual(
    parametersOf('Parameters of the proofs'),
    [L1InfoTreeIndexParameters, ClaimProofParameters, ClaimTransactionParameters].map(propertiesOf),
  )
})

const silentHealth: HealthSource = {
  health: () => assert.fail('nobody asks'),
  syncStatus: () => assert.fail('nobody asks'),
  readiness: () => ({ ready: true, lagBlocks: 0 }),
}

test('docs/api.md names every path of the API, and no other', () => {
  const section = api.slice(api.indexOf('\n## Endpoints\n'), api.indexOf('\n## Claim a bridge\n'))
  const told = [...section.matchAll(/^\| [^|]+/gm)].flatMap(([cell]) => namesIn(cell))
  const nobodyAsks = (): never => assert.fail('nobody asks')
  const served = [...createTargets(silentHealth, staticDocuments(false), nobodyAsks, NO_NETWORKS).keys()]
  const isFile = (path: string) => path.startsWith('/docs/assets/')
  const withoutSlash = (path: string) => path.replace(/(?<=.)\/$/, '')
  assert.deepEqual(
    [...new Set(told.map(withoutSlash))].sort(),
    [...new Set(served.filter((path) => !isFile(path)).map(withoutSlash))].sort(),
  )
})

test('docs/api.md names every header that scripts of other origins may read', () => {
  const exposed = /Access-Control-Expose-Headers: (.*)/.exec(corsHeaders('*').always)?.[1]
  const told = new Set(firstNames(api, 'header'))
  for (const name of exposed!.trim().split(', ')) assert.ok(told.has(name), `no row for ${name}`)
})

test('docs/operations.md names every path of the operations port, and no other', async () => {
  const told = firstNames(operations, 'operations port')
  const metrics = async () => ''
  const health: HealthSource = {
    ...silentHealth,
    health: () => ({ httpStatus: 200, record: {} as never }),
  }
  const server = await startOpsServer({ host: '127.0.0.1', port: 0, health, metrics })
  try {
    const named = [...pageOf('src/ops/opsServer.ts').matchAll(/'(\/[a-z]*)'/g)].map(([, path]) => path!)
    const candidates = [...told, ...named, '/bridge/v1/sync-status', '/docs', '/openapi.json']
    for (const path of new Set(candidates)) {
      const { status } = await fetch(`http://127.0.0.1:${server.port}${path}`)
      assert.equal(status, told.includes(path) ? 200 : 404, path)
    }
  } finally {
    await server.close()
  }
})

// The compiler checks that these records have every member of their union.
const statuses: Readonly<Record<ServiceStatus, 200 | 503>> = {
  starting: 503,
  syncing: 200,
  healthy: 200,
  degraded: 200,
  unhealthy: 503,
  draining: 503,
}
const reasons: Readonly<Record<HealthReason, true>> = {
  draining: true,
  starting: true,
  pool: true,
  halted: true,
  disk: true,
  rpc: true,
  cluster: true,
  behind: true,
  lag: true,
  stalled: true,
  emergency_state: true,
  syncing: true,
}

test('docs/operations.md names every status of the health record with its HTTP status', () => {
  const told = rowsOf(operations, 'status').map(([name, http]) => [namesIn(name)[0]!, Number(http)])
  assert.deepEqual(Object.fromEntries(told), statuses)
})

test('docs/operations.md names every health reason, and no other', () => {
  assert.deepEqual(firstNames(operations, 'health reason'), Object.keys(reasons).sort())
})

test('docs/operations.md describes every halt reason, and no other', () => {
  assert.deepEqual(
    firstNames(operations, 'halt reason'),
    haltReasons.filter((reason) => reason !== 'none').toSorted(),
  )
})

test('docs/operations.md marks the halt reasons under which proofs are still served', () => {
  const marked = rowsOf(operations, 'halt reason')
    .filter(([cell]) => cell!.endsWith('\\*'))
    .flatMap(([cell]) => namesIn(cell))
  const keptUp = haltReasons.filter((reason: HaltReason) => reason !== 'none' && !isInDoubt(reason))
  assert.deepEqual(marked.sort(), keptUp.toSorted())
})

test('docs/operations.md describes every metric, and no other', () => {
  const told = rowsOf(operations, 'metric').flatMap(([cell]) => namesIn(cell))
  const made = sourceTexts.flatMap((source) =>
    [...source.matchAll(/'(bds_[a-z_]+)'/g)].map(([, name]) => name!),
  )
  assert.deepEqual(told.sort(), [...new Set(made)].sort())
})

test('docs/operations.md lists the labels of each metric', async (context) => {
  const registry = new Registry()
  registerFrontMetrics(registry, [createFrontCounts(countedLabels)])
  const parts = { hasher: 'simd', transport: 'uWebSockets.js' }
  registerServiceMetrics(
    registry,
    loadedConfig(tempFolder(context)),
    createStatusBoard([0]),
    { counts: [createFrontCounts(countedLabels)], queryTimes: [] },
    new Map(),
    parts,
  )
  const told = new Map(
    rowsOf(operations, 'metric').flatMap(([names, labels]) =>
      namesIn(names).map((name) => [name, namesIn(labels).toSorted()]),
    ),
  )
  let compared = 0
  for (const metric of registry.getMetricsAsArray()) {
    if (!metric.name.startsWith('bds_') || !('labelNames' in metric)) continue
    assert.ok(Array.isArray(metric.labelNames))
    assert.deepEqual(told.get(metric.name), metric.labelNames.toSorted(), metric.name)
    compared++
  }
  assert.ok(compared > 25, `only ${compared}`)
})

/** What a formula of the table of limits comes to: `64 MiB + 48 MiB × N`. */
function sizeOf(formula: string, { networks: n, fronts: f, workers: w, storeBytes }: Demand): number {
  const factorOf = (text: string): number => {
    const [, number, unit] = /^(\d+)(?: (MiB|GiB))?$/.exec(text.trim())!
    return Number(number) * (unit === undefined ? 1 : unit === 'MiB' ? 2 ** 20 : 2 ** 30)
  }
  return formula
    .replace('the largest store', String(storeBytes))
    .replace('(1 + N + W)', String(1 + n + w))
    .replace('(N + F + W)', String(n + f + w))
    .replace(/\bF\b/, String(f))
    .replace(/\bN\b/, String(n))
    .replace(/\bW\b/, String(w))
    .split(' + ')
    .map((term) => term.split(' × ').reduce((product, factor) => product * factorOf(factor), 1))
    .reduce((sum, term) => sum + term)
}

test('docs/operations.md states the lowest limits under which the service starts', () => {
  const unlimited: ProcessLimits = {
    openFiles: { soft: Number.POSITIVE_INFINITY, hard: Number.POSITIVE_INFINITY },
    addressSpace: Number.POSITIVE_INFINITY,
    dataSize: Number.POSITIVE_INFINITY,
    fileSize: Number.POSITIVE_INFINITY,
    stackSize: Number.POSITIVE_INFINITY,
    cpuSeconds: Number.POSITIVE_INFINITY,
    threads: Number.POSITIVE_INFINITY,
    memory: Number.POSITIVE_INFINITY,
  }
  const limitTo: Readonly<Record<string, (size: number) => Partial<ProcessLimits>>> = {
    memory: (memory) => ({ memory }),
    'descriptors (hard limit)': (files) => ({ openFiles: { soft: files, hard: files } }),
    'address space': (addressSpace) => ({ addressSpace }),
    'data size': (dataSize) => ({ dataSize }),
    'file size': (fileSize) => ({ fileSize }),
    threads: (threads) => ({ threads }),
    stack: (stackSize) => ({ stackSize }),
  }
  const section = operations.slice(operations.indexOf('\n## Sizing and limits\n'))
  const least = new Map(rowsOf(section, 'what').map(([what, formula]) => [what!, formula!]))
  for (const [what, limit] of Object.entries(limitTo))
    for (const demand of [
      { networks: 2, fronts: 1, workers: 1, storeBytes: 0 },
      { networks: 10, fronts: 2, workers: 4, storeBytes: 7_000_000 },
    ]) {
      const size = sizeOf(least.get(what)!, demand)
      const fails = (at: number) =>
        judgeLimits({ ...unlimited, ...limit(at) }, demand).some(({ outcome }) => outcome === 'fail')
      assert.deepEqual([fails(size - 1), fails(size)], [true, false], `${what}: ${least.get(what)}`)
    }
})

test('docs/operations.md has every command and flag of `bds`, and no other', () => {
  const flagsOf = (text: string): string[] => text.match(/--[a-z-]+/g) ?? []
  const told = new Map<string, Set<string>>()
  for (const [cell] of rowsOf(operations, 'command')) {
    const [, verb = '', rest = ''] = /^`bds (\w+)(.*)`$/.exec(cell!) ?? []
    told.set(verb, new Set(flagsOf(rest)))
  }
  // The first lines of each verb's help.
  const usages = sourceTexts.flatMap((text) => [...text.matchAll(/'(?:Usage:| {6}) bds (\w+)([^']*)'/g)])
  const spelled = new Map<string, Set<string>>()
  for (const [, verb, rest] of usages)
    spelled.set(verb!, new Set([...(spelled.get(verb!) ?? []), ...flagsOf(rest!)]))
  const sorted = (verbs: ReadonlyMap<string, ReadonlySet<string>>) =>
    Object.fromEntries([...verbs].sort().map(([verb, flags]) => [verb, [...flags].sort()]))
  assert.deepEqual(sorted(told), sorted(spelled))
})

test('docs/configuration.md spells keys for the environment and as flags as the loader reads them', () => {
  const rows = rowsOf(configuration, 'in the file')
  assert.ok(rows.length >= 3)
  for (const [inFile, inEnvironment, asFlag] of rows) {
    const [name] = namesIn(inFile)
    const [variable, value = '1'] = namesIn(inEnvironment)[0]!.split('=')
    const table = { networks: [{}, { network_id: 1 }] }
    const sources: ValueSources = new Map()
    const mistakes: string[] = []
    applyEnvironment(table, { [variable!]: value }, sources, mistakes)
    assert.deepEqual(mistakes, [])
    assert.deepEqual([...sources], [[name!.replace('[]', '[1]'), `env ${variable}`]])
    const flag = flagName(configKeys.find((key) => key.name === name)!)
    assert.deepEqual(namesIn(asFlag), flag === undefined ? [] : [`--${flag}`])
  }
})

/** Variables that Node or uWebSockets.js read, or that stand for the name of a key. */
const readElsewhere = ['TMPDIR', 'UWS_HTTP_MAX_HEADERS_SIZE', 'BDS_…__…']

test('docs/configuration.md names every variable of the environment that the service reads, and no other', () => {
  const told = firstNames(configuration, 'variable').filter((name) => !readElsewhere.includes(name))
  const sources = sourceTexts.join('\n')
  const read = [
    ...sources.matchAll(/\benvironment\.([A-Z_]+)/g),
    ...sources.matchAll(/'(BDS_[A-Z_]+[A-Z])'/g),
    ...sources.matchAll(/'([A-Z]+_PROXY)'/g),
  ].map(([, name]) => name!)
  assert.deepEqual(told, [...new Set(read)].toSorted())
})
