import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { CommitWatch, createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import type { Config, NetworkConfig } from '../../../../src/config/config.types.js'
import type { IndexerMessage } from '../../../../src/indexer/indexerMessages.js'
import { type IndexerHandle, startIndexer } from '../../../../src/indexer/thread/indexer.js'
import { readFeed } from '../../../../src/shard/snapshot/feedReads.js'
import { prepareStores } from '../../../../src/store/openStores.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../../../src/store/shardStore.js'
import { compileMerkleModule } from '../../../../src/wasm/wasmModule.js'
import type { FakeWorld } from '../../../support/fakeChain.js'
import { buildSmallWorld } from '../../../support/fakeChainScenario.js'
import { type FakeRpcServer, serveFakeNetwork } from '../../../support/fakeEndpoint.js'
import { account } from '../../../support/fakeState.js'
import { loadedConfig } from '../../../support/loadedConfig.js'
import { tempFolder } from '../../../support/tempFolder.js'

/** Fake networks with RPC servers, a store, and the threads that index them. */
class IndexedService {
  readonly config: Config
  readonly status
  readonly servers: ReadonlyMap<number, FakeRpcServer>
  readonly messages: IndexerMessage[] = []
  readonly #waiters: Array<{ matches: (message: IndexerMessage) => boolean; resolve: () => void }> = []
  #indexers: IndexerHandle[] = []

  static async start(t: TestContext, world: FakeWorld, overrides: Partial<NetworkConfig> = {}) {
    const servers = new Map<number, FakeRpcServer>()
    for (const id of world.networkIds) servers.set(id, await serveFakeNetwork(world.network(id)))
    const service = new IndexedService(t, world, servers, overrides)
    service.index()
    return service
  }

  private constructor(
    t: TestContext,
    world: FakeWorld,
    servers: ReadonlyMap<number, FakeRpcServer>,
    overrides: Partial<NetworkConfig>,
  ) {
    this.servers = servers
    const networks = [...servers].map(([id, { url }]) => world.network(id).config([url], overrides))
    const config = loadedConfig(tempFolder(t))
    // Four heartbeats in it.
    const health = { ...config.health, heartbeatTimeoutMs: 1_000 }
    this.config = { ...config, health, log: { level: 'error', format: 'json', requests: 'off' }, networks }
    this.status = createStatusBoard(world.networkIds)
    const guard = prepareStores(this.config)
    t.after(async () => {
      await this.stop()
      await guard.close()
      for (const server of servers.values()) await server.close()
    })
  }

  index(): void {
    const onMessage = (message: IndexerMessage) => {
      this.messages.push(message)
      for (const waiter of this.#waiters.filter(({ matches }) => matches(message))) {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        waiter.resolve()
      }
    }
    const { config, status } = this
    const options = { config, status, compiled: compileMerkleModule(), onMessage }
    this.#indexers = config.networks.map(({ networkId }) => startIndexer({ ...options, networkId }))
  }

  next(matches: (message: IndexerMessage) => boolean): Promise<void> {
    return new Promise((resolve) => this.#waiters.push({ matches, resolve }))
  }

  async caughtUp(): Promise<void> {
    for (const { networkId } of this.config.networks)
      if (!this.messages.some((message) => message.type === 'caughtUp' && message.networkId === networkId))
        await this.next((message) => message.type === 'caughtUp' && message.networkId === networkId)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#indexers.map((indexer) => indexer.stop()))
  }

  row(networkId: number) {
    return statusRow(this.status, networkId)
  }
}

/** Nice values of this process's threads: field 19 of `stat`, counted from field 3 after the name. */
function niceValues(): number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}

test('the threads that index yield to the threads that answer, and only they', async (t) => {
  const { world } = buildSmallWorld()
  const usual = niceValues()
  const service = await IndexedService.start(t, world)
  await service.caughtUp()
  const lowered = niceValues().filter((nice) => nice !== usual[0])
  await service.stop()
  assert.deepEqual(lowered, Array(world.networkIds.length).fill(10))
  assert.deepEqual(new Set(niceValues()), new Set(usual.slice(0, 1)))
})

test('threads index an L1 and two L2s from their endpoints, follow new blocks and a reorg, and stop', async (t) => {
  const { world } = buildSmallWorld()
  const service = await IndexedService.start(t, world)
  await service.caughtUp()
  for (const networkId of world.networkIds) {
    const network = world.network(networkId)
    assert.deepEqual(
      [service.row(networkId).get('depositCount'), service.row(networkId).get('claimCount')],
      [network.deposits().length, network.claims().length],
      `network ${networkId}`,
    )
    assert.equal(service.row(networkId).get('syncedBlock'), network.head.number)
    assert.ok(service.row(networkId).get('heartbeats') > 0)
  }

  const l1 = world.network(0)
  const committed = service.next((message) => message.type === 'progress' && message.networkId === 0)
  l1.mine((block) => block.tx({ from: account(8) }).deposit({ amount: 9n }))
  await committed
  assert.equal(service.row(0).get('depositCount'), l1.deposits().length)

  const reorged = service.next((message) => message.type === 'reorg')
  l1.reorg({ depth: 1 })
  await reorged
  await service.next((message) => message.type === 'progress' && message.networkId === 0)
  assert.equal(service.row(0).get('depositCount'), l1.deposits().length)

  await service.stop()
  assert.deepEqual(
    service.messages.filter(({ type }) => type === 'stopped' || type === 'died').map(({ type }) => type),
    ['stopped', 'stopped', 'stopped'],
  )
  const { depositCount: before } = { depositCount: service.row(0).get('depositCount') }
  service.messages.length = 0
  l1.mine((block) => block.tx().deposit())
  service.row(0).set('caughtUp', 0)
  service.index()
  await service.next((message) => message.type === 'caughtUp' && message.networkId === 0)
  assert.equal(service.row(0).get('depositCount'), before + 1, 'a restart goes on where it stopped')
})

test('a halt that another thread has found is told by the feed', async (t) => {
  const { world } = buildSmallWorld()
  const service = await IndexedService.start(t, world)
  await service.caughtUp()
  service.row(1).setHaltReason('corrupt_store')
  const store = openShardStoreReader(shardDirectory(service.config.dataDir, 1))
  t.after(() => store.close())
  const isTold = (): boolean => {
    store.refresh()
    const events = readFeed(store, 0, 100_000).map(({ event }) => event)
    store.release()
    return events.some((event) => event.type === 'halted' && event.reason === 'corrupt_store')
  }
  const watch = new CommitWatch(service.status)
  for (let seen = watch.count(); !isTold(); seen = watch.count())
    await new Promise<void>((resolve) => watch.onCommit(seen, resolve))
})

test('a thread that dies is reported with its error', async (t) => {
  const { world } = buildSmallWorld()
  const config = { ...loadedConfig(tempFolder(t)), networks: [] }
  const status = createStatusBoard(world.networkIds)
  const message = await new Promise<IndexerMessage>((onMessage) => {
    startIndexer({ config, networkId: 0, compiled: compileMerkleModule(), status, onMessage })
  })
  assert.deepEqual(message, { type: 'died', networkId: 0, message: 'network 0 is not configured' })
})
