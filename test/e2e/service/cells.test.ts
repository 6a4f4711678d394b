import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildLoneWorld, buildSmallWorld } from '../../support/fakeChainScenario.js'
import { PAUSE_ARGUMENTS, pause, runOn } from '../../support/pausedService.js'
import { fetchRaw, RawConnection, requestText } from '../../support/rawHttp.js'
import { type ServiceProcess, startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, serveWorld } from '../../support/serviceWorld.js'
import { until } from '../../support/until.js'
import { withoutPackages } from '../withoutPackages.js'
import { threadHooks } from './threadHooks.js'

const THREE = ['--http-threads', '3']
const LIST = '/bridge/v1/bridges?network_id=0'

const portOf = ({ url }: ServiceProcess): number => Number(new URL(url).port)

async function metricOf({ opsUrl }: ServiceProcess, series: string): Promise<number> {
  const lines = (await (await fetch(`${opsUrl}/metrics`)).text()).split('\n')
  return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length) ?? 0)
}

function linesOf(service: { readonly stderr: readonly string[] }): Record<string, unknown>[] {
  return service.stderr
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('an unexpected error of a front thread while it drains is told, and the exit code is 1', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const hooks = threadHooks(t)
  const slowDrain = ['--http-drain-delay-ms', '1500']
  const service = await startService(t, configFile('data'), [...THREE, ...slowDrain], hooks.environment)
  await inStep(service, world)
  const exit = service.kill('SIGTERM')
  hooks.breakDown(1)
  assert.deepEqual(await exit, { code: 1, signal: null })
  const told = service.stderr.find((line) => line.includes('shutdown failed'))
  assert.ok(told?.includes('front thread 2 ended: broken on purpose'), service.stderr.slice(-5).join('\n'))
})

test('three front threads share one port, each with a bucket of its own for a client, and metrics are their sums', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const limits = ['--rate-limit-tokens-per-second', '1', '--rate-limit-burst', '1000']
  // Then the probes that wait for the service take no tokens.
  limits.push('--rate-limit-trusted-proxies', '127.0.0.1')
  const service = await startService(t, configFile('data'), [...THREE, ...limits])
  await inStep(service, world)
  const listening = service.stdout.find((line) => line.startsWith('listening'))
  assert.match(listening!, /^listening on http:.*, 3 front threads with 1 query thread each\)$/)
  const started = await until(
    () => linesOf(service).find(({ msg }) => msg === 'service started'),
    (line) => line !== undefined,
    'the line of the start',
  )
  assert.deepEqual([started?.front_threads, started?.query_threads], [3, 3])

  const requests = 90
  const left: number[] = []
  for (let at = 0; at < requests; at++) {
    // A refusal: an answer that caches share tells of no bucket.
    const { status, headers } = await fetchRaw(portOf(service), 'GET', `${LIST}&page_size=0`)
    assert.equal(status, 400)
    left.push(Number(/r=(\d+)/.exec(headers.get('ratelimit')!)?.[1]))
  }
  // A bucket that is still full gives one of its 1,000 tokens to the first request that it sees.
  assert.equal(left.filter((tokens) => tokens === 999).length, 3, left.join(' '))
  assert.ok(Math.min(...left) > 1000 - requests, left.join(' '))
  const series = 'bds_http_requests_total{route="/bridge/v1/bridges",method="GET",status="400"}'
  await until(
    () => metricOf(service, series),
    (counted) => counted === requests,
    'all requests counted',
  )
  assert.equal(
    await metricOf(service, 'bds_http_request_duration_seconds_count{route="/bridge/v1/bridges"}'),
    requests,
  )
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('three front threads give the answers of one', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const one = await startService(t, configFile('one'), ['--http-threads', '1'])
  const three = await startService(t, configFile('three'), THREE)
  await inStep(one, world)
  await inStep(three, world)
  const expected = await everyAnswer(one, world)
  // Once uncached, then mostly from the caches of the front threads.
  for (let round = 0; round < 2; round++) assert.deepEqual(await everyAnswer(three, world), expected)
})

test('who asks on ever new connections never gets an older answer after a newer one', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const service = await startService(t, configFile('data'), THREE)
  await inStep(service, world)
  const chain = world.network(0)
  let isMining = true
  const mining = (async () => {
    for (let block = 0; block < 25; block++) {
      chain.mine((mined) => mined.tx().deposit({ amount: BigInt(block) }))
      await inStep(service, world)
    }
    isMining = false
  })()
  const totals: number[] = []
  while (isMining) {
    const { body } = await fetchRaw(portOf(service), 'GET', LIST)
    totals.push((JSON.parse(body) as { pagination: { total: number } }).pagination.total)
  }
  await mining
  assert.deepEqual(
    totals,
    totals.toSorted((a, b) => a - b),
  )
  assert.ok(new Set(totals).size > 3, totals.join(' '))
  const hits = await metricOf(service, 'bds_http_cache_hits_total{route="/bridge/v1/bridges"}')
  assert.ok(hits > 0, 'none of the answers came from a cache')
})

test('query threads that end, trap or run out of memory under load cost no front thread a request', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const hooks = threadHooks(t)
  // Without a cache, so that every request goes to a query thread. To fill a heap takes time.
  const service = await startService(
    t,
    configFile('data'),
    [...THREE, '--http-cache-bytes', '0', '--http-deadline-ms', '120000'],
    hooks.environment,
  )
  await inStep(service, world)
  const { body } = await fetchRaw(portOf(service), 'GET', LIST)
  let isOver = false
  const answers = Array.from({ length: 24 }, () => 0)
  const client = async (own: number): Promise<void> => {
    const connection = new RawConnection(portOf(service))
    while (!isOver) {
      const answer = await connection.send(requestText('GET', LIST)).response()
      assert.deepEqual([answer.status, answer.body], [200, body])
      answers[own]!++
    }
    connection.destroy()
  }
  const clients = Promise.all(answers.map((_, own) => client(own)))
  const restartsAre = (expected: number) =>
    until(
      () => metricOf(service, 'bds_pool_worker_restarts_total'),
      (restarts) => restarts === expected,
      `${expected} threads replaced`,
    )
  for (const [at, how] of (['exit', 'trap', 'exit', 'fill'] as const).entries()) {
    hooks.killQueryThread(how)
    await until(async () => hooks.isKilled(), Boolean, 'a query thread that dies')
    await restartsAre(at + 1)
    const before = [...answers]
    // A request whose thread has died is tried once more: the next death must not meet that.
    await until(
      async () => answers,
      (now) => now.every((count, own) => count > before[own]! + 3),
      'answers for every client after the death',
    )
  }
  isOver = true
  await clients
  assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('a front thread that hangs ends the process under its name, and until then main answers probes', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const hooks = threadHooks(t)
  const grace = ['--shutdown-grace-ms', '5000']
  const service = await startService(t, configFile('data'), [...THREE, ...grace], hooks.environment)
  await inStep(service, world)
  hooks.hang(1)
  const exit = service.exited
  for (let probe = 0; probe < 5; probe++)
    assert.equal(
      (await fetch(`${service.opsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) })).status,
      200,
    )
  // Nothing can end a thread that does not hear: its port is open.
  assert.deepEqual(await exit, { code: null, signal: 'SIGKILL' })
  assert.ok(
    service.stderr.includes('bds: front thread 2 has given no sign of life for 5000 ms'),
    service.stderr.slice(-5).join('\n'),
  )
})

test('a front thread that fails before its port is open keeps it closed, and ends the process under its name', async (t) => {
  const { configFile } = await serveWorld(t, buildLoneWorld())
  const hooks = threadHooks(t)
  // Carried out while the front thread starts: the start waits for it, or for the heads.
  hooks.breakDown(0)
  const args = ['run', '--config', configFile('data'), '--http-port', '0', '--ops-port', '0']
  const service = startBds(t, args, hooks.environment)
  assert.deepEqual(await service.exited, { code: 1, signal: null })
  assert.ok(
    service.stderr.includes('bds: front thread 1 ended: broken on purpose'),
    service.stderr.slice(-5).join('\n'),
  )
  assert.deepEqual(
    service.stdout.filter((line) => line.startsWith('listening')),
    [],
  )
})

test('a front thread that meets an unexpected error ends the process under its name, in order', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const hooks = threadHooks(t)
  const service = await startService(t, configFile('data'), THREE, hooks.environment)
  await inStep(service, world)
  hooks.breakDown(2)
  assert.deepEqual(await service.exited, { code: 1, signal: null })
  assert.ok(
    service.stderr.includes('bds: front thread 3 ended: broken on purpose'),
    service.stderr.slice(-5).join('\n'),
  )
  const told = linesOf(service).find(({ msg }) => msg === 'unexpected failure')
  assert.deepEqual([told?.front, (told?.error as Error | undefined)?.message], [3, 'broken on purpose'])
})

test('a paused service with three front threads finds none of them silent', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const service = await startService(t, configFile('data'), [...THREE, ...PAUSE_ARGUMENTS])
  await inStep(service, world)
  await pause(service)
  await runOn(service)
  assert.equal((await service.get(LIST)).status, 200)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('a port that another service of ours shares among its front threads is refused', async (t) => {
  const { configFile } = await serveWorld(t, buildLoneWorld())
  const first = await startService(t, configFile('first'), THREE)
  for (const threads of [THREE, ['--http-threads', '1']]) {
    const port = ['--http-port', String(portOf(first)), '--log-level', 'error']
    const second = startBds(t, ['run', '--config', configFile('second'), ...threads, ...port])
    assert.deepEqual(await second.exited, { code: 1, signal: null })
    assert.deepEqual(second.stderr, [
      `bds: can't listen on 127.0.0.1:${portOf(first)}: the port is taken by another process`,
    ])
  }
})

test('a second signal ends the process at once, with the ports of its front threads still open', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const service = await startService(t, configFile('data'), [...THREE, '--http-drain-delay-ms', '600000'])
  await inStep(service, world)
  void service.kill('SIGTERM')
  await until(
    async () => (await fetch(`${service.opsUrl}/readyz`)).status,
    (status) => status === 503,
    'a service that drains',
  )
  // Each front thread tells it, too: they read the same memory as main.
  for (let at = 0; at < 12; at++)
    assert.equal((await fetchRaw(portOf(service), 'GET', '/readyz')).status, 503)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 1, signal: null })
})

test('where only node:http loads, several front threads are refused with exit code 3 before anything is opened', async (t) => {
  const { configFile } = await serveWorld(t, buildLoneWorld())
  const file = configFile('data')
  const bds = startBds(
    t,
    ['run', '--config', file, ...THREE, '--log-level', 'error'],
    withoutPackages(t, 'uWebSockets.js'),
  )
  assert.deepEqual(await bds.exited, { code: 3, signal: null })
  assert.deepEqual(bds.stderr, [
    'bds: 1 mistake in the configuration',
    "  - http.threads is 3, but node:http can't share a port here",
  ])
  assert.equal(existsSync(join(file, '..', 'data')), false)
})
