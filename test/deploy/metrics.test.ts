import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import { haltReasons } from '../../src/board/haltReason.js'
import { createStatusBoard } from '../../src/board/statusBoard.js'
import type { Verb } from '../../src/cli/input/verb.js'
import { registerNetworkMetrics } from '../../src/health/networkMetrics.js'
import { countedLabels } from '../../src/http/countedLabels.js'
import { connectionRefusals, rejectReasons, slowReaderLimits } from '../../src/telemetry/frontCounts.js'
import { brokenLinks } from '../architecture/documents.js'
import { pageOf, rowsOf } from '../support/docsPages.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
import { startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import type { Cleaner } from '../support/tempFolder.js'
import {
  alertExpressions,
  alertRules,
  dashboardExpressions,
  type Expression,
  type Matcher,
  namesIn,
} from './monitoring.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const expressions = [...alertExpressions(), ...dashboardExpressions()]

/** What Prometheus itself adds: a metric for each target, and two labels. */
const OF_PROMETHEUS: readonly (readonly [string, ReadonlySet<string>])[] = [['up', new Set()]]
const TARGET_LABELS = ['job', 'instance']

/** Labels by metric, as an exposition in text has them. A metric without series has no labels there. */
function exposed(text: string): Map<string, Set<string>> {
  const metrics = new Map<string, Set<string>>()
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      metrics.set(name! + suffix, new Set())
  for (const [, name, labels] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm))
    for (const [, label] of (labels ?? '').matchAll(/(\w+)="/g)) metrics.get(name!)!.add(label!)
  return metrics
}

/** The labels that docs/operations.md names, which another test holds against the code. */
const documented = new Map(
  rowsOf(pageOf('docs/operations.md'), 'metric').flatMap(([names, labels]) =>
    backticked(names).map((name) => [name, backticked(labels)] as const),
  ),
)

function backticked(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
}

/** Metrics and labels of an expression that are not there. */
function strangers(
  { place, expr, namedLabels }: Expression,
  metrics: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const { selectors, groupingLabels } = namesIn(expr)
  const labelsOf = (metric: string): string[] => [
    ...TARGET_LABELS,
    ...(metrics.get(metric) ?? []),
    ...(documented.get(metric) ?? []),
  ]
  const all = new Set(selectors.flatMap(({ metric }) => labelsOf(metric)))
  return [
    ...selectors.filter(({ metric }) => !metrics.has(metric)).map(({ metric }) => `${place}: ${metric}`),
    ...selectors.flatMap(({ metric, matchers }) =>
      matchers
        .filter(({ label }) => !labelsOf(metric).includes(label))
        .map(({ label }) => `${place}: ${metric} has no ${label}`),
    ),
    ...[...groupingLabels, ...namedLabels]
      .filter((label) => !all.has(label))
      .map((label) => `${place}: ${label}`),
  ]
}

/** What a running service, which was asked something, exposes. */
async function exposition(t: Cleaner): Promise<string> {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  await inStep(service, world)
  await service.get('/bridge/v1/bridges?network_id=1')
  return (await fetch(`${service.opsUrl}/metrics`)).text()
}

/** What an instance of a cluster exposes of a network besides. */
function ofCluster(): Promise<string> {
  const registry = new Registry()
  registerNetworkMetrics(registry, createStatusBoard([1]), true)
  return registry.metrics()
}

test('dashboard and alert rules name only metrics and labels of a running service', async (t) => {
  const text = await exposition(t)
  const metrics = new Map<string, ReadonlySet<string>>([...exposed(text), ...OF_PROMETHEUS])
  const known = new Map([...exposed(await ofCluster()), ...metrics])
  assert.ok(expressions.length > 90, `only ${expressions.length} expressions`)
  assert.deepEqual(
    expressions.flatMap((expression) => strangers(expression, known)),
    [],
  )
  // A histogram by any of its three.
  const base = (metric: string): string => metric.replace(/_(bucket|sum|count)$/, '')
  const shown = new Set(
    expressions.flatMap(({ expr }) => namesIn(expr).selectors.map(({ metric }) => base(metric))),
  )
  const unseen = [...metrics.keys()].filter((name) => name.startsWith('bds_') && !shown.has(base(name)))
  assert.deepEqual(unseen, [], 'each metric of ours has a panel or an alert')
})

test('negative control: metrics and labels that no service has are reported', () => {
  const metrics = exposed('# TYPE bds_a gauge\nbds_a{reason="x"} 1\n# TYPE bds_h histogram\n')
  const at = (expr: string, ...namedLabels: string[]) =>
    strangers({ place: 'here', expr, namedLabels }, metrics)
  assert.deepEqual(at('sum by (reason) (bds_a{job="bds"}) + rate(bds_h_bucket[5m])', 'reason'), [])
  assert.deepEqual(at('bds_b{job="bds"} or bds_h'), ['here: bds_b', 'here: bds_h'])
  assert.deepEqual(at('bds_a{route="x"}'), ['here: bds_a has no route'])
  assert.deepEqual(at('sum by (route) (bds_a)', 'status'), ['here: route', 'here: status'])
  assert.throws(() => at('sum(bds_a'), /not PromQL/)
})

/** Counters and histograms of ours without a series. */
function withoutSeries(text: string): string[] {
  return [...text.matchAll(/^# TYPE (bds_\S+) (counter|histogram)$/gm)]
    .filter(([, name, type]) => {
      const sample = type === 'histogram' ? `${name}_count` : name
      return !new RegExp(`^${sample}(\\{.*\\})? `, 'm').test(text)
    })
    .map(([, name]) => name!)
}

test('every counter and histogram has its series from the start, so that its first event is an increase', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  const text = await (await fetch(`${service.opsUrl}/metrics`)).text()
  assert.ok([...text.matchAll(/^# TYPE bds_\S+ (?:counter|histogram)$/gm)].length > 30)
  assert.deepEqual(withoutSeries(text), [])
  const planted = '# TYPE bds_a_total counter\n# TYPE bds_b histogram\nbds_b_bucket{le="1"} 0\n'
  assert.deepEqual(withoutSeries(planted), ['bds_a_total', 'bds_b'], 'negative control')
})

test('promtool finds no badly named metric', {
  skip: skipWithout('promtool'),
}, async (t) => {
  const check = (input: string) => {
    const { status, stdout, stderr } = spawnSync(installedProgram('promtool')!, ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    })
    return { status, text: (stdout + stderr).trim() }
  }
  assert.deepEqual(check(await exposition(t)), { status: 0, text: '' })
  assert.match(check('# TYPE bds_a_total gauge\nbds_a_total 1\n').text, /bds_a_total/, 'negative control')
})

/** Every value of the labels that have few. */
const values: Readonly<Record<string, readonly string[]>> = {
  'bds_sync_halted reason': haltReasons,
  'bds_pool_rejected_total reason': rejectReasons,
  'bds_http_connections_refused_total reason': connectionRefusals,
  'bds_http_slow_readers_cut_total limit': slowReaderLimits,
  'bds_resident_bytes part': ['anonymous', 'file'],
  route: countedLabels.routes.map((route) => countedLabels.paths?.[route] ?? route),
  status: countedLabels.statuses.map(String),
}

/** Values that the service never gives that label. Each alternative of `a|b` must match one. */
function impossible(metric: string, { label, operator, value }: Matcher): string[] {
  const known = values[`${metric} ${label}`] ?? values[label]
  if (known === undefined) return []
  const alternatives = operator.endsWith('~') ? value.split('|') : [value]
  return alternatives.filter((pattern) =>
    operator.endsWith('~')
      ? !known.some((name) => new RegExp(`^(?:${pattern})$`).test(name))
      : !known.includes(pattern),
  )
}

test('dashboard and alert rules ask only for values that these labels have', () => {
  const asked = expressions.flatMap(({ expr }) =>
    namesIn(expr).selectors.flatMap(({ metric, matchers }) =>
      matchers.map((matcher) => ({ metric, matcher })),
    ),
  )
  const bounded = asked.filter(
    ({ metric, matcher: { label } }) => (values[`${metric} ${label}`] ?? values[label]) !== undefined,
  )
  assert.ok(bounded.length >= 8, `only ${bounded.length}`)
  assert.deepEqual(
    asked.flatMap(({ metric, matcher }) => impossible(metric, matcher)),
    [],
  )
  const reason: Matcher = { label: 'reason', operator: '=~', value: 'disk_full|disc_full' }
  assert.deepEqual(impossible('bds_sync_halted', reason), ['disc_full'], 'negative control')
})

test('each alert has a section in docs/runbook.md, which names it under the heading that the alert leads to', () => {
  const runbook = pageOf('docs/runbook.md')
  const links = alertRules().map(({ annotations }) => `[x](${annotations.runbook_url})`)
  assert.ok(links.length > 30)
  assert.deepEqual(brokenLinks(root, [{ file: 'README.md', text: links.join('\n') }]), [])
  const sections = new Map(
    runbook.split(/^## /m).map((section) => {
      const heading = section.slice(0, section.indexOf('\n'))
      return [heading.toLowerCase().replaceAll(' ', '-'), section] as const
    }),
  )
  for (const { alert, annotations } of alertRules()) {
    const section = sections.get(annotations.runbook_url.split('#')[1]!)!
    const [, named] = /^Alerts?: (.*)\.$/m.exec(section) ?? []
    assert.ok(named?.includes(`\`${alert}\``), `${alert} is not named in its section`)
  }
  const told = [...runbook.matchAll(/`(Bds\w+)`/g)].map(([, name]) => name!)
  assert.deepEqual(
    [...new Set(told)].toSorted(),
    alertRules()
      .map(({ alert }) => alert)
      .toSorted(),
  )
})

/** `bds` commands in code spans and fences, as words: `bds reindex --network N --yes`. */
function commandsIn(text: string): string[][] {
  const code = [...text.matchAll(/```[\s\S]*?```|`[^`]+`/g)].flatMap(([part]) => part.split(/[\n`]/))
  return code.flatMap((line) => {
    const [, words] = /^(?!helm ).*(?<=^| )bds (?!env |bds |rm )([a-z]+(?: [^#|&;)]*)?)/.exec(line) ?? []
    return words === undefined ? [] : [words.trim().split(/ +/)]
  })
}

/** @returns undefined for a verb that `bds` does not have. */
async function helpOf(verb: string): Promise<string | undefined> {
  for (const folder of ['verbs', 'stores']) {
    const module = (await import(`../../src/cli/${folder}/${verb}Verb.js`).catch(() => ({}))) as Readonly<
      Record<string, Verb | undefined>
    >
    const found = module[verb] ?? module[`${verb}Verb`]
    if (found !== undefined) return found.help
  }
  return undefined
}

/** Words of commands that `bds` does not know. */
async function unknownWords(commands: readonly string[][]): Promise<string[]> {
  const unknown: string[] = []
  for (const [verb, ...words] of commands) {
    const help = await helpOf(verb!)
    if (help === undefined) unknown.push(verb!)
    else
      unknown.push(
        ...words
          .filter((word) => word.startsWith('--') && !help.includes(word))
          .map((word) => `${verb} ${word}`),
      )
  }
  return unknown
}

test('the runbook and deploy/README.md tell only commands and options that bds has', async () => {
  const commands = ['docs/runbook.md', 'deploy/README.md'].flatMap((file) => commandsIn(pageOf(file)))
  assert.ok(commands.length > 25, `only ${commands.length}`)
  assert.deepEqual(await unknownWords(commands), [])
  const planted = commandsIn('`bds reindex --network 1 --yess` and `sudo -u bds bds repair`')
  assert.deepEqual(await unknownWords(planted), ['reindex --yess', 'repair'], 'negative control')
})
