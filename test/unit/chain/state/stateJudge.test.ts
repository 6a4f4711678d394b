import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryableError } from '../../../../src/errors/chainErrors.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import type { Recipe } from '../../../support/fakeChain.js'
import type { Fault } from '../../../support/fakeEndpoint.js'
import { keepsFrom, refused, withStateChain } from '../openChain.js'

const { signal } = new AbortController()
const at = asBlockNumber
const open = { type: 'open' }
const refuted = { type: 'refuted' }
const otherBlock = { type: 'otherBlock' }
const proven = (answer: number) => ({ type: 'proven', answer })

/** Answers a deposit count of 9 at every block, and everything else truthfully. */
const liesAboutCounts: Fault = {
  type: 'result',
  value: `0x${'9'.padStart(64, '0')}`,
  methods: ['eth_call'],
  when: ({ params: [call] }) => /^0x2dfdf0b5/.test((call as { data: string }).data),
}
const noHashes: Fault = {
  ...refused('invalid argument 1', -32602),
  when: ({ params: [, tag] }) => typeof tag === 'object',
}

test('a gateway that answers with the newest state for any block is not believed, and is not asked for state again', async () => {
  for (const checks of ['nothing', 'block'] as const)
    await withStateChain(2, async ({ client, endpoints, lines }, judge) => {
      endpoints[0]!.fail({ type: 'newestState', checks })
      assert.equal(await client.getContractDepositCount(at(10), signal), 6, 'it is believed at first')
      assert.deepEqual(await judge(10), proven(5))
      endpoints[1]!.fail({ type: 'newestState', checks })
      assert.deepEqual(await judge(10), refuted)
      assert.deepEqual(await judge(10), open)
      assert.equal(await client.getContractDepositCount(at(10), signal), undefined)
      const told = lines.filter(({ text }) => text.includes('state of another block'))
      assert.equal(told.length, 2)
    })
})

test('an honest node is believed when its roots at two blocks differ, by block hash where older state is pruned, and at its head where it takes no hashes', async () => {
  await withStateChain(1, async ({ client, endpoints }, judge) => {
    const [endpoint] = endpoints
    assert.deepEqual(await judge(10), proven(5), 'two blocks')
    const silent = endpoint!.fail({
      ...refused('execution reverted', 3),
      when: ({ params: [call] }) => /^0x(5ca1e165|3ae05047)/.test((call as { data: string }).data),
    })
    assert.deepEqual(await judge(10), open, 'no roots, no word')
    assert.equal(await client.getContractDepositCount(at(10), signal), 5, 'which says nothing against it')
    silent.off()
    endpoint!.fail(keepsFrom(30))
    assert.deepEqual(await judge(35), proven(6), 'the hash')
    endpoint!.fail(noHashes)
    assert.deepEqual(await judge(35), open, 'nothing shows it')
    assert.deepEqual(await judge(40), proven(6), 'the head')
  })
})

test('an endpoint whose answer another one denies is not asked for state for a while, even if the other has no proof', async () => {
  for (const faults of [[], [keepsFrom(30), noHashes]])
    await withStateChain(2, async ({ client, endpoints, clock, lines }, judge) => {
      for (const fault of faults) endpoints[1]!.fail(fault)
      endpoints[0]!.fail(liesAboutCounts)
      const ask = () => client.getContractDepositCount(at(35), signal)
      assert.equal(await ask(), 9)
      assert.deepEqual(await judge(35, 6), refuted)
      assert.equal(await ask(), 6)
      assert.equal(lines.filter(({ text }) => text.includes('differs from the store')).length, 1)
      endpoints[1]!.fail(refused('the method is not allowed'))
      await assert.rejects(ask(), RetryableError)
      await assert.rejects(ask(), RetryableError)
      assert.equal(await ask(), undefined)
      const find = client.findInjectedGers([new Uint8Array(32)], at(40), signal)
      await assert.rejects(find, { reason: 'state_unavailable' }, 'nor for the newest')
      clock.advance(11 * 60_000)
      assert.equal(await ask(), 9, 'it has another chance')
    })
})

test('an endpoint that answers for another block is found when another endpoint denies it, and is still asked about the newest block', async () => {
  await withStateChain(2, async ({ client, endpoints, lines }, judge) => {
    endpoints[0]!.fail({ type: 'newestState' })
    const ask = () => client.getContractDepositCount(at(10), signal)
    assert.equal(await ask(), 6)
    assert.deepEqual(await judge(10, 5), refuted)
    assert.equal(await ask(), 5)
    assert.equal(lines.filter(({ text }) => text.includes('state of another block')).length, 1)
    endpoints[1]!.fail(refused('the method is not allowed'))
    const find = () => client.findInjectedGers([new Uint8Array(32).fill(1)], at(40), signal)
    for (let question = 0; question < 2; question++) assert.deepEqual(await find(), [false])
  })
})

test('an endpoint that withdraws its answer is asked again, and one that insists without proof leaves the question open', async () => {
  await withStateChain(1, async ({ client, endpoints }, judge) => {
    const once = endpoints[0]!.fail({ ...liesAboutCounts, times: 1 })
    const ask = () => client.getContractDepositCount(at(35), signal)
    assert.equal(await ask(), 9)
    assert.deepEqual(await judge(35, 6), refuted)
    assert.equal(await ask(), 6)
    once.off()
    endpoints[0]!.fail(liesAboutCounts)
    endpoints[0]!.fail(keepsFrom(30))
    endpoints[0]!.fail(noHashes)
    assert.equal(await ask(), 9)
    for (let look = 0; look < 3; look++) assert.deepEqual(await judge(35, 6), open)
    assert.equal(await ask(), 9)
  })
})

const threeDeposits: Recipe[] = Array.from({ length: 3 }, () => (block) => block.tx().deposit())

test('of two nodes on different sides of a reorg, the one that has followed it is passed over only for a moment', async () => {
  await withStateChain(2, async ({ client, endpoints, clock, lines }, judge, network) => {
    endpoints[1]!.fail({ type: 'branch', blocks: network.blocks })
    network.reorg({ depth: 3, blocks: threeDeposits })
    const ask = () => client.getContractDepositCount(at(40), signal)
    assert.equal(await ask(), 9)
    assert.deepEqual(await judge(40, 6), refuted)
    assert.equal(await ask(), 6)
    assert.equal(lines.filter(({ text }) => text.includes('differs from the store')).length, 0)
    clock.advance(31_000)
    assert.equal(await ask(), 9)
  })
})

test('an answer from an endpoint that has another block there, or none, is judged to be of another block', async () => {
  await withStateChain(1, async ({ client, endpoints }, judge, network) => {
    const ask = () => client.getContractDepositCount(at(40), signal)
    const unknown = endpoints[0]!.fail({ type: 'result', value: null, methods: ['eth_getBlockByNumber'] })
    assert.equal(await ask(), 6)
    assert.deepEqual(await judge(40), otherBlock)
    unknown.off()
    assert.deepEqual(await judge(40), proven(6))
    network.reorg({ depth: 3, blocks: threeDeposits })
    assert.equal(await ask(), 9)
    assert.deepEqual(await judge(40, 6), otherBlock)
    endpoints[0]!.fail({ ...refused('blocks are not for you'), methods: ['eth_getBlockByNumber'] })
    assert.deepEqual(await judge(40, 6), proven(9), 'one that shows no blocks is asked for none')
  })
})

test('the endpoint that gave the answer is judged, although another one has answered an urgent question meanwhile', async () => {
  await withStateChain(2, async ({ client, endpoints }, judge) => {
    endpoints[0]!.fail(liesAboutCounts)
    assert.equal(await client.getContractDepositCount(at(35), signal), 9)
    endpoints[0]!.fail({ ...refused('not now'), times: 1 })
    assert.deepEqual(await client.findInjectedGers([new Uint8Array(32)], at(35), signal), [false])
    assert.deepEqual(await judge(35, 6), refuted)
  })
})
