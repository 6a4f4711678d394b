import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimedWordPosition } from '../../../src/protocol/claimedBitMap.js'
import { decodeHex, encodeHex } from '../../../src/protocol/hex.js'
import { createFakeWorld } from '../../support/fakeChain.js'
import { claimedBitMap } from '../../support/fakeChainGetters.js'
import { account } from '../../support/fakeChainTransaction.js'
import { IndexedWorld } from '../../support/indexedWorld.js'
import { RandomWorld } from '../../support/randomWorld.js'

for (const seed of [1, 2, 3])
  test(`claims, injections and emergencies of a random world are what its contracts say, seed ${seed}`, (context) => {
    const random = new RandomWorld(seed)
    for (let i = 0; i < 250; i++) random.step()
    const { world } = random
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll()
    let claims = 0
    for (const networkId of world.networkIds) {
      const { state } = world.network(networkId).head
      const { contractState } = indexed.writer(networkId)
      for (const sourceNetwork of world.networkIds)
        for (const word of [0, 1]) {
          const position = BigInt(claimedWordPosition(networkId, { sourceNetwork, word }))
          if (networkId === 0 && sourceNetwork === 0) continue
          const expected = claimedBitMap(networkId, state, position)
          assert.equal(
            contractState.claimedWord(sourceNetwork, word),
            expected,
            `${networkId} ${sourceNetwork}`,
          )
          if (expected !== 0n) claims++
          const below = contractState.claimSources().get(sourceNetwork) ?? 0
          assert.ok(BigInt.asUintN(256, expected) < 1n << BigInt(Math.max(0, below - 256 * word)))
        }
      assert.equal(contractState.isEmergency(), state.emergency)
      if (networkId === 0) continue
      assert.equal(encodeHex(contractState.insertionChain()), state.injectionHashChain)
      for (const leaf of world.network(0).head.state.l1InfoLeaves) {
        const isKnown = state.globalExitRoots.has(leaf.globalExitRoot)
        assert.equal(contractState.isGerInForce(decodeHex(leaf.globalExitRoot)!), isKnown)
      }
    }
    assert.ok(claims > 0, 'some words have claims')
  })

test('words are right across the stored chunks, and follow a reorg', (context) => {
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
  const words = () => Array.from({ length: 6 }, (_, word) => contractState.claimedWord(0, word))
  const bit = (n: number) => 1n << BigInt(n)
  const expected = [bit(0) | bit(255), bit(0), 0n, bit(251) | bit(252) | bit(255), bit(0), bit(19)]
  assert.deepEqual(words(), expected)
  assert.equal(contractState.claimSources().get(0), 1_300)
  l2.reorg({ depth: 1, blocks: 'empty' })
  indexed.syncAll({ withSenders: false })
  assert.deepEqual(words(), [...expected.slice(0, 5), 0n])
})
