import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { BlockNumber } from '../../../src/protocol/units.js'
import { FeedUser, holdingsOf } from '../../support/feedUser.js'
import { withoutSenders } from '../../support/indexedBlocks.js'
import { RandomChain } from '../../support/randomChain.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { batchOf, openTestShard, type TestShard } from '../../support/testShard.js'

const SEEDS = 100
const STEPS = 40

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
    const follower = new FeedUser()
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
      assert.deepEqual(follower.holdings(), shard.read(holdingsOf), name)
    }
    rereads.push(follower.rereads)
    await shard.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  for (const what of ['blocks', 'reorg', 'catching up', 'start over'])
    assert.ok((done.get(what) ?? 0) > SEEDS / 2, `${what}: ${done.get(what)}`)
  assert.ok(rereads.filter((count) => count === 0).length > SEEDS / 10, 'some follow by the feed alone')
})
