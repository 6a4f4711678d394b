import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { configKeys } from '../../src/config/configKeys.js'
import { loadConfig } from '../../src/config/load.js'
import { judgeLimits, type ProcessLimits } from '../../src/telemetry/processLimits.js'
import { pageOf } from '../support/docsPages.js'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
import { tempFolder } from '../support/tempFolder.js'
import { alertRules } from './monitoring.js'

/** What several files of `deploy/` must say alike, and as the service does. */

const root = fileURLToPath(new URL('../../../', import.meta.url))
const { version } = JSON.parse(pageOf('package.json')) as { readonly version: string }
const defaultOf = (key: string): number => Number(configKeys.find(({ name }) => name === key)!.schema.default)
const API_PORT = defaultOf('http.port')
const OPERATIONS_PORT = defaultOf('ops.port')
/** After this time the process has ended, whatever hangs. */
const LONGEST_STOP_MS = defaultOf('http.drain_delay_ms') + defaultOf('shutdown_grace_ms')
const GIB = 2 ** 30

interface ComposeService {
  readonly image: string
  readonly read_only?: boolean
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly ports: readonly string[]
  readonly stop_grace_period?: string
  readonly ulimits?: { readonly nofile: number }
  readonly mem_limit?: string
  readonly secrets?: readonly string[]
}
const compose = parse(pageOf('deploy/compose/compose.yaml')) as {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly secrets: Readonly<Record<string, unknown>>
}
const composed = compose.services.bds!
const unit = pageOf('deploy/bds@.service')
const unitValue = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)![1]!

const CHART = 'deploy/helm/bds'
interface Values {
  readonly image: { readonly tag: string }
  readonly config: string
  readonly rpcSecret: string
  readonly ports: { readonly api: number; readonly operations: number }
  readonly drainDelayMs: number
  readonly shutdownGraceMs: number
  readonly resources: { readonly limits: { readonly memory: string } }
}
const values = parse(pageOf(`${CHART}/values.yaml`)) as Values
const templates = readdirSync(join(root, CHART, 'templates')).map((file) =>
  pageOf(`${CHART}/templates/${file}`),
)

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}
interface StatefulSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly automountServiceAccountToken: boolean
        readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number }
        readonly containers: readonly [
          {
            readonly securityContext: object
            readonly ports: readonly { readonly name: string }[]
            readonly startupProbe: Probe
            readonly livenessProbe: Probe
            readonly readinessProbe: Probe
          },
        ]
      }
    }
  }
}
interface Service {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly type?: string
    readonly clusterIP?: string
    readonly ports: readonly { readonly name: string; readonly targetPort: string }[]
  }
}

/** The documents of a template with `x` in place of what Helm puts in: their fixed part. */
function fixedPart(template: string): unknown[] {
  const text = pageOf(`${CHART}/templates/${template}`)
    .replace(/^\s*\{\{-.*\}\}\n/gm, '')
    .replace(/\{\{.*?\}\}/g, 'x')
  return parseAllDocuments(text).map((document) => document.toJS() as unknown)
}
const pod = (fixedPart('statefulset.yaml')[0] as StatefulSet).spec.template.spec

test('every deployment waits longer for the end of the process than the process may take', () => {
  assert.ok(Number(unitValue('TimeoutStopSec')) * 1000 > LONGEST_STOP_MS)
  assert.ok(Number.parseInt(composed.stop_grace_period!, 10) * 1000 > LONGEST_STOP_MS)
  // The chart works its time out: `helm template` in deploy/README.md shows 40 for 15 s and 20 s.
  assert.deepEqual([values.drainDelayMs, values.shutdownGraceMs], [15_000, 20_000])
})

test('the operations port is for probes and Prometheus, the API port for a proxy', () => {
  assert.match(pageOf('deploy/Dockerfile'), new RegExp(`^EXPOSE ${API_PORT} ${OPERATIONS_PORT}$`, 'm'))
  assert.deepEqual(values.ports, { api: API_PORT, operations: OPERATIONS_PORT })
  assert.deepEqual(composed.ports, [`127.0.0.1:${API_PORT}:${API_PORT}`])
  const published = Object.values(compose.services).flatMap(({ ports }) => ports)
  assert.deepEqual(
    published.filter((port) => !port.startsWith('127.0.0.1:')),
    [],
  )
  const { scrape_configs: scraped } = parse(pageOf('deploy/prometheus/prometheus.yml')) as {
    readonly scrape_configs: readonly unknown[]
  }
  assert.deepEqual(scraped, [{ job_name: 'bds', static_configs: [{ targets: [`bds:${OPERATIONS_PORT}`] }] }])
  const [api, operations] = fixedPart('services.yaml') as [Service, Service]
  assert.deepEqual(
    [api.spec.type, api.spec.ports.map(({ name, targetPort }) => [name, targetPort])],
    ['ClusterIP', [['http', 'http']]],
  )
  assert.deepEqual(
    [operations.spec.clusterIP, operations.spec.ports.map(({ name, targetPort }) => [name, targetPort])],
    ['None', [['prometheus', 'prometheus']]],
  )
})

test('liveness asks what depends on no chain, readiness what a balancer goes by, both on the operations port', () => {
  const [{ startupProbe, livenessProbe, readinessProbe, ports }] = pod.containers
  assert.deepEqual(startupProbe.httpGet, { path: '/livez', port: 'prometheus' })
  assert.deepEqual(livenessProbe.httpGet, { path: '/livez', port: 'prometheus' })
  assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'prometheus' })
  assert.deepEqual(
    ports.map(({ name }) => name),
    ['http', 'prometheus'],
  )
})

const UNLIMITED = Number.POSITIVE_INFINITY
const noLimits: ProcessLimits = {
  openFiles: { soft: UNLIMITED, hard: UNLIMITED },
  addressSpace: UNLIMITED,
  dataSize: UNLIMITED,
  fileSize: UNLIMITED,
  stackSize: UNLIMITED,
  cpuSeconds: UNLIMITED,
  threads: UNLIMITED,
  memory: UNLIMITED,
}

test('the memory limits are good for ten networks and four query threads, and the alert fires at 80 % of them', () => {
  assert.deepEqual(
    [unitValue('MemoryMax'), composed.mem_limit, values.resources.limits.memory],
    ['2G', '2g', '2Gi'],
  )
  const demand = { networks: 10, fronts: 1, workers: 4, storeBytes: 0 }
  const findings = judgeLimits({ ...noLimits, memory: 2 * GIB }, demand)
  assert.deepEqual(
    findings.filter(({ outcome }) => outcome !== 'ok'),
    [],
  )
  const { expr } = alertRules().find(({ alert }) => alert === 'BdsMemoryHigh')!
  assert.match(expr, / > 0\.8 \* 2 \* 2 \^ 30$/)
})

test('the limits of descriptors and threads are good for as many networks as one instance serves', () => {
  const files = Number(unitValue('LimitNOFILE'))
  assert.equal(composed.ulimits!.nofile, files)
  const demand = { networks: 53, fronts: 2, workers: 8, storeBytes: 0 }
  const limits = {
    ...noLimits,
    openFiles: { soft: files, hard: files },
    threads: Number(unitValue('TasksMax')),
  }
  const findings = judgeLimits(limits, demand)
  assert.deepEqual(
    findings.filter(({ outcome }) => outcome !== 'ok'),
    [],
  )
})

test('no container runs as root, writes to its image or has capabilities', () => {
  assert.match(pageOf('deploy/Dockerfile'), /^USER 1000:1000$/m)
  assert.equal(composed.read_only, true)
  for (const { cap_drop: dropped, security_opt: options } of Object.values(compose.services))
    assert.deepEqual([dropped, options], [['ALL'], ['no-new-privileges:true']])
  assert.deepEqual(pod.containers[0].securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  assert.equal(pod.automountServiceAccountToken, false)
  assert.deepEqual([pod.securityContext.runAsNonRoot, pod.securityContext.runAsUser], [true, 1000])
  assert.equal(unitValue('User'), 'bds')
})

test('the image, the chart and the compose file are of the version of the package', () => {
  const chart = parse(pageOf(`${CHART}/Chart.yaml`)) as Readonly<Record<string, string>>
  assert.deepEqual([chart.version, chart.appVersion, values.image.tag], [version, version, ''])
  assert.equal(composed.image, `bridge-data-service:${version}`)
})

test('image and unit start the script that keeps glibc from hoarding freed buffers, as the documents say', () => {
  const [, name, value] = /`bds` sets `(MALLOC_\w+)=(\d+)`/.exec(pageOf('docs/operations.md'))!
  assert.ok(pageOf('src/cli/bds.sh').includes(`${name}=\${${name}-${value}}`))
  const link = /\/opt\/bds\/dist\/src\/cli\/bds\.sh \/usr\/local\/bin\/bds/
  assert.match(pageOf('deploy/Dockerfile'), link)
  assert.match(pageOf('deploy/Dockerfile'), /^ENTRYPOINT \["bds"\]$/m)
  assert.match(pageOf('deploy/README.md'), link)
  assert.match(unit, /^ExecStart=\/usr\/bin\/env bds run/m)
})

test('the example configuration for containers is one that the service takes, its addresses from files', (t) => {
  const folder = tempFolder(t)
  mkdirSync(join(folder, 'secrets'))
  const text = pageOf('deploy/compose/bds.example.toml')
  const files = [...text.matchAll(/url_file = "\/run\/secrets\/(\w+)"/g)].map(([, name]) => name!)
  assert.deepEqual(
    files.filter((name) => !composed.secrets!.includes(name) || !(name in compose.secrets)),
    [],
  )
  for (const name of files) writeFileSync(join(folder, 'secrets', name), `https://rpc.test/${name}\n`)
  const file = join(folder, 'bds.toml')
  writeFileSync(file, text.replaceAll('/run/secrets/', `${folder}/secrets/`))
  const [, assignments] = /^ENV ((?:.*\\\n)*.*)$/m.exec(pageOf('deploy/Dockerfile'))!
  const environment = Object.fromEntries(
    [...assignments!.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
  )
  const { config } = loadConfig({ file, environment: { ...environment, BDS_CONFIG: file } })
  assert.deepEqual(
    [config.dataDir, config.http.host, config.http.port, config.ops.host, config.ops.port],
    ['/var/lib/bds', '0.0.0.0', API_PORT, '0.0.0.0', OPERATIONS_PORT],
  )
  assert.deepEqual(
    config.networks.map(({ networkId }) => networkId),
    [0, 1],
  )
  assert.ok(!/https?:/.test(text), 'no address in the file itself')
})

test('the schema of the chart takes its values with a configuration, and no mistake', () => {
  const validate = new Ajv({ allErrors: true }).compile(
    JSON.parse(pageOf(`${CHART}/values.schema.json`)) as object,
  )
  const good = { ...values, config: '[[networks]]\nnetwork_id = 0\n', rpcSecret: 'bds-rpc' }
  assert.ok(validate(good), JSON.stringify(validate.errors))
  const faulty: Readonly<Record<string, object>> = {
    'no configuration': { ...good, config: '' },
    'no secret': { ...good, rpcSecret: '' },
    'an unknown name': { ...good, replicaCount: 2 },
    'a port as text': { ...good, ports: { api: '5577', operations: 9091 } },
    'a volume that many nodes share': { ...good, storage: { size: '20Gi', accessModes: ['ReadWriteMany'] } },
    'no memory limit': { ...good, resources: { limits: {} } },
  }
  for (const [what, wrong] of Object.entries(faulty)) assert.equal(validate(wrong), false, what)
})

test('every value that the chart uses has a default, and every default is used', () => {
  const used = new Set(
    templates.flatMap((text) =>
      [...text.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path]) => path!.slice(1)),
    ),
  )
  assert.ok(used.size > 25, `only ${used.size}`)
  const find = (path: string): unknown =>
    path.split('.').reduce<unknown>((at, key) => (at as Readonly<Record<string, unknown>>)?.[key], values)
  assert.deepEqual(
    [...used].filter((path) => find(path) === undefined),
    [],
  )
  const unused = Object.keys(values).filter((key) => ![...used].some((path) => path.split('.')[0] === key))
  assert.deepEqual(unused, [])
})

test('the chart carries the alert rules and the dashboard themselves', () => {
  for (const [file, original] of [
    ['alerts.yml', 'deploy/prometheus/alerts.yml'],
    ['dashboard.json', 'deploy/grafana/dashboards/bridge-data-service.json'],
  ] as const)
    assert.equal(realpathSync(join(root, CHART, 'files', file)), realpathSync(join(root, original)))
})

test('nats.yaml adds three NATS servers, whose names the instances and nats.conf have, and a second instance on a volume and port of its own', {
  skip: skipWithout('nats-server'),
}, () => {
  const { services, volumes } = parse(pageOf('deploy/compose/nats.yaml'), {
    merge: true,
    logLevel: 'error',
  }) as {
    readonly services: Readonly<
      Record<string, { readonly environment: Readonly<Record<string, string>>; readonly volumes?: string[] }>
    >
    readonly volumes: Readonly<Record<string, unknown>>
  }
  const servers = Object.keys(services).filter((name) => name.startsWith('nats-'))
  assert.equal(servers.length, 3)
  for (const name of servers) assert.equal(services[name]!.environment.NATS_NAME, name)
  for (const instance of ['bds', 'bds-2'])
    assert.equal(
      services[instance]!.environment.BDS_CLUSTER__SERVERS,
      servers.map((name) => `${name}:4222`).join(','),
    )
  const used = Object.values(services).flatMap(({ volumes: places = [] }) =>
    places.map((place) => place.split(':')[0]!),
  )
  assert.deepEqual(used.toSorted(), Object.keys(volumes).toSorted(), 'no two have the same volume')
  const conf = pageOf('deploy/compose/nats.conf')
  assert.deepEqual(
    [...conf.matchAll(/nats:\/\/(\S+):6222/g)].map(([, name]) => name),
    servers,
  )
  const checked = spawnSync(
    installedProgram('nats-server')!,
    ['-t', '-c', join(root, 'deploy/compose/nats.conf')],
    { encoding: 'utf8', env: { ...process.env, NATS_NAME: servers[0] } },
  )
  assert.equal(checked.status, 0, checked.stderr)
})
