import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { skipWithout } from '../../support/installedProgram.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { inStep, type ServiceWorld, serveWorld } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'

interface Told {
  readonly code: number | null
  /** The line that begins with these words, or what doctor said at all. */
  line(what: string): string
}

async function doctor(
  t: TestContext,
  file: string,
  environment: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): Promise<Told> {
  const { exited, stdout, stderr } = startBds(t, ['doctor', '--config', file], environment, launcher)
  const { code } = await exited
  const all = [...stdout, ...stderr].join('\n')
  return { code, line: (what) => stdout.find((text) => text.slice(6).startsWith(`${what}:`)) ?? all }
}

/** Answers `latest` as a chain would whose newest block is this one; other blocks are as they are. */
function showHead(
  { rpc }: ServiceWorld,
  networkId: number,
  head: { readonly number?: number; readonly timestampSec: number },
) {
  const hex = (value: number) => `0x${value.toString(16)}`
  const { endpoint } = rpc.get(networkId)!
  const newest = endpoint.network.blocks.at(-1)!
  const value = {
    number: hex(head.number ?? newest.number),
    timestamp: hex(head.timestampSec),
    hash: newest.hash,
    parentHash: newest.parentHash,
    logsBloom: `0x${'00'.repeat(256)}`,
    transactions: [],
  }
  endpoint.fail({
    type: 'result',
    value,
    methods: ['eth_getBlockByNumber'],
    when: ({ params }) => params[0] === 'latest',
  })
}

const nowSec = () => Math.floor(Date.now() / 1_000)

test('doctor tells another chain, an address without a contract, a data folder that is a file, and an address of another machine', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const { line, code } = await doctor(t, configFile('data'), {
    BDS_NETWORKS__1__CHAIN_ID: '4711',
    BDS_NETWORKS__2__BRIDGE: `0x${'12'.repeat(20)}`,
    BDS_DATA_DIR: '/etc/hostname',
    BDS_HTTP__HOST: '192.0.2.1',
    BDS_HTTP__PORT: '1',
  })
  assert.match(line('1-a, chain id'), /^FAIL .*, configured is 4711$/)
  assert.match(line('2-a, contracts'), /^FAIL .*no contract at bridge 0x1212/)
  assert.match(line('data folder'), /^FAIL .*\/etc\/hostname is a file$/)
  assert.match(line('http.port'), /^FAIL .*the address is not one of this machine$/)
  assert.equal(code, 1)
})

test('doctor warns of narrow windows of logs, of state that is not kept, and of a clock that is slow or fast', async (t) => {
  const served = await serveWorld(t, buildSmallWorld().world)
  served.rpc.get(0)!.endpoint.fail({ type: 'range', limit: 2 })
  const pruned = { code: -32_000, message: 'missing trie node' }
  served.rpc.get(1)!.endpoint.fail({ type: 'error', ...pruned, methods: ['eth_getBalance'] })
  showHead(served, 1, { number: 20_000, timestampSec: nowSec() + 3_600 })
  showHead(served, 2, { timestampSec: nowSec() - 86_400 })
  const { line, code } = await doctor(t, served.configFile('data'))
  assert.match(line('0-a, range of logs'), /^warn .*2 blocks at once, fewer than log_range/)
  assert.match(line('1-a, old state'), /^warn .*no archive node/)
  assert.match(line('1-a, clock'), /^warn .*dated \d+ (?:min|h .*) from now: this machine's clock is slow/)
  assert.match(line('2-a, clock'), /^warn .*is 1 d 0 h old: .* or this machine's clock is fast$/)
  if (code !== 0) assert.fail(line('nothing'))
})

test('doctor tells a file of an address that has two lines, and all other mistakes of the configuration with it', async (t) => {
  const secret = join(tempFolder(t), 'layer2.url')
  writeFileSync(secret, 'http://127.0.0.1:1/key\nhttp://127.0.0.1:2/key\n')
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const { line, code } = await doctor(t, configFile('data'), {
    BDS_NETWORKS__1__RPC: JSON.stringify([{ url_file: secret }]),
    BDS_NETWORKS__0__RPC: 'https://layer1.example.org',
    BDS_HTTP__PORT: '99999',
  })
  assert.match(line('configuration'), /^FAIL .*3 mistakes in the configuration$/)
  const told = line('nothing')
  for (const mistake of [
    `network 1: rpc endpoint 0: url_file ${secret} has more than one line`,
    'network 0: rpc endpoint 0 is an example',
    'http.port is 99999',
  ])
    assert.ok(told.includes(mistake), `${mistake} in ${told}`)
  assert.equal(code, 1)
})

test('doctor tells a port that another program has, and knows that of a running service', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => void other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { readonly port: number }
  const taken = await doctor(t, configFile('data'), { BDS_HTTP__PORT: String(port) })
  assert.match(taken.line('http.port'), /^FAIL .*the port is taken by another process$/)
  assert.match(taken.line('ops.port'), /^ok .*any free port$/)

  const file = configFile('data')
  const service = await startService(t, file)
  await inStep(service, world)
  const ports = { BDS_HTTP__PORT: new URL(service.url).port, BDS_OPS__PORT: new URL(service.opsUrl).port }
  const beside = await doctor(t, file, ports)
  for (const section of ['http', 'ops'])
    assert.match(beside.line(`${section}.port`), /^ok .* is taken by a running bds$/)
  assert.equal(beside.code, 0)
  const second = await doctor(t, configFile('second'), ports)
  assert.match(second.line('http.port'), /^FAIL .*the port is taken by another process$/)
})

test('doctor tells a disk that is nearly full', { skip: skipWithout('unshare', 'mount') }, async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const disk = tempFolder(t)
  const { line, code } = await doctor(t, configFile('data'), { BDS_DATA_DIR: disk }, [
    ...['unshare', '--mount', '--map-root-user', 'sh', '-c'],
    ...[`mount -t tmpfs -o size=48m tmpfs ${disk} && exec "$@"`, 'sh'],
  ])
  assert.match(line('LMDB in the data folder'), /^FAIL .*no space left for .* 64 MiB kept in reserve$/)
  assert.match(line('data folder'), /^warn .*, 0 GiB free$/)
  assert.equal(code, 1)
})
