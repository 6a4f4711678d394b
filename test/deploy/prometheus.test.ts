import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pageOf } from '../support/docsPages.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { freePort } from '../support/freePort.js'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
import { startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'
import { alertRules, dashboardExpressions, namesIn } from './monitoring.js'

/** Panels of these show nothing of a service that is well: it has no such series, or only series at 0, which the panel leaves out. */
const EVENTS = ['bds_sync_halted', 'bds_rpc_errors_total', 'bds_rpc_endpoint_resting']

interface Answer<Data> {
  readonly status: string
  readonly data: Data
}

/** Prometheus with the configuration of `deploy/`, but for the addresses, and a second instead of 15 between scrapes. */
async function startPrometheus(
  t: TestContext,
  target: string,
): Promise<<Data>(path: string) => Promise<Data>> {
  const folder = tempFolder(t)
  const port = await freePort()
  const config = pageOf('deploy/prometheus/prometheus.yml')
    .replace('bds:9091', target)
    .replace('alertmanager:9093', `127.0.0.1:${await freePort()}`)
    .replaceAll('15s', '1s')
  writeFileSync(join(folder, 'prometheus.yml'), config)
  copyFileSync(
    fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url)),
    join(folder, 'alerts.yml'),
  )
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const child = spawn(installedProgram('prometheus')!, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const exited = new Promise((resolve) => child.once('close', resolve))
  t.after(async () => {
    child.kill('SIGTERM')
    await exited
  })
  return async (path) => {
    assert.equal(child.exitCode, null, said)
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    const { status, data } = (await response.json()) as Answer<never>
    assert.equal(status, 'success', path)
    return data
  }
}

test('Prometheus scrapes the service by deploy/prometheus.yml, evaluates every rule, and has values for every panel', {
  skip: skipWithout('prometheus', 'promtool'),
}, async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  await inStep(service, world)
  const ask = await startPrometheus(t, service.opsUrl.replace('http://', ''))
  const query = <Data>(expr: string): Promise<{ readonly result: Data }> =>
    ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)
  await until(
    // The same page twice, so that the second one comes from the cache; rates need two scrapes.
    async () => {
      for (let i = 0; i < 2; i++) await service.get('/bridge/v1/bridges?network_id=1')
      const { result } = await query<readonly { readonly value: readonly [number, string] }[]>(
        'sum(rate(bds_http_cache_hits_total{job="bds"}[1m]))',
      ).catch(() => ({ result: [] }))
      return Number(result[0]?.value[1] ?? 0)
    },
    (rate) => rate > 0,
    'Prometheus sees the traffic',
  )
  const empty: string[] = []
  for (const { place, expr } of dashboardExpressions()) {
    const { result } = await query<readonly unknown[]>(expr)
    const isOfEvents = namesIn(expr).selectors.some(({ metric }) => EVENTS.includes(metric))
    if (result.length === 0 && !isOfEvents && place !== 'Starts') empty.push(`${place}: ${expr}`)
  }
  assert.deepEqual(empty, [])
  interface Rule {
    readonly name: string
    readonly health: string
    readonly lastError?: string
  }
  const rules = await until(
    async () => {
      const { groups } = await ask<{ readonly groups: readonly { readonly rules: readonly Rule[] }[] }>(
        '/api/v1/rules',
      )
      return groups.flatMap((group) => group.rules)
    },
    (all) => all.length > 0 && all.every(({ health }) => health !== 'unknown'),
    'every rule has been evaluated',
  )
  assert.deepEqual(
    rules.map(({ name, health, lastError = '' }) => `${name} ${health} ${lastError}`).toSorted(),
    alertRules()
      .map(({ alert }) => `${alert} ok `)
      .toSorted(),
  )
})

test('promtool takes the configuration with its rules', { skip: skipWithout('promtool') }, () => {
  const file = fileURLToPath(new URL('../../../deploy/prometheus/prometheus.yml', import.meta.url))
  const { status, stdout, stderr } = spawnSync(installedProgram('promtool')!, ['check', 'config', file], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
})
