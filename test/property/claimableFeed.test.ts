import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitWatch, changeReader, statusRow } from '../../src/board/statusBoard.js'
import { ClaimableTeller } from '../../src/indexer/sync/claimableTeller.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import { handOn } from '../../src/shard/proposer.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaimProof } from '../../src/shard/queries/getClaimProof.js'
import { ClaimableSearch } from '../../src/shard/readiness/claimableSearch.js'
import { readFeed } from '../../src/shard/snapshot/feedReads.js'
import type { FeedEvent } from '../../src/store/feed/feedEvent.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../src/store/shardStore.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { quietReport } from '../support/keepingLogger.js'
import { RandomWorld } from '../support/randomWorld.js'
import { TestNumbers } from '../support/testNumbers.js'
import { VirtualClock } from '../support/virtualClock.js'

const SEEDS = 100
const ROUNDS = 12
/** From the commit that causes an event until it stands in the feed, at most. */
const PROMISED_MS = 100
const never = new AbortController().signal

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
  /** Until the lists are read, which say of nothing that it is ready while something stands in the way, nothing is known. */
  mustReadLists = false
  position = 0

  take(event: FeedEvent): void {
    switch (event.type) {
      case 'claimable':
        if (this.mustReadLists) break
        assert.ok(!this.claimable.has(`${event.sourceNetwork}:${event.depositCount}`), 'told twice')
        this.claimable.set(`${event.sourceNetwork}:${event.depositCount}`, event.l1InfoTreeIndex)
        break
      case 'unclaimable':
        if (this.mustReadLists) break
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
        this.mustReadLists ||= event.isHistory
        break
    }
  }
}

/** The part of an indexer thread that tells its feed what can be claimed. */
class Telling {
  readonly #end = new AbortController()
  readonly #running: Promise<void>

  constructor(indexed: IndexedWorld, networkId: NetworkId, clock: VirtualClock) {
    const { status, readers } = indexed
    const teller = new ClaimableTeller({
      claimables: new ClaimableSearch(() => readers, networkId, changeReader(status)),
      proposer: handOn(indexed.writer(networkId)),
      commits: new CommitWatch(status),
      clock,
      report: quietReport(networkId, statusRow(status, networkId), clock, []),
      failed: (error) => {
        throw error
      },
    })
    this.#running = teller.run(this.#end.signal)
  }

  /** As at the end of the thread, wherever it is. */
  stop(): Promise<void> {
    this.#end.abort()
    return this.#running
  }
}

test('100 ms after the last commit, what a user of the feeds takes for claimable is what the API lists as ready, under reorgs, starts over and restarts, and nothing was told twice', async (context) => {
  let told = 0
  let unclaimable = 0
  let larger = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const source = new RandomWorld(seed)
    const numbers = new TestNumbers(seed + 1)
    const { world } = source
    const indexed = new IndexedWorld(context, world)
    const networks = world.networkIds.map(asNetworkId)
    const clock = new VirtualClock()
    const begin = (networkId: NetworkId) => new Telling(indexed, networkId, clock)
    const telling = new Map(networks.map((networkId) => [networkId, begin(networkId)]))
    // Mostly one commit follows the other at once.
    const pass = () => clock.sleep(numbers.pick([0, 0, 0, 1, 20, 70]), never)
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
      await pass()
      if (numbers.chance(0.05))
        indexed.writer(numbers.pick(networks)).startOver({ count: 1, notBeforeMs: undefined })
      // Some networks lag: what their deposits need may be known before the deposits.
      for (const networkId of networks) {
        if (numbers.chance(0.1)) {
          await telling.get(networkId)!.stop()
          telling.set(networkId, begin(networkId))
        }
        if (numbers.chance(0.8)) indexed.sync(networkId, { batchBlocks: 1 })
        await pass()
      }
      indexed.searchRoots()
      await clock.sleep(PROMISED_MS, never)
      for (const networkId of networks) {
        const follower = followers.get(networkId)!
        const store = stores.get(networkId)!
        store.refresh()
        const entries = readFeed(store, follower.position, 100_000)
        store.release()
        for (const { sequence, event } of entries) {
          follower.position = sequence
          if (event.type === 'claimable') told++
          if (event.type === 'unclaimable') unclaimable++
          follower.take(event)
        }
        const name = `seed ${seed}, round ${round}, network ${networkId}`
        if (follower.standing.size > 0) continue
        const ready = readyFor(indexed, networkId)
        if (follower.mustReadLists) {
          // The lists of the end: what the feed has said behind is in them already.
          follower.claimable.clear()
          for (const [deposit, index] of Object.entries(ready)) follower.claimable.set(deposit, index)
          follower.mustReadLists = false
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
    for (const each of telling.values()) await each.stop()
    for (const store of stores.values()) await store.close()
  }
  assert.ok(
    told > SEEDS * 3 && unclaimable > 5 && larger > 0,
    `${told} told, ${unclaimable} of them taken back`,
  )
})
