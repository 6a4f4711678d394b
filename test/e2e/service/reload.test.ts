import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { buildLoneWorld } from '../../support/fakeChainScenario.js'
import { serveFakeNetwork } from '../../support/fakeEndpoint.js'
import { startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { until } from '../../support/until.js'

test('SIGHUP takes over endpoints, limits and the log level without an answer lost, and names what needs a restart', async (t) => {
  const { world, rpc, configFile } = await serveWorld(t, buildLoneWorld())
  const file = configFile('data')
  // The policy that a client is told is that of one bucket, and each front thread has one.
  const service = await startService(t, file, ['--http-threads', '1'])
  await inStep(service, world)
  const other = await serveFakeNetwork(world.network(0))
  t.after(() => other.close())

  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text
      .replace(rpc.get(0)!.url, `${other.url}/very-secret-key`)
      .replace(
        'level = "debug"',
        'level = "info"\n[rate_limit]\ntokens_per_second = 1000000\nburst = 2000000',
      )
      .replace('drain_delay_ms = 0', 'drain_delay_ms = 0\nmax_url_bytes = 100'),
  )
  service.child.kill('SIGHUP')
  const lines = await until(
    async () => service.stderr.map((line) => JSON.parse(line) as Record<string, unknown>),
    (all) => all.some(({ msg }) => msg === 'configuration reloaded'),
    'the line of the reload',
  )
  const fieldsOf = (text: string) => lines.find(({ msg }) => msg === text)
  assert.deepEqual(fieldsOf('configuration reloaded')?.changed, [
    'rate_limit.tokens_per_second',
    'rate_limit.burst',
    'log.level',
    'network 0: rpc',
  ])
  assert.deepEqual(fieldsOf('some changes of the configuration need a restart')?.need_restart, [
    'http.max_url_bytes',
  ])

  // Refused, so that no shared cache may have the answer: it tells the client's bucket.
  const { headers } = await service.get('/bridge/v1/claims?network_id=0&page_size=0')
  assert.equal(headers.get('ratelimit-policy'), '"address";q=2000000;w=2')
  const { requests: askedBefore } = rpc.get(0)!.endpoint
  const count = askedBefore.length
  world.network(0).mineEmpty(3)
  await inStep(service, world)
  assert.equal(askedBefore.length, count, 'nobody asks the old endpoint')
  assert.ok(other.endpoint.requests.length > 0)
  assert.ok(!service.stderr.join('\n').includes('very-secret'))
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})
