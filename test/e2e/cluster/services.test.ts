import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { openNatsServers } from '../../../src/cluster/nats/natsServers.js'
import { COMMAND_CODEC_VERSION } from '../../../src/log/commandCodec.js'
import { commandMessages } from '../../../src/log/commandMessages.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { systemClock } from '../../../src/telemetry/clocks.js'
import { createLogger } from '../../../src/telemetry/logger.js'
import type { FakeWorld } from '../../support/fakeChain.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { skipWithout } from '../../support/installedProgram.js'
import { type ServiceProcess, startBds, startService } from '../../support/serviceProcess.js'
import { inStep, modelDeposits, serveWorld, toldDeposits } from '../../support/serviceWorld.js'
import { until } from '../../support/until.js'
import { NatsProcesses, TEST_LIMIT_MS } from './natsProcesses.js'

const options = { skip: skipWithout('nats-server'), timeout: TEST_LIMIT_MS }
/** Networks are spread one by one, which takes a quarter of a minute each time. */
const spreadOptions = { ...options, timeout: 4 * TEST_LIMIT_MS }

interface Cluster {
  readonly nats: NatsProcesses
  readonly world: FakeWorld
  readonly files: readonly string[]
  start(at: number): Promise<ServiceProcess>
}

/** Three configurations that share one NATS server and the fake world. */
async function openCluster(context: TestContext, roles = ['any', 'any', 'any']): Promise<Cluster> {
  const nats = await NatsProcesses.start(context, 1)
  const { world, configFile } = await serveWorld(context, buildSmallWorld().world)
  const files = roles.map((role, at) => {
    const file = configFile(`instance-${at}`)
    const cluster = `[cluster]
servers = ["${nats.addresses[0]}"]
replicas = 1
max_log_bytes = 100000000
max_stale_ms = 3000
instance = "i${at}"
role = "${role}"
`
    writeFileSync(file, readFileSync(file, 'utf8').replace('[log]', `${cluster}\n[log]`))
    return file
  })
  return { nats, world, files, start: (at) => startService(context, files[at]!) }
}

/** Status, entity tag and text of every list, and of index and proof of every deposit. */
async function allAnswers({ url }: ServiceProcess, world: FakeWorld): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  const ask = async (path: string): Promise<string> => {
    const response = await fetch(url + path)
    const text = await response.text()
    answers[path] = { status: response.status, tag: response.headers.get('etag'), text }
    return text
  }
  await ask('/bridge/v1/token-mappings')
  for (const networkId of world.networkIds) {
    await ask(`/bridge/v1/bridges?network_id=${networkId}&page_size=2`)
    await ask(`/bridge/v1/bridges?network_id=${networkId}&page_size=1000`)
    await ask(`/bridge/v1/claims?network_id=${networkId}&page_size=1000`)
    for (const { depositCount } of world.network(networkId).deposits()) {
      const deposit = `network_id=${networkId}&deposit_count=${depositCount}`
      const found = JSON.parse(await ask(`/bridge/v1/l1-info-tree-index?${deposit}`)) as {
        l1_info_tree_index?: number
      }
      await ask(`/bridge/v1/claim-proof?${deposit}&leaf_index=${found.l1_info_tree_index ?? 0}`)
    }
  }
  return answers
}

async function leads({ opsUrl }: ServiceProcess): Promise<readonly number[]> {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
  return [...metrics.matchAll(/^bds_cluster_leads\{network_id="(\d+)"\} 1$/gm)].map(([, id]) => Number(id))
}

/** Waits until each network is led by exactly one, and none leads two more than another. Resolves to what each leads. */
function spread(services: readonly ServiceProcess[], world: FakeWorld): Promise<(readonly number[])[]> {
  const networkIds = world.networkIds.toSorted((a, b) => a - b)
  return until(
    () => Promise.all(services.map(leads)),
    (found) => {
      const counts = found.map(({ length }) => length)
      const led = found.flat().toSorted((a, b) => a - b)
      return led.join() === networkIds.join() && Math.max(...counts) - Math.min(...counts) < 2
    },
    'each network is led by exactly one, and they are spread',
    60_000,
  )
}

test(
  'three services of a cluster share its networks and give the same answers; when one is killed, the others lead what it led, and it comes back with its store',
  spreadOptions,
  async (context) => {
    const { world, files, start } = await openCluster(context)
    const services = [await start(0), await start(1), await start(2)]
    for (const service of services) await inStep(service, world)
    const [first, second, third] = await Promise.all(services.map((service) => allAnswers(service, world)))
    assert.deepEqual(second, first)
    assert.deepEqual(third, first)
    for (const networkId of world.networkIds)
      assert.deepEqual(await toldDeposits(services[2]!, networkId), modelDeposits(world, networkId))
    const [ledByFirst] = await spread(services, world)
    assert.ok(ledByFirst!.length > 0, 'the one that is killed leads something')
    assert.deepEqual(await Promise.all(services.map((service) => allAnswers(service, world))), [
      first,
      first,
      first,
    ])
    for (const { opsUrl } of services) assert.equal((await fetch(`${opsUrl}/readyz`)).status, 200)

    // What one has shown, another one does not deny.
    const path = '/bridge/v1/bridges?network_id=1'
    type Standing = { networks: { network_id: number; log_sequence: number; synced_block: number }[] }
    const { networks } = await services[0]!.read<Standing>('/bridge/v1/sync-status')
    const one = networks.find(({ network_id }) => network_id === 1)!
    const asked = await fetch(`${services[1]!.url}${path}&min_sequence=1:${one.log_sequence}`)
    assert.equal(asked.status, 200)
    assert.match(asked.headers.get('x-data-block')!, new RegExp(`(^|, )1=${one.synced_block}(,|$)`))
    assert.equal((await fetch(`${services[1]!.url}${path}&min_sequence=1:`)).status, 400)

    await services[0]!.kill('SIGKILL')
    world.network(1).mine((block) => block.tx().deposit())
    const others = services.slice(1)
    for (const service of others) await inStep(service, world)
    const [left, right] = await Promise.all(others.map((service) => allAnswers(service, world)))
    assert.deepEqual(right, left)
    await spread(others, world)

    const back = await start(0)
    await inStep(back, world)
    assert.deepEqual(await allAnswers(back, world), left)

    const all = [...others, back]
    const now = await spread(all, world)
    const given = startBds(context, ['cluster', 'step-down', '--config', files[0]!, '--network', '1'])
    assert.deepEqual(await given.exited, { code: 0, signal: null })
    await until(
      () => Promise.all(all.map(leads)),
      (found) =>
        found.flat().includes(1) &&
        found.findIndex((ids) => ids.includes(1)) !== now.findIndex((ids) => ids.includes(1)),
      'another instance leads network 1',
      30_000,
    )
    await spread(all, world)
    const told = startBds(context, ['cluster', 'status', '--config', files[0]!, '--json'])
    assert.deepEqual(await told.exited, { code: 0, signal: null })
    const { networks: rows } = JSON.parse(told.stdout.join('\n')) as {
      networks: { network_id: number; leads: string }[]
    }
    assert.deepEqual(
      rows.map(({ network_id, leads: name }) => [network_id, /^i\d [0-9a-f]{8}$/.test(name)]),
      world.networkIds.map((id) => [id, true]),
    )
    for (const service of [...others, back])
      assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
  },
)

test(
  'a command of a newer build stops the networks of all older instances in front of it, and they answer what is stored',
  options,
  async (context) => {
    const { nats, world, start } = await openCluster(context)
    const services = [await start(0), await start(1)]
    for (const service of services) await inStep(service, world)
    const before = await Promise.all(services.map((service) => allAnswers(service, world)))
    const { signal } = new AbortController()
    const settings = {
      servers: nats.addresses,
      name: 'newer',
      prefix: 'bds',
      replicas: 1 as const,
      maxLogBytes: 100_000_000,
    }
    const servers = openNatsServers(
      settings,
      systemClock,
      createLogger({ level: 'error', format: 'json', requests: 'off' }),
    )
    const log = await servers.openLogStream(asNetworkId(1), signal)
    const [payload] = commandMessages(new Uint8Array(16).fill(1), Uint8Array.of(COMMAND_CODEC_VERSION + 1, 0))
    const { last } = await log.bounds(signal)
    assert.equal(await log.publish({ id: 'newer', payload: payload! }, last, signal), 'stored')
    await servers.close()
    type Standing = { networks: { network_id: number; log_sequence: number; halted: string | null }[] }
    for (const [at, service] of services.entries()) {
      const one = async () =>
        (await service.read<Standing>('/bridge/v1/sync-status')).networks.find(
          ({ network_id }) => network_id === 1,
        )!
      await until(one, ({ halted }) => halted === 'newer_command', 'stands in front of it', 30_000)
      assert.equal((await one()).log_sequence, last)
      const health = await service.read<{ status: string; reasons: string[] }>('/')
      assert.deepEqual([health.status, health.reasons.includes('halted')], ['degraded', true])
      assert.deepEqual(await allAnswers(service, world), before[at])
      assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
      // All lines have been read by now.
      assert.equal(
        service.stderr.filter((line) => /4 is newer than 3, .* upgrade this instance/.test(line)).length,
        1,
      )
    }
  },
)

test(
  'a service with other settings than its log, and one whose store was indexed alone, are refused in one line with exit code 4',
  options,
  async (context) => {
    const { world, files, start } = await openCluster(context)
    await inStep(await start(0), world)
    const other = readFileSync(files[1]!, 'utf8').replaceAll('finality = "latest"', 'finality = "latest-1"')
    writeFileSync(files[1]!, other)
    const refused = startBds(context, ['run', '--config', files[1]!])
    assert.deepEqual(await refused.exited, { code: 4, signal: null }, refused.stderr.slice(-5).join('\n'))
    assert.match(
      refused.stderr.filter((line) => line.startsWith('bds: ')).join('\n'),
      /^bds: network \d is configured otherwise than its log: blocks below finality 1 \(in the log: 0\)$/,
    )

    const alone = readFileSync(files[2]!, 'utf8')
    writeFileSync(files[2]!, alone.replace(/^servers = .*$/m, 'servers = []'))
    const single = await start(2)
    await inStep(single, world)
    await single.kill('SIGTERM')
    writeFileSync(files[2]!, alone)
    const late = startBds(context, ['run', '--config', files[2]!])
    assert.deepEqual(await late.exited, { code: 4, signal: null })
    assert.match(late.stderr.at(-1)!, /was indexed without a cluster/)
  },
)

test(
  'a replica whose holder has ended serves what is stored, and reads no chain',
  options,
  async (context) => {
    const { world, start } = await openCluster(context, ['any', 'replica', 'replica'])
    const services = [await start(0), await start(1)]
    for (const service of services) await inStep(service, world)
    await services[0]!.kill('SIGTERM')
    const replica = services[1]!
    const { number } = world.network(1).head
    world.network(1).mine((block) => block.tx().deposit())
    // Longer than a lease lasts.
    await until(
      async () => (await fetch(`${replica.opsUrl}/metrics`)).text(),
      (metrics) => /^bds_rpc_down\{network_id="1"\} 1$/m.test(metrics),
      'the replica knows no head',
      30_000,
    )
    assert.deepEqual(await leads(replica), [])
    const { networks } = await replica.read<{ networks: { network_id: number; synced_block: number }[] }>(
      '/bridge/v1/sync-status',
    )
    assert.equal(networks.find(({ network_id }) => network_id === 1)!.synced_block, number)
  },
)

test(
  'without its servers an instance is not ready, answers what is stored, and goes on when they are back',
  options,
  async (context) => {
    const { nats, world, start } = await openCluster(context)
    const service = await start(0)
    await inStep(service, world)
    const before = await allAnswers(service, world)
    const readiness = async () => (await fetch(`${service.opsUrl}/readyz`)).text()
    await nats.kill(0)
    await until(readiness, (text) => /cluster/.test(text), 'not ready for its cluster', 30_000)
    assert.deepEqual(await allAnswers(service, world), before)
    world.network(1).mine((block) => block.tx().deposit())
    nats.start(0)
    await inStep(service, world)
    await until(readiness, (text) => !/cluster/.test(text), 'ready again', 30_000)
    assert.deepEqual(await toldDeposits(service, 1), modelDeposits(world, 1))
    assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
  },
)
