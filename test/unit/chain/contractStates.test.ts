import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContractReads, Judgement } from '../../../src/chain/chainClient.types.js'
import { FatalError, RetryableError } from '../../../src/errors/chainErrors.js'
import { encodeHex } from '../../../src/protocol/hex.js'
import { asBlockNumber, asNetworkId } from '../../../src/protocol/units.js'
import { headerOf } from '../../support/directClient.js'
import { createFakeWorld, type FakeNetwork, type Recipe } from '../../support/fakeChain.js'
import type { FakeCall, Fault } from '../../support/fakeRpcFaults.js'
import { type OpenChain, openChain } from '../../support/openChain.js'

const { signal } = new AbortController()
const at = asBlockNumber
const open = { type: 'open' }
const withdrawn = { type: 'withdrawn' }
const moved = { type: 'moved' }
const denied = (told: number) => ({ type: 'denied', told })

/** A chain of 40 blocks with deposits in blocks 1 to 5 and 20, and its endpoints. */
async function withChain(
  endpoints: number,
  body: (
    chain: OpenChain,
    /** What becomes of a deposit count that is not the one which is stored. */
    judge: (block: number, stored?: number) => Promise<Judgement<number>>,
    network: FakeNetwork,
  ) => Promise<void>,
): Promise<void> {
  const network = createFakeWorld({ networks: [1] }).network(1)
  for (let block = 1; block <= 40; block++)
    network.mine((builder) => {
      if (block <= 5 || block === 20) builder.tx().deposit()
    })
  const chain = await openChain(network, { endpoints })
  const held = network.blocks
  const judge = (block: number, stored = 1_000) => {
    const before = at(block < 20 ? 4 : 19)
    const witness = { block: headerOf(held[block]!), before, isChanged: true }
    const ask = (reads: ContractReads) => reads.getContractDepositCount(at(block), signal)
    return chain.client.askWitness(witness, stored, ask, signal)
  }
  try {
    await body(chain, judge, network)
  } finally {
    await chain.close()
  }
}

const refused = (message: string, code = -32601): Fault => ({
  type: 'error',
  code,
  message,
  methods: ['eth_call'],
})

/** State of blocks below is gone. */
const keepsFrom = (block: number): Fault => ({
  ...refused('missing trie node 5e', -32000),
  when: ({ params: [, tag] }: FakeCall) => typeof tag === 'string' && Number(tag) < block,
})

test('an endpoint that refuses contract calls, in any words, is left alone, and another one answers', async () => {
  for (const fault of [
    refused('the method is not allowed'),
    refused('upgrade your plan', -32099),
    { type: 'http', status: 403, body: 'no', methods: ['eth_call'] } as const,
  ])
    await withChain(2, async ({ client, endpoints, lines }) => {
      endpoints[0]!.fail(fault)
      for (let question = 0; question < 6; question++)
        assert.equal(await client.getContractDepositCount(at(10), signal), 5)
      assert.equal(endpoints[0]!.callCount('eth_call'), 3)
      assert.equal(client.isDown(), false)
      const told = lines.filter(({ text }) => text === 'endpoint answers no contract calls')
      assert.equal(told.length, 1)
      // Its blocks are as good as before.
      await client.getHead(signal)
      assert.equal(endpoints[0]!.callCount('eth_getBlockByNumber'), 1)
    })
})

test('where no endpoint answers contract calls, what compares is untold and what needs them says so', async () => {
  await withChain(1, async ({ client, endpoints, clock }) => {
    const fault = endpoints[0]!.fail(refused('the method is not allowed'))
    const roots = [new Uint8Array(32)]
    for (let question = 0; question < 2; question++)
      await assert.rejects(client.getContractDepositCount(at(10), signal), RetryableError)
    assert.equal(await client.getContractDepositCount(at(10), signal), undefined)
    assert.deepEqual(
      await client.getClaimedWords([{ sourceNetwork: asNetworkId(0), word: 0 }], at(10), signal),
      [undefined],
    )
    assert.equal(await client.getEmergencyState(at(10), signal), undefined)
    for (const ask of [
      () => client.findInjectedGers(roots, at(10), signal),
      () => client.verifyIdentity(signal),
    ])
      await assert.rejects(
        ask,
        (error) => error instanceof FatalError && error.reason === 'state_unavailable',
      )
    fault.off()
    clock.advance(11 * 60_000)
    assert.equal(await client.getContractDepositCount(at(10), signal), 5)
  })
})

test('refused blocks are no refused state: contracts are asked as soon as blocks come again', async () => {
  await withChain(1, async ({ client, endpoints, clock }) => {
    const methods = ['eth_getBlockByNumber']
    const message = 'the method is not allowed'
    const faults: Fault[] = [
      { type: 'error', code: -32601, message, methods },
      { type: 'http', status: 403, body: message, methods },
    ]
    for (const each of faults) {
      const fault = endpoints[0]!.fail(each)
      for (let look = 0; look < 5; look++) {
        await assert.rejects(client.verifyIdentity(signal), RetryableError)
        clock.advance(20_000)
      }
      fault.off()
      await client.verifyIdentity(signal)
    }
  })
})

test('a state that one endpoint no longer keeps is asked of the next', async () => {
  await withChain(2, async ({ client, endpoints }) => {
    endpoints[0]!.fail(keepsFrom(30))
    assert.equal(await client.getContractDepositCount(at(10), signal), 5)
    assert.equal(await client.getContractDepositCount(at(35), signal), 6)
    endpoints[1]!.fail(keepsFrom(30))
    assert.equal(await client.getContractDepositCount(at(10), signal), undefined)
  })
})

test('endpoints that fail hold up a comparison for a minute, then it goes on without', async () => {
  await withChain(1, async ({ client, endpoints, clock }) => {
    endpoints[0]!.fail({ type: 'http', status: 503, methods: ['eth_call'] })
    const ask = () => client.getContractDepositCount(at(10), signal)
    for (let second = 0; second < 60; second += 20) {
      await assert.rejects(ask, RetryableError)
      clock.advance(20_000)
    }
    assert.equal(await ask(), undefined)
    await assert.rejects(client.findInjectedGers([new Uint8Array(32)], at(10), signal), RetryableError)
  })
})

test('roots are asked of an endpoint that tells the newest state of any block, where there is no other', async () => {
  await withChain(1, async ({ client, endpoints, clock }, judge) => {
    const find = () => client.findInjectedGers([new Uint8Array(32).fill(1)], at(40), signal)
    const fault = endpoints[0]!.fail({ type: 'newestState' })
    assert.deepEqual(await judge(10), open)
    assert.equal(
      await client.getContractDepositCount(at(10), signal),
      undefined,
      'not for what must be of the block',
    )
    assert.deepEqual(await find(), [false])
    fault.off()
    endpoints[0]!.fail(refused('the method is not allowed'))
    for (let question = 0; question < 2; question++) await assert.rejects(find(), RetryableError)
    await assert.rejects(find(), { reason: 'state_unavailable' })
    clock.advance(60_000)
    await assert.rejects(find(), { reason: 'state_unavailable' })
  })
})

test('a gateway that tells the newest state of any block is no witness, and is not asked for state again', async () => {
  for (const checks of ['nothing', 'block'] as const)
    await withChain(2, async ({ client, endpoints, lines }, judge) => {
      endpoints[0]!.fail({ type: 'newestState', checks })
      assert.equal(await client.getContractDepositCount(at(10), signal), 6, 'it is believed at first')
      assert.deepEqual(await judge(10), denied(5))
      endpoints[1]!.fail({ type: 'newestState', checks })
      assert.deepEqual(await judge(10), withdrawn)
      assert.deepEqual(await judge(10), open)
      assert.equal(await client.getContractDepositCount(at(10), signal), undefined)
      const told = lines.filter(({ text }) => text.includes('state of another block'))
      assert.equal(told.length, 2)
    })
})

test('an honest node is a witness: by two blocks, by the hash where the older state is gone, at its head where hashes are not taken', async () => {
  await withChain(1, async ({ client, endpoints }, judge) => {
    const [endpoint] = endpoints
    assert.deepEqual(await judge(10), denied(5), 'two blocks')
    const silent = endpoint!.fail({
      ...refused('execution reverted', 3),
      when: ({ params: [call] }) => /^0x(5ca1e165|3ae05047)/.test((call as { data: string }).data),
    })
    assert.deepEqual(await judge(10), open, 'no roots, no word')
    assert.equal(await client.getContractDepositCount(at(10), signal), 5, 'which says nothing against it')
    silent.off()
    endpoint!.fail(keepsFrom(30))
    assert.deepEqual(await judge(35), denied(6), 'the hash')
    const isByHash = ({ params: [, tag] }: FakeCall) => typeof tag === 'object'
    endpoint!.fail({ ...refused('invalid argument 1', -32602), when: isByHash })
    assert.deepEqual(await judge(35), open, 'nothing shows it')
    assert.deepEqual(await judge(40), denied(6), 'the head')
  })
})

/** Tells a deposit count of 9 at every block, and the truth of all else. */
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

test('who tells what another one denies is not asked for state for a while, even if the other one has no proof', async () => {
  for (const faults of [[], [keepsFrom(30), noHashes]])
    await withChain(2, async ({ client, endpoints, clock, lines }, judge) => {
      for (const fault of faults) endpoints[1]!.fail(fault)
      endpoints[0]!.fail(liesAboutCounts)
      const ask = () => client.getContractDepositCount(at(35), signal)
      assert.equal(await ask(), 9)
      assert.deepEqual(await judge(35, 6), withdrawn)
      assert.equal(await ask(), 6)
      assert.equal(lines.filter(({ text }) => text.includes('is alone with')).length, 1)
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

test('one that tells another block is found out by whoever denies it, and is still good for the newest', async () => {
  await withChain(2, async ({ client, endpoints, lines }, judge) => {
    endpoints[0]!.fail({ type: 'newestState' })
    const ask = () => client.getContractDepositCount(at(10), signal)
    assert.equal(await ask(), 6)
    assert.deepEqual(await judge(10, 5), withdrawn)
    assert.equal(await ask(), 5)
    assert.equal(lines.filter(({ text }) => text.includes('state of another block')).length, 1)
    endpoints[1]!.fail(refused('the method is not allowed'))
    const find = () => client.findInjectedGers([new Uint8Array(32).fill(1)], at(40), signal)
    for (let question = 0; question < 2; question++) assert.deepEqual(await find(), [false])
  })
})

test('an endpoint that takes its word back is asked on, and one that insists without proof settles nothing', async () => {
  await withChain(1, async ({ client, endpoints }, judge) => {
    const once = endpoints[0]!.fail({ ...liesAboutCounts, times: 1 })
    const ask = () => client.getContractDepositCount(at(35), signal)
    assert.equal(await ask(), 9)
    assert.deepEqual(await judge(35, 6), withdrawn)
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

test('of two nodes on either side of a reorg the one that has followed it is left alone for a moment only', async () => {
  await withChain(2, async ({ client, endpoints, clock, lines }, judge, network) => {
    endpoints[1]!.fail({ type: 'branch', blocks: network.blocks })
    network.reorg({ depth: 3, blocks: threeDeposits })
    const ask = () => client.getContractDepositCount(at(40), signal)
    assert.equal(await ask(), 9)
    assert.deepEqual(await judge(40, 6), withdrawn)
    assert.equal(await ask(), 6)
    assert.equal(lines.filter(({ text }) => text.includes('is alone with')).length, 0)
    clock.advance(31_000)
    assert.equal(await ask(), 9)
  })
})

test('what is told of a block that the endpoint shows otherwise, or does not show, says that the chain moved', async () => {
  await withChain(1, async ({ client, endpoints }, judge, network) => {
    const ask = () => client.getContractDepositCount(at(40), signal)
    const unknown = endpoints[0]!.fail({ type: 'result', value: null, methods: ['eth_getBlockByNumber'] })
    assert.equal(await ask(), 6)
    assert.deepEqual(await judge(40), moved)
    unknown.off()
    assert.deepEqual(await judge(40), denied(6))
    network.reorg({ depth: 3, blocks: threeDeposits })
    assert.equal(await ask(), 9)
    assert.deepEqual(await judge(40, 6), moved)
    endpoints[0]!.fail({ ...refused('blocks are not for you'), methods: ['eth_getBlockByNumber'] })
    assert.deepEqual(await judge(40, 6), denied(9), 'one that shows no blocks is asked for none')
  })
})

test('who told it is who is judged, whoever answered what can not wait meanwhile', async () => {
  await withChain(2, async ({ client, endpoints }, judge) => {
    endpoints[0]!.fail(liesAboutCounts)
    assert.equal(await client.getContractDepositCount(at(35), signal), 9)
    endpoints[0]!.fail({ ...refused('not now'), times: 1 })
    assert.deepEqual(await client.findInjectedGers([new Uint8Array(32)], at(35), signal), [false])
    assert.deepEqual(await judge(35, 6), withdrawn)
  })
})

test('what tokens map to is told as of the block, and zero where there is no mapping', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  const [token, first, second] = ([1, 2, 3] as const).map((n) => `0x${`0${n}`.repeat(20)}` as const)
  for (const wrapped of [first!, second!])
    network.mine((block) => block.tx().setSovereignToken(0, token!, wrapped))
  const chain = await openChain(network)
  const tokens = [token!, first!].map((address) => ({
    originNetwork: asNetworkId(0),
    originTokenAddress: Buffer.from(address.slice(2), 'hex'),
  }))
  const ask = async (block: number) =>
    (await chain.client.getWrappedTokens(tokens, at(block), signal)).map((told) => told && encodeHex(told))
  const none = `0x${'00'.repeat(20)}`
  assert.deepEqual(await ask(1), [first, none])
  assert.deepEqual(await ask(2), [second, none])
  await chain.close()
})

test('many words are one call, by a program, and calls of their own where an endpoint does not take it', async () => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, network] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  const [deposit] = l1.deposits()
  const claimed = [0, 255, 300, 256 * 1_000]
  for (const depositCount of claimed)
    network.mine((block) =>
      block.tx().setClaim({ ...deposit!, depositCount, globalIndex: 2n ** 64n + BigInt(depositCount) }),
    )
  const words = Array.from({ length: 1_033 }, (_, word) => ({ sourceNetwork: asNetworkId(0), word }))
  const expected = words.map(({ word }) =>
    claimed.reduce(
      (bits, depositCount) => (depositCount >> 8 === word ? bits | (1n << BigInt(depositCount & 255)) : bits),
      0n,
    ),
  )
  for (const takesPrograms of [true, false]) {
    const chain = await openChain(network)
    const [endpoint] = chain.endpoints
    if (!takesPrograms) endpoint!.fail({ type: 'noPrograms' })
    const ask = (some = words) => chain.client.getClaimedWords(some, at(network.head.number), signal)
    assert.deepEqual(await ask(), expected)
    assert.equal(chain.client.readsManyWords(), takesPrograms)
    assert.equal(endpoint!.callCount('eth_call'), takesPrograms ? 2 : 1_034)
    endpoint!.resetCounters()
    assert.deepEqual(await ask(words.slice(0, 10)), expected.slice(0, 10))
    assert.equal(endpoint!.callCount('eth_call'), 10, 'few are asked for plainly')
    await chain.close()
  }
})
