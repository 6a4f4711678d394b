import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildLoneWorld } from '../support/fakeChainScenario.js'
import { skipWithout } from '../support/installedProgram.js'
import { PAUSE_ARGUMENTS, pause, runOn } from '../support/pausedService.js'
import { type ServiceProcess, startBds, startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'

test('a service that is paused while it starts still catches up', async (t) => {
  const served = await serveWorld(t, buildLoneWorld())
  const file = served.configFile('data')
  const bds = startBds(t, ['run', '--config', file, ...PAUSE_ARGUMENTS])
  await until(
    () => existsSync(file.replace(/\.toml$/, '')),
    (isThere) => isThere,
    'the data folder',
  )
  await pause(bds)
  for (const networkId of served.world.networkIds)
    await bds.line(new RegExp(`^network ${networkId} has caught up`))
  await runOn(bds)
  assert.deepEqual(await bds.kill('SIGTERM'), { code: 0, signal: null })
})

test('a service that is paused in backfill catches up and finds no thread silent', async (t) => {
  const { world, rpc, configFile } = await serveWorld(t, buildLoneWorld())
  const { endpoint } = rpc.get(0)!
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  endpoint.fail({ type: 'hold', until: held, methods: ['eth_getLogs'], skip: 6 })
  const sixth = endpoint.nextCall('eth_getLogs', () => endpoint.callCount('eth_getLogs') >= 7)
  const service = await startService(t, configFile('data', ['log_range = 3']), PAUSE_ARGUMENTS)
  await sixth
  await pause(service)
  release()
  await inStep(service, world)
  await runOn(service)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('a pause while the service drains does not count toward its grace time', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const service = await startService(t, configFile('data'), [
    ...PAUSE_ARGUMENTS,
    '--http-drain-delay-ms',
    '1000',
  ])
  await inStep(service, world)
  const exit = service.kill('SIGTERM')
  await until(
    async () => (await fetch(`${service.opsUrl}/readyz`)).status,
    (status) => status === 503,
    'a service that drains',
  )
  await pause(service)
  assert.deepEqual(await exit, { code: 0, signal: null })
})

test('a wall clock that is set back and forth by hours and days ends nothing and changes no duration', {
  skip: skipWithout('faketime'),
}, async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const offset = join(tempFolder(t), 'offset')
  writeFileSync(offset, '+0')
  const library = execFileSync('faketime', ['-m', '-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' })
  const service = await startService(t, configFile('data'), PAUSE_ARGUMENTS, {
    LD_PRELOAD: library.trim(),
    FAKETIME_TIMESTAMP_FILE: offset,
    FAKETIME_CACHE_DURATION: '1',
    DONT_FAKE_MONOTONIC: '1',
  })
  await inStep(service, world)
  const begin = performance.now()
  for (const [text, hours] of [
    ['+1h', 1],
    ['-1h', -1],
    ['+1d', 24],
    ['-1d', -24],
    ['+0', 0],
  ] as const) {
    writeFileSync(offset, text)
    world.network(0).mine()
    // The date that is shown tells that the process has seen its clock set.
    await until(
      async () => {
        world.network(0).mine()
        const { bridge_sync } = await service.read<{ bridge_sync: { last_update: string } }>(
          '/bridge/v1/sync-status',
        )
        return Date.parse(bridge_sync.last_update) - Date.now()
      },
      (aheadMs) => Math.abs(aheadMs - hours * 3_600_000) < 60_000,
      `a clock that is ${hours} h off`,
    )
    await runOn(service)
    await assertWell(service, performance.now() - begin)
  }
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

/** The service is healthy and ready, and its uptime and progress are the time that has really passed. */
async function assertWell({ read, opsUrl }: ServiceProcess, runMs: number): Promise<void> {
  const { status, uptime } = await read<{ status: string; uptime: string }>('/')
  assert.equal(status, 'healthy')
  const [, hours, minutes, seconds] = uptime.match(/^(\d+)h(\d+)m(\d+)s$/) ?? assert.fail(uptime)
  const upMs = 1000 * (3600 * Number(hours) + 60 * Number(minutes) + Number(seconds))
  assert.ok(upMs >= runMs - 2_000 && upMs < runMs + 60_000, `${uptime} after ${runMs} ms`)
  assert.equal((await fetch(`${opsUrl}/readyz`)).status, 200)
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
  const idle = [...metrics.matchAll(/^bds_seconds_since_progress\{.*\} (\S+)$/gm)].map(([, text]) =>
    Number(text),
  )
  assert.equal(idle.length, 1)
  assert.ok(
    idle.every((each) => each >= 0 && each < 120),
    String(idle),
  )
}
