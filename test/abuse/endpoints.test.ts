import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { until } from '../support/until.js'
import { hasEnded } from './abusedService.js'
import { watchMemory } from './underAttack.js'

const MIB = 2 ** 20
const BRACKETS = '['.repeat(64 * MIB)

/** So many have been read when one more is asked for. */
const ANSWERS = 2

for (const [what, methods, mostMib, isAtStart] of [
  ['a head', ['eth_getBlockByNumber'], 100, false],
  // Which contracts these are is asked for at the start.
  ['a call', ['eth_call'], 150, true],
  // A list of logs may be as long as this.
  ['a list of logs', ['eth_getLogs'], 300, false],
] as const)
  test(`an endpoint that answers ${what} with 64 MiB of "[" fills no memory, and its network goes on when the endpoint is well`, async (context) => {
    const { world, rpc, configFile } = await serveWorld(context, buildSmallWorld().world)
    const { endpoint } = rpc.get(1)!
    const harm = () => endpoint.fail({ type: 'http', status: 200, body: BRACKETS, methods })
    const atStart = isAtStart ? harm() : undefined
    const service = await startService(context, configFile('data'))
    if (!isAtStart) await inStep(service, world)
    const memory = watchMemory(service)
    const fault = atStart ?? harm()
    world.network(1).mine((next) => next.tx().deposit({ amount: 1n, destinationNetwork: 0 }))
    await until(
      () => fault.fired,
      (fired) => fired > ANSWERS,
      'such answers',
      90_000,
    )
    const moreMib = memory.stop() / MIB
    assert.ok(!hasEnded(service), service.stderr.slice(-3).join('\n'))
    console.log(`${what}: ${fault.fired} answers of 64 MiB, memory + ${moreMib.toFixed(0)} MiB`)
    assert.ok(moreMib <= mostMib, `${moreMib.toFixed(0)} MiB more memory`)
    endpoint.clearFaults()
    await inStep(service, world)
  })
