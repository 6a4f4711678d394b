import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeReader } from '../../src/board/statusBoard.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaimProof } from '../../src/shard/queries/getClaimProof.js'
import { ClaimableSearch } from '../../src/shard/readiness/claimableSearch.js'
import { readFeed } from '../../src/shard/snapshot/feedReads.js'
import type { FeedEvent } from '../../src/store/feed/feedEvent.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../src/store/shardStore.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { RandomWorld } from '../support/randomWorld.js'
import { TestNumbers } from '../support/testNumbers.js'

const SEEDS = 100
const ROUNDS = 12

/** What the API lists as ready, by destination: `source:deposit count` → index. */
function readyFor(indexed: IndexedWorld, destination: NetworkId): Record<string, number> {
  return indexed.ask((shards) =>
    Object.fromEntries(
      shards.networkIds
        .filter((networkId) => networkId !== destination)
        .flatMap((networkId) => {
          const page = { networkId, networkIds: [destination], pageNumber: 1, pageSize: 1000 }
          const answer = getBridges(shards, { ...page, readyForClaim: true })
          assert.ok(answer.ok)
          return [...answer.value.rows].map((row): [string, number] => [
            `${networkId}:${row.depositCount}`,
            row.l1InfoTreeIndex!,
          ])
        })
        .sort(),
    ),
  )
}

/** What a user of the feed of one network knows of what can be claimed there. */
class Follower {
  readonly claimable = new Map<string, number>()
  readonly standing = new Set<string>()
  position = 0

  /** @returns whether the lists must be read. */
  take(event: FeedEvent): boolean {
    switch (event.type) {
      case 'claimable':
        this.claimable.set(`${event.sourceNetwork}:${event.depositCount}`, event.l1InfoTreeIndex)
        break
      case 'unclaimable':
        assert.ok(this.claimable.delete(`${event.sourceNetwork}:${event.depositCount}`))
        break
      case 'claim':
        if (event.isInForce) this.claimable.delete(`${event.sourceNetwork}:${event.depositCount}`)
        break
      case 'start_over':
        this.claimable.clear()
        break
      case 'halted':
        this.standing.add(event.reason)
        break
      case 'resumed':
        this.standing.delete(event.reason)
        break
      case 'sync':
        return event.isHistory
    }
    return false
  }
}

test('what a user of the feeds takes for claimable is what the API lists as ready, under reorgs, starts over and new searches', async (context) => {
  let told = 0
  let unclaimable = 0
  let larger = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const source = new RandomWorld(seed)
    const numbers = new TestNumbers(seed + 1)
    const { world } = source
    const indexed = new IndexedWorld(context, world)
    const networks = world.networkIds.map(asNetworkId)
    const newSearch = (networkId: NetworkId) =>
      new ClaimableSearch(() => indexed.readers, networkId, changeReader(indexed.status))
    const searches = new Map(networks.map((networkId) => [networkId, newSearch(networkId)]))
    const followers = new Map(networks.map((networkId) => [networkId, new Follower()]))
    const stores = new Map(
      networks.map((networkId) => [
        networkId,
        openShardStoreReader(shardDirectory(indexed.config.dataDir, networkId)),
      ]),
    )
    for (let round = 0; round < ROUNDS; round++) {
      for (let steps = numbers.below(12); steps > 0; steps--) source.step()
      if (numbers.chance(0.3)) source.reorg()
      if (numbers.chance(0.05))
        indexed.writer(numbers.pick(networks)).startOver({ count: 1, notBeforeMs: undefined })
      // Some networks lag: what their deposits need may be known before the deposits.
      for (const networkId of networks) if (numbers.chance(0.8)) indexed.sync(networkId, { batchBlocks: 1 })
      indexed.searchRoots()
      for (const networkId of networks) {
        if (numbers.chance(0.1)) searches.set(networkId, newSearch(networkId))
        const search = searches.get(networkId)!
        for (let news = search.next(); news !== undefined; news = search.next())
          assert.equal(indexed.writer(networkId).apply({ type: 'noteClaimable', news }).type, 'applied')
        const follower = followers.get(networkId)!
        const store = stores.get(networkId)!
        store.refresh()
        const entries = readFeed(store, follower.position, 100_000)
        store.release()
        for (const { sequence, event } of entries) {
          follower.position = sequence
          if (event.type === 'claimable') told++
          if (event.type === 'unclaimable') unclaimable++
          // By the lists of the end, since nobody changes the shards meanwhile: what the feed says behind is in them already.
          if (!follower.take(event)) continue
          follower.claimable.clear()
        }
        const name = `seed ${seed}, round ${round}, network ${networkId}`
        if (follower.standing.size > 0) continue
        const ready = readyFor(indexed, networkId)
        if (entries.some(({ event }) => event.type === 'sync' && event.isHistory)) {
          follower.claimable.clear()
          for (const [deposit, index] of Object.entries(ready)) follower.claimable.set(deposit, index)
        }
        assert.deepEqual([...follower.claimable.keys()].sort(), Object.keys(ready), name)
        // A leaf that was told stays usable when a smaller one comes to be: one that was injected, or whose root was found, later.
        for (const [deposit, leafIndex] of follower.claimable) {
          if (leafIndex === ready[deposit]) continue
          larger++
          assert.ok(leafIndex > ready[deposit]!, `${name}: ${deposit}`)
          const [source, depositCount] = deposit.split(':').map(Number) as [number, number]
          const query = { networkId: asNetworkId(source), depositCount: asDepositCount(depositCount) }
          const index = asL1InfoTreeIndex(leafIndex)
          assert.ok(
            indexed.ask((shards) => getClaimProof(shards, { ...query, leafIndex: index })).ok,
            `${name}: ${deposit}`,
          )
        }
      }
    }
    for (const store of stores.values()) await store.close()
  }
  assert.ok(
    told > SEEDS * 3 && unclaimable > 5 && larger > 0,
    `${told} told, ${unclaimable} of them taken back`,
  )
})
