import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { parseAllDocuments } from 'yaml'
import { pageOf } from '../support/docsPages.js'
import { installedProgram, NOT_INSTALLED, skipWithout } from '../support/installedProgram.js'
import { tempFolder } from '../support/tempFolder.js'

const chart = fileURLToPath(new URL('../../../deploy/helm/bds', import.meta.url))
/** `api/openapi-spec/swagger.json` of the Go module `k8s.io/kubernetes`. */
const SCHEMA = process.env.BDS_KUBERNETES_SCHEMA
const skipWithoutSchema =
  skipWithout('helm') || (SCHEMA === undefined && `${NOT_INSTALLED}BDS_KUBERNETES_SCHEMA`)

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec?: object
}

function helm(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(installedProgram('helm')!, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  return { status, text: status === 0 ? stdout : stdout + stderr }
}

/** `--set` and the like for a whole set of values. */
function complete(folder: string): string[] {
  const file = join(folder, 'bds.toml')
  writeFileSync(file, pageOf('deploy/compose/bds.example.toml'))
  return ['--set-file', `config=${file}`, '--set', 'rpcSecret=bds-rpc']
}

const EVERYTHING = ['serviceMonitor', 'alerts', 'dashboard'].flatMap((part) => [
  '--set',
  `${part}.enabled=true`,
])

/** Without a cluster Helm takes its own idea of one for granted, and a Helm made by `go install` that of 2020. */
const KUBERNETES = ['--kube-version', '1.33.0']

function rendered(args: readonly string[]): Manifest[] {
  const { status, text } = helm('template', 'bds', chart, ...KUBERNETES, ...args)
  assert.equal(status, 0, text)
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest)
}

interface Definition {
  type?: string
  format?: string
  properties?: Record<string, object>
  additionalProperties?: unknown
  'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}

/** A validator of Kubernetes' own kinds that refuses unknown fields. */
function kubernetes(): (manifest: Manifest) => string[] | undefined {
  const { definitions } = JSON.parse(readFileSync(SCHEMA!, 'utf8')) as {
    readonly definitions: Record<string, Definition>
  }
  for (const definition of Object.values(definitions)) {
    if (definition.format === 'int-or-string') delete definition.type
    if (definition.properties !== undefined) definition.additionalProperties ??= false
  }
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema({ $id: 'kubernetes', definitions })
  return ({ apiVersion, kind, ...rest }) => {
    const [version, group = ''] = apiVersion.split('/').reverse()
    const name = Object.keys(definitions).find((key) =>
      definitions[key]!['x-kubernetes-group-version-kind']?.some(
        (of) => of.group === group && of.version === version && of.kind === kind,
      ),
    )
    if (name === undefined) return undefined
    const validate = ajv.getSchema(`kubernetes#/definitions/${name}`)!
    return validate({ apiVersion, kind, ...rest })
      ? []
      : validate.errors!.map(({ instancePath, message }) => `${kind} ${instancePath} ${message}`)
  }
}

test('helm lint finds nothing', { skip: skipWithout('helm') }, (t) => {
  const { status, text } = helm('lint', '--strict', chart, ...complete(tempFolder(t)), ...EVERYTHING)
  assert.equal(status, 0, text)
})

test('each manifest of the chart is one by the schema of Kubernetes', { skip: skipWithoutSchema }, (t) => {
  const check = kubernetes()
  const manifests = rendered([...complete(tempFolder(t)), ...EVERYTHING])
  const results = manifests.map((manifest) => [manifest.kind, check(manifest)] as const)
  assert.deepEqual(
    results.flatMap(([, faults]) => faults ?? []),
    [],
  )
  assert.deepEqual(
    results.map(([kind, faults]) => (faults === undefined ? `${kind}: not of Kubernetes` : kind)).toSorted(),
    [
      'ConfigMap',
      'ConfigMap',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PrometheusRule: not of Kubernetes',
      'Service',
      'Service',
      'ServiceMonitor: not of Kubernetes',
      'StatefulSet',
    ],
  )
  const stateful = manifests.find(({ kind }) => kind === 'StatefulSet')!
  const planted = check({ ...stateful, spec: { ...stateful.spec, replicaz: 2, replicas: 'two' } })
  assert.equal(planted?.length, 2, `negative control: ${planted}`)
})

test('the pod gets the file, the ports and the time that the process may take to stop', {
  skip: skipWithout('helm'),
}, (t) => {
  const manifests = rendered([...complete(tempFolder(t)), '--set', 'drainDelayMs=7500,ports.operations=9200'])
  const text = JSON.stringify(manifests.find(({ kind }) => kind === 'StatefulSet'))
  for (const part of [
    '"terminationGracePeriodSeconds":33',
    '{"name":"BDS_HTTP__DRAIN_DELAY_MS","value":"7500"}',
    '{"name":"BDS_SHUTDOWN_GRACE_MS","value":"20000"}',
    '{"name":"BDS_OPS__PORT","value":"9200"}',
    '{"name":"prometheus","containerPort":9200}',
  ])
    assert.ok(text.includes(part), part)
  const config = manifests.find(({ kind }) => kind === 'ConfigMap') as Manifest & {
    readonly data: Readonly<Record<string, string>>
  }
  assert.equal(config.data['bds.toml']!.trim(), pageOf('deploy/compose/bds.example.toml').trim())
})

test('the chart carries every alert, its runbook below the address that is given', {
  skip: skipWithout('helm'),
}, (t) => {
  const base = 'https://git.example.org/bds/'
  const rule = rendered([
    ...complete(tempFolder(t)),
    ...EVERYTHING,
    '--set',
    `alerts.runbookBase=${base}`,
  ]).find(({ kind }) => kind === 'PrometheusRule')!
  const urls = [...JSON.stringify(rule).matchAll(/"runbook_url":"([^"]*)"/g)].map(([, url]) => url!)
  assert.ok(urls.length > 30)
  assert.deepEqual(
    urls.filter((url) => !url.startsWith(`${base}docs/runbook.md#`)),
    [],
  )
})

test('the chart refuses to be installed without a configuration or a secret', {
  skip: skipWithout('helm'),
}, (t) => {
  const [file, config, set, secret] = complete(tempFolder(t))
  for (const args of [
    [file!, config!],
    [set!, secret!],
  ])
    assert.notEqual(helm('template', 'bds', chart, ...args).status, 0)
})
