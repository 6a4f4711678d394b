import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventClient } from '../../support/eventClient.js'
import { buildLoneWorld } from '../../support/fakeChainScenario.js'
import { freePort } from '../../support/freePort.js'
import { type ServiceProcess, startService } from '../../support/serviceProcess.js'
import { inStep, type SyncStatus, serveWorld } from '../../support/serviceWorld.js'
import { until } from '../../support/until.js'

const statusOf = async (service: ServiceProcess) =>
  (await service.read<SyncStatus>('/bridge/v1/sync-status')).networks[0]!

test('a service that is alone tells by events why a network can not be relied on: once when it comes and once when it goes, over kill -9', async (context) => {
  const { world, rpc, configFile } = await serveWorld(context, buildLoneWorld())
  const network = world.network(0)
  const { endpoint } = rpc.get(0)!
  const port = await freePort()
  const file = configFile('data')
  const start = () => startService(context, file, ['--http-port', String(port)])
  let service = await start()
  await inStep(service, world)

  const told: string[] = []
  let client: EventClient | undefined
  let position = ''
  /** Reads on from where it was until the event has come. */
  const reads = async (wanted: string): Promise<void> => {
    client ??= await EventClient.open(port, '?types=halted,resumed', position)
    const { events } = client
    const seen = () => events.map(({ data }) => `${String(data.type)} ${String(data.reason)}`)
    await until(seen, (lines) => lines.includes(wanted), wanted, 60_000)
  }
  const keep = (): void => {
    told.push(...client!.events.map(({ data }) => `${String(data.type)} ${String(data.reason)}`))
    position = client!.lastEventId || position
    client!.close()
    client = undefined
  }
  const killAnd = async (act: () => void): Promise<void> => {
    keep()
    await service.kill('SIGKILL')
    act()
    service = await start()
  }

  // From now on.
  client = await EventClient.open(port, '?types=halted,resumed')
  network.rollback(3)
  await reads('halted behind')
  await killAnd(() => undefined)
  await until(
    () => statusOf(service),
    ({ reasons }) => reasons?.includes('behind') === true,
    'behind again',
    60_000,
  )
  network.mineEmpty(6)
  await reads('resumed behind')
  await inStep(service, world)

  // The log is hidden, and no bloom shows it, until the next deposit shows that one is missing.
  const hidden = network.head.number + 1
  endpoint.fail({ type: 'zeroBloom' })
  endpoint.fail({ type: 'hideLogs', match: { blockNumber: hidden } })
  network.mine((block) => block.tx().deposit())
  network.mine()
  await until(
    () => statusOf(service),
    ({ synced_block }) => synced_block > hidden,
    'the hidden block stored',
    60_000,
  )
  network.mine((block) => block.tx().deposit())
  const lied = await until(
    () => statusOf(service),
    ({ halted }) => halted !== null,
    'halted',
    90_000,
  )
  const reason = lied.halted!
  await reads(`halted ${reason}`)
  await killAnd(() => undefined)
  assert.equal((await statusOf(service)).halted, reason)
  const asked = endpoint.callCount('eth_getLogs')
  await until(
    () => endpoint.callCount('eth_getLogs'),
    (calls) => calls > asked + 5,
    'tried again',
    60_000,
  )
  assert.equal((await statusOf(service)).halted, reason)
  client = await EventClient.open(port, '?types=halted,resumed', position)
  await killAnd(() => endpoint.clearFaults())
  await reads(`resumed ${reason}`)
  await inStep(service, world)
  keep()
  const named = told.filter((line) => !line.endsWith(' catching_up'))
  assert.deepEqual(named, [...['halted behind', 'resumed behind', `halted ${reason}`, `resumed ${reason}`]])
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})
