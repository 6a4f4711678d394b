import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FatalError, RetryableError } from '../../../../src/errors/chainErrors.js'
import { encodeHex } from '../../../../src/protocol/hex.js'
import { asBlockNumber, asNetworkId } from '../../../../src/protocol/units.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import type { Fault } from '../../../support/fakeEndpoint.js'
import { keepsFrom, openChain, refused, withStateChain } from '../openChain.js'

const { signal } = new AbortController()
const at = asBlockNumber

test('an endpoint that refuses contract calls, in any words, is passed over, and another one answers', async () => {
  for (const fault of [
    refused('the method is not allowed'),
    refused('upgrade your plan', -32099),
    { type: 'http', status: 403, body: 'no', methods: ['eth_call'] } as const,
  ])
    await withStateChain(2, async ({ client, endpoints, lines }) => {
      endpoints[0]!.fail(fault)
      for (let question = 0; question < 6; question++)
        assert.equal(await client.getContractDepositCount(at(10), signal), 5)
      assert.equal(endpoints[0]!.callCount('eth_call'), 3)
      assert.equal(client.isDown(), false)
      const told = lines.filter(({ text }) => text === 'endpoint answers no contract calls')
      assert.equal(told.length, 1)
      // Its blocks still count.
      await client.getHead(signal)
      assert.equal(endpoints[0]!.callCount('eth_getBlockByNumber'), 1)
    })
})

test('where no endpoint answers contract calls, comparisons get undefined, and questions that need an answer fail as state_unavailable', async () => {
  await withStateChain(1, async ({ client, endpoints, clock }) => {
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

test('a question that needs an answer goes to an endpoint that refused before as soon as it answers, although the others are silent', async () => {
  for (const others of [0, 1])
    await withStateChain(1 + others, async ({ client, endpoints, clock }) => {
      const fault = endpoints[0]!.fail(refused('the method is not allowed'))
      const silence = endpoints[1]?.fail({ type: 'close' })
      for (let look = 0; look < 6; look++) {
        await assert.rejects(
          client.verifyIdentity(signal),
          /answers contract calls|answers a contract call now/,
        )
        clock.advance(20_000)
      }
      fault.off()
      await client.verifyIdentity(signal)
      silence?.off()
    })
})

test('refused blocks do not count as refused state: contract calls start again as soon as blocks are answered', async () => {
  await withStateChain(1, async ({ client, endpoints, clock }) => {
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

test('a state that one endpoint has pruned is asked of the next', async () => {
  await withStateChain(2, async ({ client, endpoints }) => {
    endpoints[0]!.fail(keepsFrom(30))
    assert.equal(await client.getContractDepositCount(at(10), signal), 5)
    assert.equal(await client.getContractDepositCount(at(35), signal), 6)
    endpoints[1]!.fail(keepsFrom(30))
    assert.equal(await client.getContractDepositCount(at(10), signal), undefined)
  })
})

test('failing endpoints delay a comparison for a minute, then the network goes on without it', async () => {
  await withStateChain(1, async ({ client, endpoints, clock }) => {
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

test('exit roots are asked of an endpoint that always answers with the newest state, where there is no other', async () => {
  await withStateChain(1, async ({ client, endpoints, clock }, judge) => {
    const find = () => client.findInjectedGers([new Uint8Array(32).fill(1)], at(40), signal)
    const fault = endpoints[0]!.fail({ type: 'newestState' })
    assert.deepEqual(await judge(10), { type: 'open' })
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

test('token mappings are those of the block that is asked about, and zero where there is none', async () => {
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

test('many words are read by one call of a program, and by single calls where an endpoint does not accept the program', async () => {
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
    endpoint!.requests.length = 0
    assert.deepEqual(await ask(words.slice(0, 10)), expected.slice(0, 10))
    assert.equal(endpoint!.callCount('eth_call'), 10, 'few are asked for plainly')
    await chain.close()
  }
})
