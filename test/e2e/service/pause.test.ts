import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildLoneWorld } from '../../support/fakeChainScenario.js'
import { PAUSE_ARGUMENTS, pause, runOn } from '../../support/pausedService.js'
import { startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'

test('a service that is paused at the tip finds no thread silent, stays ready and follows the chain', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const service = await startService(t, configFile('data'), PAUSE_ARGUMENTS)
  await inStep(service, world)
  for (let round = 0; round < 2; round++) {
    await pause(service)
    world.network(0).mine()
    await inStep(service, world)
  }
  await runOn(service)
  assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})
