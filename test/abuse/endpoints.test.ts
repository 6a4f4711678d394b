import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { until } from '../support/until.js'
import { hasEnded } from './abusedService.js'
import { watchMemory } from './underAttack.js'

const MIB = 2 ** 20
const BRACKETS = '['.repeat(64 * MIB)

for (const [what, methods, mostMib] of [
  ['a head', ['eth_getBlockByNumber'], 100],
  // A list of logs may be as long as this.
  ['a list of logs', ['eth_getLogs'], 300],
] as const)
  test(`an endpoint that answers ${what} with 64 MiB of "[" fills no memory, and its network goes on when the endpoint is well`, async (context) => {
    const { world, rpc, configFile } = await serveWorld(context, buildSmallWorld().world)
    const service = await startService(context, configFile('data'))
    await inStep(service, world)
    const memory = watchMemory(service)
    const { endpoint } = rpc.get(1)!
    const fault = endpoint.fail({ type: 'http', status: 200, body: BRACKETS, methods })
    world.network(1).mine((next) => next.tx().deposit({ amount: 1n, destinationNetwork: 0 }))
    await until(
      () => fault.fired,
      (fired) => fired > 0,
      'the endpoint was asked',
    )
    await delay(8_000)
    const moreMib = memory.stop() / MIB
    assert.ok(!hasEnded(service), service.stderr.slice(-3).join('\n'))
    console.log(`${what}: ${fault.fired} answers of 64 MiB, memory + ${moreMib.toFixed(0)} MiB`)
    assert.ok(moreMib <= mostMib, `${moreMib.toFixed(0)} MiB more memory`)
    endpoint.clearFaults()
    await inStep(service, world)
  })
