import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { IndexedBlock } from '../../../../src/protocol/chainEvent.js'
import type { NetworkId } from '../../../../src/protocol/units.js'
import { verifyShard } from '../../../../src/shard/verify/verifyShard.js'
import { metaKey } from '../../../../src/store/layout/keys.js'
import { decodeCounters, encodeCounters } from '../../../../src/store/layout/metaValues.js'
import type { TableName } from '../../../../src/store/layout/tables.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import type { WriteView } from '../../../../src/store/shardStore.types.js'
import { compileMerkleModule, createHasher } from '../../../../src/wasm/wasmModule.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { userContract } from '../../../support/fakeState.js'
import { indexedBlock, toHex } from '../../../support/indexedBlocks.js'
import { RandomChain } from '../../../support/randomChain.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, openTestShard } from '../../../support/testShard.js'

const hasher = createHasher(compileMerkleModule())
const everything = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }

/** Makes a whole shard, damages it, and returns what verification finds, as `check: detail`. */
export async function findDamage(
  context: TestContext,
  networkId: number,
  damage: (view: WriteView) => void,
  isDeep: boolean,
): Promise<string[]> {
  const folder = tempFolder(context)
  const shard = openTestShard(folder, networkId)
  const raw = openShardStoreWriter(shardDirectory(folder, networkId))
  try {
    shard.writer.applyBlocks(batchOf(networkId === 0 ? layer1() : layer2()))
    const verify = () =>
      shard
        .read((view) => [...verifyShard(view, networkId as NetworkId, hasher, isDeep)])
        .filter(({ isGood }) => !isGood)
        .map(({ name, detail }) => `${name}: ${detail}`)
    assert.deepEqual(verify(), [], 'before the damage')
    raw.transact(damage)
    return verify()
  } finally {
    await raw.close()
    await shard.close()
  }
}

/** A shard with several cuts of the tree, unset claims, removed roots, and mappings that were replaced. */
function layer2() {
  const chain = new RandomChain(11)
  for (let blocks = 0; blocks < 40; blocks++) chain.grow(5)
  return chain.blocks
}

function layer1(): IndexedBlock[] {
  const l1 = createFakeWorld({ networks: [] }).network(0)
  const root = (byte: number) => toHex(Buffer.alloc(32, byte))
  l1.mine((block) => {
    block.tx().createRollup(1, 1001)
    block.tx().addExistingRollup(2, 1002, root(9))
  })
  for (let count = 0; count < 70; count++) l1.mine((block) => block.tx().deposit())
  l1.mine((block) => block.tx().settle(1, root(1)))
  l1.mine((block) => block.tx().deposit({ forceUpdate: false }))
  l1.mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    tx.settle(2, root(2))
    tx.deposit()
    tx.settle(1, root(3))
  })
  return l1.blocks.slice(1).map((block) => indexedBlock(l1, block, true))
}

/** Changes one bit of an entry. */
export function flip(view: WriteView, table: TableName, key: Uint8Array, at: number, bit = 1): void {
  const value = new Uint8Array(view.get(table, key)!)
  value[at]! ^= bit
  view.put(table, key, value)
}

export function first(view: WriteView, table: TableName) {
  return view.list(table, { ...everything, limit: 1 })[0]!
}

export function count(change: Partial<ReturnType<typeof decodeCounters>>) {
  return (view: WriteView): void => {
    const counters = decodeCounters(view.get('meta', metaKey('counters')))
    view.put('meta', metaKey('counters'), encodeCounters({ ...counters, ...change }))
  }
}

/** A name, the network of the damaged shard, the finding that is expected, and how to damage it. */
export type Damage = readonly [
  what: string,
  networkId: number,
  found: RegExp,
  damage: (view: WriteView) => void,
]
