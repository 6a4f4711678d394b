import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { chunkKey } from '../../../src/store/layout/keys.js'
import { DEPOSITS_PER_CHUNK } from '../../../src/store/layout/tables.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { type ServiceProcess, startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, serveWorld } from '../../support/serviceWorld.js'
import { storeSmallWorld } from './storedWorld.js'

async function bds(context: TestContext, ...args: string[]) {
  const { exited, stdout, stderr } = startBds(context, args)
  const { code } = await exited
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
}

function dataDirOf(configFile: string): string {
  return configFile.replace(/\.toml$/, '')
}

interface VerifyDocument {
  readonly is_good: boolean
  readonly networks: readonly {
    readonly network_id: number
    readonly block: number
    readonly checks: readonly { readonly name: string; readonly outcome: string; readonly detail: string }[]
  }[]
}

test("verify reports that a running service's store is whole and agrees with its contracts", async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const service = await startService(t, file)
  await inStep(service, world)
  const { code, stdout } = await bds(t, 'verify', '--config', file, '--deep', '--json')
  const { is_good, networks } = JSON.parse(stdout) as VerifyDocument
  assert.deepEqual([code, is_good], [0, true], stdout)
  for (const { network_id, block, checks } of networks) {
    assert.equal(block, world.network(network_id).head.number)
    assert.deepEqual(
      checks.filter(({ outcome }) => outcome !== 'good'),
      [],
    )
    const contract = checks.filter(({ name }) => name.startsWith('contract'))
    const expected = [
      ['contract', `getRoot() and depositCount() at block ${block}`],
      ...['claims', 'emergency', 'token mappings', ...(network_id === 0 ? [] : ['injections'])].map(
        (what) => [`contract ${what}`, `equal to the contract at block ${block}`],
      ),
    ]
    assert.deepEqual(
      contract.map(({ name, detail }) => [name, detail]),
      expected,
    )
  }
  assert.ok((await service.read<{ status: string }>('/')).status)
})

test('verify names the first damage of a store and ends with exit code 4', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const store = openShardStoreWriter(join(dataDirOf(file), '0'))
  store.transact((view) => {
    const key = chunkKey(0, DEPOSITS_PER_CHUNK)
    const chunk = new Uint8Array(view.get('deposits', key)!)
    chunk[87 + 31]! ^= 1
    view.put('deposits', key, chunk)
  })
  await store.close()
  const { code, stdout } = await bds(t, 'verify', '--config', file, '--offline')
  assert.equal(code, 4)
  assert.match(stdout, /^first damage: network 0, deposits: leaf of deposit 0: expected 0x\w+, found 0x\w+$/m)
  assert.match(stdout, /^ {2}ok {7}claims: /m)
})

test('verify --deep reports a stored claim that the contract does not have', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const { state } = world.network(1).head
  state.claims = new Map([...state.claims].slice(1))
  const { code, stdout } = await bds(t, 'verify', '--config', file, '--deep')
  assert.equal(code, 4)
  assert.match(
    stdout,
    /^first damage: network 1, contract claims: claims of deposits 0 and following of network 0/m,
  )
  assert.match(stdout, /the contract has 0x[0-9a-f]{64}, indexed 0x[0-9a-f]{64}$/m)
})

test('verify compares the store with the contract, and skips the comparison where no endpoint answers', async (t) => {
  const { rpc, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const store = openShardStoreWriter(join(dataDirOf(file), '1'))
  const whole = await bds(t, 'verify', '--config', file, '--network', '1')
  assert.deepEqual([whole.code, whole.stdout.split('\n').at(-1)], [0, 'no damage found'], whole.stderr)
  await store.close()
  await rpc.get(1)!.close()
  const alone = await bds(t, 'verify', '--config', file, '--network', '1')
  assert.equal(alone.code, 0, alone.stdout)
  assert.match(alone.stdout, /^ {2}skipped {2}contract: /m)
  assert.ok(!`${alone.stdout}${alone.stderr}`.includes('http://'), alone.stdout)
})

test('rewind and reindex remove data, and the next run gives the same answers again', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const first = await startService(t, file)
  await inStep(first, world)
  const answers = await everyAnswer(first, world)
  const inUse = await bds(t, 'rewind', '--config', file, '--network', '0', '--to-block', '3')
  assert.equal(inUse.code, 4)
  assert.match(inUse.stderr, /^bds: data_dir .* is in use by process \d+/)
  assert.equal((await bds(t, 'reindex', '--config', file, '--network', '0', '--yes')).code, 4)
  await first.kill('SIGTERM')

  const rewound = await bds(t, 'rewind', '--config', file, '--network', '0', '--to-block', '3')
  assert.equal(rewound.code, 0, rewound.stderr)
  assert.match(
    rewound.stdout,
    /^network 0 is back at (block 3|block [0-2], the newest stored block at or below 3|its beginning \(no block at or below 3 is stored\)); \d+ deposits and \d+ claims are left$/,
  )
  const again = await bds(t, 'rewind', '--config', file, '--network', '0', '--to-block', '9999')
  assert.match(again.stdout, /^network 0 is at (block [0-3]|its beginning): nothing to take back$/)
  assert.equal((await bds(t, 'verify', '--config', file, '--deep', '--offline')).code, 0)

  const unasked = await bds(t, 'reindex', '--config', file, '--network', '1')
  assert.deepEqual(
    [unasked.code, unasked.stderr],
    [2, "bds: standard input is not a terminal, so it can't ask: use --yes\nTry: bds --help"],
  )
  const shard = join(dataDirOf(file), '1')
  writeFileSync(join(shard, 'notes.txt'), 'mine')
  const foreign = await bds(t, 'reindex', '--config', file, '--network', '1', '--yes')
  assert.deepEqual(
    [foreign.code, foreign.stderr],
    [4, `bds: ${shard} holds notes.txt, not made by this service: nothing was removed`],
  )
  assert.equal(readFileSync(join(shard, 'notes.txt'), 'utf8'), 'mine')
  rmSync(join(shard, 'notes.txt'))
  const removed = await bds(t, 'reindex', '--config', file, '--network', '1', '--yes')
  assert.deepEqual(
    [removed.code, removed.stdout],
    [0, `removed ${shard}: the next bds run reads network 1 again`],
  )
  assert.equal(existsSync(shard), false)
  assert.equal((await bds(t, 'verify', '--config', file, '--network', '1')).code, 4)

  const second = await startService(t, file)
  await inStep(second, world)
  assert.deepEqual(await everyAnswer(second, world), answers)
})

test('after reindex a position of before is a 410 that names the feed as it is now; other networks go on behind theirs', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  /** Where the feeds are once all networks are in step: `network.feed:sequence`, by network. */
  const positionsOf = async (service: ServiceProcess): Promise<Map<string, string>> => {
    await inStep(service, world)
    const { headers } = await service.get('/bridge/v1/bridges?network_id=0')
    const positions = headers.get('x-feed-position')!.split(',')
    return new Map(positions.map((position) => [position.split('.')[0]!, position]))
  }
  const events = (service: ServiceProcess, query: string, headers = {}) =>
    fetch(`${service.url}/bridge/v1/events?${query}`, { headers, signal: AbortSignal.timeout(60_000) })
  const first = await startService(t, file)
  const before = await positionsOf(first)
  await first.kill('SIGTERM')
  assert.equal((await bds(t, 'reindex', '--config', file, '--network', '1', '--yes')).code, 0)

  const second = await startService(t, file)
  const after = await positionsOf(second)
  const feedOf = (position: string) => position.split(':')[0]
  assert.notEqual(feedOf(after.get('1')!), feedOf(before.get('1')!))
  const told = `events behind ${before.get('1')!} are not kept: the oldest is ${feedOf(after.get('1')!)!}:1, the current one is ${after.get('1')!}; read the lists again`
  const all = [...before.values()].join()
  for (const refused of [
    await events(second, `after=${before.get('1')!}`),
    await events(second, `after=${all}`),
    await events(second, '', { 'Last-Event-ID': all }),
  ])
    assert.deepEqual(
      [refused.status, await refused.json()],
      [410, { error: { code: 'POSITION_GONE', message: told } }],
    )
  for (const query of [`network_ids=0&after=${before.get('0')!}`, `after=${[...after.values()].join()}`]) {
    const { status, body } = await events(second, query)
    await body?.cancel()
    assert.equal(status, 200, query)
  }
})

test('rewind to a block that is not stored says at which lower block the network now stands', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const service = await startService(t, file)
  await inStep(service, world)
  const network = world.network(0)
  const stored = network.head.number
  network.mineEmpty(5)
  await inStep(service, world)
  await service.kill('SIGTERM')
  const rewindTo = (block: number) =>
    bds(t, 'rewind', '--config', file, '--network', '0', '--to-block', String(block))
  const between = await rewindTo(stored + 2)
  const told = `^network 0 is back at block ${stored}, the newest stored block at or below ${stored + 2}; `
  assert.match(between.stdout, new RegExp(told))
})

test('rewind below the undo floor says how far undo reaches and names reindex', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data', ['rollback_blocks = 2'])
  const service = await startService(t, file)
  await inStep(service, world)
  for (let block = 0; block < 4; block++) {
    world.network(0).mineEmpty(1)
    await inStep(service, world)
  }
  await service.kill('SIGTERM')
  const { code, stderr } = await bds(t, 'rewind', '--config', file, '--network', '0', '--to-block', '1')
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^bds: network 0 can't go back to block 1: undo reaches back to block \d+; `bds reindex --network 0` reads everything again$/,
  )
})

test('status shows every network of a running service, and ends with exit code 5 when no service runs', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  await inStep(service, world)
  const table = await bds(t, 'status', '--url', service.url)
  assert.equal(table.code, 0, table.stderr)
  const [ofNetworks, ofEndpoints] = table.stdout.split('\n\n')
  const [titles, ...rows] = ofNetworks!.split('\n')
  assert.match(
    titles!,
    /^network +head +indexed +final +lag +seconds +deposits +on chain, last compared +claims +senders open +state$/,
  )
  assert.equal(rows.length, world.networkIds.length)
  const head = world.network(0).head.number
  const deposits = world.network(0).deposits().length
  assert.match(rows[0]!, new RegExp(`^ +0 +${head} +${head} +\\d+ +0 +0 +${deposits} .* in sync$`))
  const endpoints = ofEndpoints!.trim().split('\n').slice(1)
  assert.deepEqual(
    endpoints.map((row) => row.trim().split(/ {2,}/)),
    world.networkIds.map((networkId) => [`${networkId}-a`, 'in use']),
  )
  const json = await bds(t, 'status', '--url', service.url, '--json')
  assert.equal((JSON.parse(json.stdout) as { networks: unknown[] }).networks.length, rows.length)
  await service.kill('SIGTERM')
  const gone = await bds(t, 'status', '--url', service.url)
  assert.deepEqual([gone.code, gone.stderr], [5, `bds: ${service.url} does not answer`])
})
