import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimedWordPosition } from '../../../../src/protocol/claimedBitMap.js'
import { decodeHex, encodeHex } from '../../../../src/protocol/hex.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import type { CurrentMapping } from '../../../../src/shard/contractState.types.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { account, claimedBitMap, localExitRootOf, wrappedToken } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'
import { RandomWorld } from '../../../support/randomWorld.js'

const L1 = asNetworkId(0)

for (const seed of [1, 2, 3])
  test(`claims, injections and emergencies of a random world equal the state of its contracts, seed ${seed}`, (context) => {
    const random = new RandomWorld(seed)
    for (let i = 0; i < 250; i++) random.step()
    const { world } = random
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll()
    let claims = 0
    for (const networkId of world.networkIds) {
      const { state } = world.network(networkId).head
      const { contractState } = indexed.writer(networkId)
      for (const sourceNetwork of world.networkIds.map(asNetworkId))
        for (const word of [0, 1]) {
          const position = BigInt(claimedWordPosition(networkId, { sourceNetwork, word }))
          if (networkId === 0 && sourceNetwork === 0) continue
          const expected = claimedBitMap(networkId, state, position)
          assert.equal(
            contractState.claimedWord({ sourceNetwork, word }),
            expected,
            `${networkId} ${sourceNetwork}`,
          )
          if (expected === 0n) continue
          claims++
          assert.ok(contractState.claimSources().includes(sourceNetwork))
          assert.ok(contractState.claimedWordsFrom(sourceNetwork, 0).includes(word))
        }
      assert.equal(contractState.isEmergency(), state.emergency)
      const mappings: CurrentMapping[] = []
      for (let below = Number.POSITIVE_INFINITY; ; ) {
        const page = contractState.currentMappings(below, 2)
        mappings.push(...page)
        if (page.length < 2) break
        below = page.at(-1)!.ordinal
      }
      for (const { originNetwork, originTokenAddress, wrappedTokenAddress } of mappings)
        assert.equal(
          encodeHex(wrappedTokenAddress),
          wrappedToken(state, originNetwork, encodeHex(originTokenAddress)),
        )
      const tokens = state.tokenMappings.map((each) => `${each.originNetwork} ${each.originTokenAddress}`)
      const named = new Set(tokens.filter((name) => !/ 0x0+$/.test(name)))
      assert.equal(mappings.length, named.size)
      const { blocks } = world.network(networkId)
      const changed = contractState.lastRootChange()
      if (changed !== undefined)
        assert.notEqual(
          localExitRootOf(blocks[changed - 1]!.state),
          localExitRootOf(state),
          `block ${changed}`,
        )
      if (networkId === 0) continue
      assert.equal(encodeHex(contractState.insertionChain()), state.injectionHashChain)
      for (const leaf of world.network(0).head.state.l1InfoLeaves) {
        const isKnown = state.globalExitRoots.has(leaf.globalExitRoot)
        assert.equal(contractState.isGerInForce(decodeHex(leaf.globalExitRoot)!), isKnown)
      }
    }
    assert.ok(claims > 0, 'some words have claims')
  })

test('claimed words are right across stored chunks, and follow a reorg', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, l2] = [world.network(0), world.network(1)]
  l1.mine((block) => {
    for (let i = 0; i < 1_300; i++) block.tx({ from: account(1) }).deposit({ destinationNetwork: 1 })
  })
  const claim = (depositCount: number) =>
    l2.mine((block) => block.tx().claim({ deposit: l1.deposits()[depositCount]! }))
  for (const depositCount of [0, 255, 256, 1_019, 1_020, 1_023, 1_024, 1_299]) claim(depositCount)
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  const { contractState } = indexed.writer(1)
  const words = () =>
    Array.from({ length: 6 }, (_, word) => contractState.claimedWord({ sourceNetwork: L1, word }))
  const bit = (n: number) => 1n << BigInt(n)
  const expected = [bit(0) | bit(255), bit(0), 0n, bit(251) | bit(252) | bit(255), bit(0), bit(19)]
  assert.deepEqual(words(), expected)
  assert.deepEqual(contractState.claimSources(), [0])
  assert.deepEqual(contractState.claimedWordsFrom(L1, 2), [2, 3, 4, 5])
  l2.reorg({ depth: 1, blocks: 'empty' })
  indexed.syncAll({ withSenders: false })
  assert.deepEqual(words(), [...expected.slice(0, 5), 0n])
})

test('claims set far above all deposits have claimed words of their own, and counts between have none', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, l2] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  const [deposit] = l1.deposits()
  const far = [300, 1_234_567, 2 ** 32 - 1]
  for (const depositCount of far)
    l2.mine((block) =>
      block.tx().setClaim({ ...deposit!, depositCount, globalIndex: (1n << 64n) + BigInt(depositCount) }),
    )
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const { contractState } = indexed.writer(1)
  const words: number[] = []
  for (let page = contractState.claimedWordsFrom(L1, 0); page.length > 0; ) {
    words.push(...page)
    page = contractState.claimedWordsFrom(L1, page.at(-1)! + 1)
  }
  assert.ok(words.length < 15, `${words.length} words`)
  assert.deepEqual(
    words,
    [...new Set(words)].sort((a, b) => a - b),
  )
  for (const depositCount of far) {
    const word = Math.floor(depositCount / 256)
    assert.ok(words.includes(word), `word of ${depositCount}`)
    assert.equal(contractState.claimedWord({ sourceNetwork: L1, word }), 1n << BigInt(depositCount % 256))
  }
})

test('the last change of the exit root is a root that the chain showed, whatever one block cut and appended', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const l2 = world.network(1)
  const indexed = new IndexedWorld(context, world)
  const { contractState } = indexed.writer(1)
  const rootAt = (block: number) => localExitRootOf(l2.blocks[block]!.state)
  /** @returns how far below the head the block is. */
  const sync = () => {
    indexed.syncAll({ withSenders: false })
    const block = contractState.lastRootChange()
    if (block === undefined) return undefined
    assert.notEqual(rootAt(block - 1), rootAt(l2.head.number), `block ${block}`)
    return l2.head.number - block
  }
  const deposit = (count = 1) =>
    l2.mine((block) => {
      for (let i = 0; i < count; i++) block.tx().deposit({ amount: BigInt(l2.head.number) })
    })
  assert.equal(sync(), undefined)
  deposit()
  deposit(3)
  assert.equal(sync(), 0)
  // Cut and appended again: the root is the same as before.
  const again = (from: number) =>
    l2.mine((block) => {
      const leaves = l2.deposits().slice(from)
      block.tx().backwardLet(from)
      block.tx().forwardLet(leaves)
    })
  again(2)
  assert.equal(rootAt(l2.head.number), rootAt(l2.head.number - 1))
  assert.equal(sync(), 1)
  again(1)
  assert.equal(sync(), 3)
  deposit(2)
  assert.equal(sync(), 0)
  l2.mine((block) => block.tx().backwardLet(5))
  assert.equal(sync(), 1)
  again(3)
  l2.mineEmpty(1)
  again(0)
  assert.equal(sync(), undefined)
  deposit()
  assert.equal(sync(), 0)
})
