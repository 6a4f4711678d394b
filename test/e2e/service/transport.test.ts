import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, serveWorld } from '../../support/serviceWorld.js'
import { withoutPackages } from '../withoutPackages.js'

const TRANSPORT = new RegExp(`^node:http ${process.versions.node.replaceAll('.', '\\.')}$`)

test('where no native build of uWebSockets.js loads, node:http gives the same answers, and log, metrics and doctor say so', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const usual = await startService(t, configFile('usual'))
  await inStep(usual, world)
  const expected = await everyAnswer(usual, world)
  const file = configFile('other')
  const environment = withoutPackages(t, 'uWebSockets.js')
  const service = await startService(t, file, [], environment)
  await inStep(service, world)
  assert.deepEqual(await everyAnswer(service, world), expected)

  const lines = service.stderr.map((line) => JSON.parse(line) as Record<string, string>)
  const started = lines.find(({ msg }) => msg === 'service started')
  assert.match(started!.transport!, TRANSPORT)
  const warned = lines.find(
    ({ msg }) => msg === 'node:http answers in place of uWebSockets.js, and takes more CPU',
  )
  assert.equal(warned!.level, 'warn')
  assert.match(warned!.reason!, /^no native build of uWebSockets\.js runs on /)
  const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text()
  assert.match(/^bds_build_info\{.*transport="([^"]+)".*\} 1$/m.exec(metrics)![1]!, TRANSPORT)

  const doctor = startBds(t, ['doctor', '--config', file, '--offline'], environment)
  assert.deepEqual(await doctor.exited, { code: 0, signal: null }, doctor.stdout.join('\n'))
  assert.ok(
    doctor.stdout.some((line) =>
      /^warn {2}HTTP server: node:http .* no native build of uWebSockets\.js runs on /.test(line),
    ),
    doctor.stdout.join('\n'),
  )
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('http.transport = "node" takes node:http without a warning, and doctor checks what the configuration chooses', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const environment = { BDS_HTTP__TRANSPORT: 'node' }
  const service = await startService(t, file, [], environment)
  await inStep(service, world)
  const lines = service.stderr.map((line) => JSON.parse(line) as Record<string, string>)
  assert.match(lines.find(({ msg }) => msg === 'service started')!.transport!, TRANSPORT)
  assert.deepEqual(
    lines.filter(({ level }) => level === 'warn'),
    [],
  )
  const doctor = startBds(t, ['doctor', '--config', file, '--offline'], environment)
  await doctor.exited
  assert.ok(
    doctor.stdout.some((line) =>
      /^ok {4}HTTP server: node:http .*, which takes two to three times the CPU, as http\.transport says$/.test(
        line,
      ),
    ),
    doctor.stdout.join('\n'),
  )
  const refused = startBds(t, ['doctor', '--config', file, '--offline'], {
    ...withoutPackages(t, 'uWebSockets.js'),
    BDS_HTTP__TRANSPORT: 'uws',
  })
  assert.equal((await refused.exited).code, 1)
  assert.ok(
    refused.stdout.some((line) => /^FAIL {2}HTTP server: http\.transport is uws, but /.test(line)),
    refused.stdout.join('\n'),
  )
})
