import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { BlockNumber } from '../../../src/protocol/units.js'
import { readFeedPlace } from '../../../src/shard/position/feedPosition.js'
import { readFeed } from '../../../src/shard/snapshot/feedReads.js'
import type { FeedEvent } from '../../../src/store/feed/feedEvent.js'
import type { ReadView } from '../../../src/store/shardStore.types.js'
import { withoutSenders } from '../../support/indexedBlocks.js'
import { RandomChain } from '../../support/randomChain.js'
import { hex, readClaims, readDeposits, readMappings } from '../../support/shardContents.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { batchOf, openTestShard, type TestShard } from '../../support/testShard.js'

const SEEDS = 100
const STEPS = 40

/** Where a row's event stands, by which rows of the store and of the feed are compared. */
interface Row {
  readonly block: number
  readonly text: string
}

/** What a user of the feed keeps, and how: all that an event does to it, and nothing that only the store knows. */
class Follower {
  readonly bridges = new Map<number, Row>()
  /** Claims in force, by deposit. */
  readonly claims = new Map<string, Row>()
  /** By place of the event. */
  readonly mappings = new Map<string, Row>()
  /** Reads of the lists so far. */
  rereads = 0
  #position = 0

  /** Reads the feed on, a random number of events at a time. */
  follow(view: ReadView, numbers: TestNumbers): void {
    for (;;) {
      const { newest, oldest } = readFeedPlace(view)!
      if (this.#position + 1 < oldest) {
        this.#readLists(view, newest)
        continue
      }
      const [entry] = readFeed(view, this.#position, 1 + numbers.below(4))
      if (entry === undefined) return
      assert.equal(entry.sequence, this.#position + 1, 'no number is left out')
      this.#position = entry.sequence
      if (entry.event.type === 'sync' && entry.event.isHistory) this.#readLists(view, newest)
      else this.#take(entry.event)
    }
  }

  #take(event: FeedEvent): void {
    switch (event.type) {
      case 'bridge':
        this.bridges.set(event.depositCount, rowOf(event, [event.depositCount, hex(event.amount)]))
        break
      case 'claim': {
        const deposit = `${event.sourceNetwork}:${event.depositCount}`
        if (event.isInForce) this.claims.set(deposit, rowOf(event, [hex(event.globalIndex)]))
        else this.claims.delete(deposit)
        break
      }
      case 'token_mapping':
        this.mappings.set(
          `${event.blockNumber}:${event.logIndex}`,
          rowOf(event, [event.isCurrent, event.isRemoved, hex(event.wrappedTokenAddress.bytes)]),
        )
        break
      case 'reorg':
        for (const count of this.bridges.keys()) if (count >= event.depositCount) this.bridges.delete(count)
        if (event.isCut) break
        for (const rows of [this.claims, this.mappings])
          for (const [key, { block }] of rows) if (block > event.ancestor) rows.delete(key)
        break
      case 'start_over':
        for (const rows of [this.bridges, this.claims, this.mappings]) rows.clear()
        break
    }
  }

  /** As a user reads the lists of the API, and goes on from the position that they name. */
  #readLists(view: ReadView, newest: number): void {
    this.rereads++
    this.#position = newest
    for (const [rows, stored] of [
      [this.bridges, bridgesOf(view)],
      [this.claims, claimsOf(view)],
      [this.mappings, mappingsOf(view)],
    ] as readonly [Map<unknown, Row>, Map<unknown, Row>][]) {
      rows.clear()
      for (const [key, row] of stored) rows.set(key, row)
    }
  }
}

interface Place {
  readonly blockNumber: number
  readonly logIndex: number
  readonly transactionHash: Uint8Array | string
}

function rowOf({ blockNumber, logIndex, transactionHash }: Place, values: readonly unknown[]): Row {
  const hash = typeof transactionHash === 'string' ? transactionHash : `0x${hex(transactionHash)}`
  return { block: blockNumber, text: [blockNumber, logIndex, hash, ...values].join(' ') }
}

const word = (value: bigint) => value.toString(16).padStart(64, '0')

function bridgesOf(view: ReadView): Map<number, Row> {
  return new Map(
    readDeposits(view).map((row) => [row.depositCount, rowOf(row, [row.depositCount, word(row.amount)])]),
  )
}

function claimsOf(view: ReadView): Map<string, Row> {
  return new Map(
    readClaims(view)
      .filter(({ isInForce }) => isInForce)
      .map((row) => [`${row.sourceNetwork}:${row.depositCount}`, rowOf(row, [word(row.globalIndex)])]),
  )
}

function mappingsOf(view: ReadView): Map<string, Row> {
  return new Map(
    readMappings(view).map((row) => [
      `${row.blockNumber}:${row.logIndex}`,
      rowOf(row, [row.isCurrent, row.isRemoved, row.wrappedTokenAddress.slice(2)]),
    ]),
  )
}

const sorted = (rows: ReadonlyMap<unknown, Row>) =>
  Object.fromEntries([...rows].map(([key, { text }]) => [String(key), text]).sort())

/** Changes the shard somehow. @returns what was done. */
function step(shard: TestShard, chain: RandomChain, numbers: TestNumbers): string {
  const { writer } = shard
  const choice = numbers.below(100)
  if (choice < 70) {
    const from = chain.blocks.length
    for (let count = 1 + numbers.below(4); count > 0; count--) chain.grow(6)
    const blocks = chain.blocks.slice(from)
    writer.applyBlocks(batchOf(numbers.chance(0.5) ? blocks : blocks.map(withoutSenders)))
    return 'blocks'
  }
  if (choice < 90) {
    const ancestor = chain.blocks.length - numbers.below(Math.min(10, chain.blocks.length + 1))
    if (writer.checkpoint() === undefined) return 'nothing'
    writer.revertTo(ancestor as BlockNumber)
    chain.dropAbove(ancestor)
    return 'reorg'
  }
  if (choice < 97) {
    writer.noteCatchingUp(numbers.chance(0.4))
    return 'catching up'
  }
  writer.startOver({ count: 1, notBeforeMs: undefined })
  chain.dropAbove(0)
  return 'start over'
}

test('who follows the feed from any place holds what the tables hold, whenever everything was read', async () => {
  const done = new Map<string, number>()
  const rereads: number[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    const folder = mkdtempSync(join(tmpdir(), 'bds-test-'))
    const numbers = new TestNumbers(seed)
    const chain = new RandomChain(seed)
    // Every third one forgets events so early that a follower who is late must read the lists again.
    const keepEvents = seed % 3 === 0 ? 30 : 1_000_000
    let shard = openTestShard(folder, 1, undefined, keepEvents)
    const follower = new Follower()
    for (let count = 0; count < STEPS; count++) {
      const what = step(shard, chain, numbers)
      done.set(what, (done.get(what) ?? 0) + 1)
      if (numbers.chance(0.05)) {
        await shard.close()
        shard = openTestShard(folder, 1, undefined, keepEvents)
      }
      if (numbers.chance(0.4)) continue
      shard.read((view) => follower.follow(view, numbers))
      // While history is read, the feed says that nothing may be relied on.
      if (shard.status.get('catchingUp') === 1) continue
      const name = `seed ${seed}, step ${count}: ${what}`
      assert.deepEqual(sorted(follower.bridges), sorted(shard.read(bridgesOf)), name)
      assert.deepEqual(sorted(follower.claims), sorted(shard.read(claimsOf)), name)
      assert.deepEqual(sorted(follower.mappings), sorted(shard.read(mappingsOf)), name)
    }
    rereads.push(follower.rereads)
    await shard.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  for (const what of ['blocks', 'reorg', 'catching up', 'start over'])
    assert.ok((done.get(what) ?? 0) > SEEDS / 2, `${what}: ${done.get(what)}`)
  assert.ok(rereads.filter((count) => count === 0).length > SEEDS / 10, 'some follow by the feed alone')
})
