import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { keccak256, toFunctionSelector } from 'viem/utils'
import { InjectionAudit } from '../../../../src/indexer/audit/injectionAudit.js'
import { decodeHex } from '../../../../src/protocol/hex.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { headerOf, indexedBlock } from '../../../support/indexedBlocks.js'
import { createWatchedClient } from '../../../support/watchedClient.js'
import { openWatchedShard } from '../watchedShard.js'

const { signal } = new AbortController()

const HASH_CHAIN_GETTERS: readonly string[] = ['insertedGERHashChain()', 'removedGERHashChain()'].map(
  toFunctionSelector,
)

const ger = (n: number): Hex => keccak256(new Uint8Array([n]))

/** A layer 2 that stored the injected roots 0 … 4 of layer 1 except the hidden one; root 2 was removed again. */
function injectedRoots(
  hidden: number | undefined,
  { removes = false, keepsHashChains = true, silent = 0, isPolled = false } = {},
) {
  const network = createFakeWorld().network(1)
  for (let n = 0; n < 5; n++)
    network.mine((block) => block.tx().injectGer(ger(n), n < silent ? 'silent' : 'hashChain'))
  if (removes) network.mine((block) => block.tx().removeGer(ger(2)))
  const client = createWatchedClient(network)
  if (!keepsHashChains)
    client.endpoint.fail({
      type: 'error',
      code: 3,
      message: 'execution reverted',
      methods: ['eth_call'],
      when: ({ params: [call] }) => HASH_CHAIN_GETTERS.includes((call as { data: string }).data),
    })
  const shard = openWatchedShard(1)
  const blocks = network.blocks.map((block) => indexedBlock(network, block, false))
  const told = blocks.filter(({ header }) => header.number !== hidden)
  const head = headerOf(network.head)
  const zero = headerOf(network.blocks[0]!).number
  const batch = { fromBlock: zero, head, blocks: told, finalizedBlock: zero, undoFloor: zero }
  assert.equal(shard.apply({ type: 'applyBlocks', batch }).type, 'applied')
  const roots = Array.from({ length: 8 }, (_, n) => decodeHex(ger(n))!)
  const leaves = {
    read: (from: (tree: { epoch: number; leafCount: number }) => number) => {
      const tree = { epoch: 0, leafCount: roots.length }
      return { ...tree, globalExitRoots: roots.slice(from(tree)) }
    },
  }
  const { contractState } = shard
  const audit = new InjectionAudit({
    client,
    contractState,
    leaves,
    hasEvents: () => true,
    isPolled: () => isPolled,
  })
  const compare = () => audit.compare(head, signal)
  return { client, compare, head }
}

test('the hash chain of a sovereign manager proves all injections with one call', async () => {
  const { client, compare } = injectedRoots(undefined)
  assert.equal(await compare(), undefined)
  assert.deepEqual(
    client.calls.map(({ method }) => method),
    ['getGerHashChains'],
  )
})

test('an injection or a removal that is missing from the store is found by the map, for each kind of manager', async () => {
  for (const keepsHashChains of [true, false]) {
    const options = { keepsHashChains, removes: true }
    assert.equal(await injectedRoots(undefined, options).compare(), undefined, 'nothing left out')
    const { client, compare, head } = injectedRoots(4, options)
    const injection = await compare()
    assert.deepEqual([injection?.what, injection?.ours()], [`global exit root ${ger(3)}`, 'not in force'])
    assert.equal(await injection?.ask(client, head.number, signal), 'in force')
    const removal = await injectedRoots(6, options).compare()
    assert.deepEqual([removal?.what, removal?.ours()], [`global exit root ${ger(2)}`, 'in force'])
  }
})

test('roots that a manager learned before it had events are no reason to halt, roots missing since then are', async () => {
  for (const keepsHashChains of [true, false]) {
    const { compare } = injectedRoots(undefined, { keepsHashChains, silent: 2 })
    for (let look = 0; look < 3; look++) assert.equal(await compare(), undefined, `look ${look}`)
    const later = await injectedRoots(4, { keepsHashChains, silent: 2 }).compare()
    assert.equal(later?.what, `global exit root ${ger(3)}`)
  }
})

test('on a polled network a root that no sweep has seen yet is no reason to halt, whatever kind of manager it has now', async () => {
  for (const keepsHashChains of [true, false])
    assert.equal(await injectedRoots(4, { keepsHashChains, isPolled: true }).compare(), undefined)
})
