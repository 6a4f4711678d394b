import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Hex } from 'viem'
import { metaKey } from '../../../src/store/layout/keys.js'
import { decodeCheckpoint } from '../../../src/store/layout/metaValues.js'
import { prepareStores } from '../../../src/store/openStores.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import type { FakeWorld } from '../../support/fakeChain.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { account, type FakeDeposit, tokenAddress, userContract } from '../../support/fakeState.js'
import { toHex } from '../../support/indexedBlocks.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

/**
 * The chains that the stores in `test/fixtures/schema4` were made from: the small world, and behind it what later schemas
 * store otherwise or besides: a local exit tree that was cut and grew again with a partly equal tail, claims set and unset by
 * an administrator, a claim of a deposit that was cut off, metadata of 6,000 bytes, remapped tokens, call-through senders.
 */
function buildWorldOfSchema4(): FakeWorld {
  const { world, ready, betweenRollups } = buildSmallWorld()
  const [l1, first, second] = [world.network(0), world.network(1), world.network(2)]
  const made: FakeDeposit[] = []
  const long: Hex = `0x${'ab'.repeat(6_000)}`
  first.mine((block) => {
    const tx = block.tx({ from: account(8), to: userContract(4) })
    for (const amount of [21n, 22n, 23n]) made.push(tx.deposit({ destinationNetwork: 2, amount }))
    tx.deposit({ destinationNetwork: 0, leafType: 1, metadata: long })
  })
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  second.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  second.mine((block) => block.tx({ from: account(9) }).claim({ deposit: made[2]! }))
  first.mine((block) => {
    const tx = block.tx({ from: account(1) })
    tx.backwardLet(made[0]!.depositCount + 1)
  })
  first.mine((block) => {
    const tx = block.tx({ from: account(1) })
    tx.forwardLet([made[1]!, { ...made[2]!, amount: 99n }])
  })
  second.mine((block) => block.tx({ from: account(1) }).setClaim(made[0]!))
  second.mine((block) => block.tx({ from: account(1) }).setClaim(betweenRollups, 'index'))
  second.mine((block) => block.tx({ from: account(1) }).unsetClaim(betweenRollups))
  first.mine((block) => block.tx({ from: account(3) }).claim({ deposit: ready }))
  first.mine((block) =>
    block.tx({ from: account(1) }).setSovereignToken(0, tokenAddress(1), tokenAddress(101)),
  )
  first.mine((block) => block.tx({ from: account(1) }).removeLegacyToken(tokenAddress(101)))
  for (const network of [l1, first, second]) network.mineEmpty(60 - network.blocks.length)
  return world
}

/** Unpacks the stores that a build of schema 4 made from `buildWorldOfSchema4` into a data folder. */
function unpackStoresOfSchema4(dataDir: string, networkIds: readonly number[]): void {
  for (const networkId of networkIds) {
    const directory = shardDirectory(dataDir, networkId)
    mkdirSync(directory, { recursive: true })
    const packed = readFileSync(join('test', 'fixtures', 'schema4', `${networkId}.mdb.gz`))
    writeFileSync(join(directory, 'data.mdb'), gunzipSync(packed))
  }
}

test('a store of schema 4 is refused by its version and left unchanged', async (context) => {
  const world = buildWorldOfSchema4()
  const networks = world.networkIds.map((networkId) =>
    world.network(networkId).config(['http://127.0.0.1:1']),
  )
  const config = { ...loadedConfig(tempFolder(context)), networks }
  unpackStoresOfSchema4(config.dataDir, world.networkIds)
  const file = join(shardDirectory(config.dataDir, 0), 'data.mdb')
  const before = readFileSync(file)
  assert.throws(() => prepareStores(config), {
    name: 'FatalError',
    message: `${shardDirectory(config.dataDir, 0)} has schema version 4, this build reads 5: bring it up to date with \`bds upgrade\`, or index again with \`bds reindex --network 0\``,
  })
  assert.deepEqual(readFileSync(file), before)
})

test('the stored schema 4 fixtures and the world that they were made from still have the same block hashes', async (context) => {
  const world = buildWorldOfSchema4()
  const folder = tempFolder(context)
  unpackStoresOfSchema4(folder, world.networkIds)
  for (const networkId of world.networkIds) {
    const store = openShardStoreWriter(shardDirectory(folder, networkId))
    context.after(() => store.close())
    const { number, hash } = decodeCheckpoint(store.get('meta', metaKey('checkpoint'))!)
    assert.equal(toHex(hash), world.network(networkId).blocks[number]!.hash, `network ${networkId}`)
  }
})
