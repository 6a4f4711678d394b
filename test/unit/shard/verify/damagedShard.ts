import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { NetworkId } from '../../../../src/protocol/units.js'
import { verifyShard } from '../../../../src/shard/verify/verifyShard.js'
import { metaKey } from '../../../../src/store/layout/keys.js'
import { decodeCounters, encodeCounters } from '../../../../src/store/layout/metaValues.js'
import type { TableName } from '../../../../src/store/layout/tables.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import type { WriteView } from '../../../../src/store/shardStore.types.js'
import { compileMerkleModule, createHasher } from '../../../../src/wasm/wasmModule.js'
import { RandomChain } from '../../../support/randomChain.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, openTestShard } from '../../../support/testShard.js'
import { L1Chain } from '../l1Chain.js'

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

/** A shard with two cuts of the tree, unset claims, removed roots, and mappings that were replaced. */
function layer2() {
  const chain = new RandomChain(31)
  for (let blocks = 0; blocks < 40; blocks++) chain.grow(5)
  return chain.blocks
}

function layer1() {
  const chain = new L1Chain()
  chain.block(chain.addRollup(1), chain.addRollup(2, Buffer.alloc(32, 9)))
  for (let count = 0; count < 70; count++) chain.block(chain.deposit())
  chain.block(chain.settle(1, Buffer.alloc(32, 1)))
  chain.block(chain.unforcedDeposit())
  chain.block([
    ...chain.settle(2, Buffer.alloc(32, 2)),
    ...chain.deposit(),
    ...chain.settle(1, Buffer.alloc(32, 3)),
  ])
  return chain.blocks
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
