import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SenderAnswer, SenderQuestion } from '../../../../src/chain/chainClient.types.js'
import { senderKey } from '../../../../src/chain/senderKey.js'
import { encodeHex } from '../../../../src/protocol/hex.js'
import { createFakeWorld, type FakeNetwork, type Recipe } from '../../../support/fakeChain.js'
import { account, userContract } from '../../../support/fakeState.js'
import { type OpenChain, openChain } from '../openChain.js'

const { signal } = new AbortController()
const [user, contract] = [account(5), userContract(1)]

/** A network 1 with these blocks, and its client. */
async function withChain(
  recipes: readonly Recipe[],
  body: (chain: OpenChain, network: FakeNetwork) => Promise<void>,
  options: Parameters<typeof openChain>[1] = {},
): Promise<void> {
  const network = createFakeWorld({ networks: [1] }).network(1)
  for (const recipe of recipes) network.mine(recipe)
  const chain = await openChain(network, options)
  try {
    await body(chain, network)
  } finally {
    await chain.close()
  }
}

async function questionsOf({ client }: OpenChain): Promise<SenderQuestion[]> {
  const { number: to } = await client.getHead(signal)
  const questions = new Map<string, SenderQuestion & { readonly logs: SenderQuestion['logs'][number][] }>()
  const range = await client.fetchRange(0 as typeof to, to, signal)
  for (const event of range.blocks.flatMap(({ events }) => events)) {
    const { type } = event
    if (type !== 'deposit' && type !== 'claim' && type !== 'claimSet' && type !== 'forwardLet') continue
    const key = encodeHex(event.transactionHash)
    const { transactionHash, blockNumber } = event
    const question = questions.get(key) ?? { transactionHash, blockNumber, logs: [] }
    question.logs.push({ kind: type, ...event })
    questions.set(key, question)
  }
  return [...questions.values()]
}

/** `caller from`, with a question mark when provisional. */
const textsOf = (senders: ReadonlyMap<string, SenderAnswer>) =>
  [...senders.values()].map(
    ({ caller, transactionSender, isProvisional }) =>
      `${encodeHex(caller)} ${encodeHex(transactionSender)}${isProvisional ? '?' : ''}`,
  )

/** The answers in the order of the questions, each for one log. */
const inOrder = (questions: readonly SenderQuestion[], senders: ReadonlyMap<string, SenderAnswer>) =>
  new Map(
    questions.flatMap(({ transactionHash, logs: [log] }) => {
      const key = senderKey(transactionHash, log!.logIndex)
      const sender = senders.get(key)
      return sender === undefined ? [] : [[key, sender] as const]
    }),
  )

const directDeposit: Recipe = (block) => block.tx({ from: user }).deposit()
const depositOfContract: Recipe = (block) => block.tx({ from: user, to: contract }).deposit()

test('a direct call of the bridge is answered from its transaction, without a trace', async () => {
  await withChain([directDeposit], async (chain) => {
    const senders = await chain.client.resolveSenders(await questionsOf(chain), signal)
    assert.deepEqual(textsOf(senders), [`${user} ${user}`])
    assert.equal(chain.endpoints[0]!.callCount('debug_traceTransaction'), 0)
  })
})

test('the caller of a message is its origin address, without a trace', async () => {
  const message: Recipe = (block) => block.tx({ from: user, to: contract }).deposit({ leafType: 1 })
  await withChain([message], async (chain) => {
    const senders = await chain.client.resolveSenders(await questionsOf(chain), signal)
    assert.deepEqual(textsOf(senders), [`${contract} ${user}`])
    assert.equal(chain.endpoints[0]!.callCount('debug_traceTransaction'), 0)
  })
})

test('the caller of a deposit through a contract is found by a trace, also when the clock returns fractions of a millisecond', async () => {
  await withChain([depositOfContract], async (chain, network) => {
    const ticks = chain.clock.now.bind(chain.clock)
    chain.clock.now = () => {
      chain.clock.advance(0.3)
      return ticks()
    }
    const questions = await questionsOf(chain)
    const senders = await chain.client.resolveSenders(questions, signal)
    assert.deepEqual(textsOf(senders), [`${contract} ${user}`])
    const { transactionHash, logIndex } = network.deposits()[0]!
    assert.deepEqual([...senders.keys()], [`${transactionHash}:${logIndex}`])
    assert.equal(senderKey(questions[0]!.transactionHash, logIndex), `${transactionHash}:${logIndex}`)
  })
})

test('a deposit that the receiver makes during a claim does not make the bridge the sender of the claim', async () => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, network] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, leafType: 1, destinationAddress: contract }))
  network.mine((block) => {
    const tx = block.tx({ from: user })
    tx.claim({ deposit: l1.deposits()[0]!, during: () => tx.deposit() })
  })
  const chain = await openChain(network)
  const senders = await chain.client.resolveSenders(await questionsOf(chain), signal)
  assert.deepEqual(textsOf(senders), [`${user} ${user}`, `${contract} ${user}`])
  await chain.close()
})

test('claims set by an administrator are answered from their transaction alone, whatever contract it calls', async () => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, network] = [world.network(0), world.network(1)]
  for (let made = 0; made < 3; made++) l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  const [first, second, third] = l1.deposits()
  network.mine((block) => {
    const tx = block.tx({ from: user, to: contract })
    tx.setClaim(first!)
    tx.setClaim(second!)
  })
  network.mine((block) => block.tx({ from: account(6) }).setClaim(third!, 'index'))
  const chain = await openChain(network)
  const senders = await chain.client.resolveSenders(await questionsOf(chain), signal)
  const administrator = account(6)
  assert.deepEqual(textsOf(senders), [
    `${user} ${user}`,
    `${user} ${user}`,
    `${administrator} ${administrator}`,
  ])
  assert.equal(chain.endpoints[0]!.callCount('debug_traceTransaction'), 0)
  await chain.close()
})

test('beside a claim set by an administrator, only the open deposits of the transaction are traced', async () => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, network] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  network.mine((block) => {
    const tx = block.tx({ from: user, to: contract })
    tx.setClaim(l1.deposits()[0]!)
    tx.deposit()
  })
  const chain = await openChain(network)
  const questions = await questionsOf(chain)
  const refused = {
    type: 'error',
    methods: ['debug_traceTransaction'],
    code: -32000,
    message: 'busy',
  } as const
  chain.endpoints[0]!.fail({ ...refused, times: 1 })
  const fallback = await chain.client.resolveSenders(questions, signal)
  assert.deepEqual(textsOf(fallback), [`${user} ${user}`, `${user} ${user}?`])
  const traced = await chain.client.resolveSenders(questions, signal)
  assert.deepEqual(textsOf(traced), [`${user} ${user}`, `${contract} ${user}`])
  await chain.close()
})

test('with call traces switched off the sender is tx.from for good', async () => {
  await withChain(
    [depositOfContract],
    async (chain) => {
      const senders = await chain.client.resolveSenders(await questionsOf(chain), signal)
      assert.deepEqual(textsOf(senders), [`${user} ${user}`])
      assert.equal(chain.endpoints[0]!.callCount('debug_traceTransaction'), 0)
      assert.equal(chain.client.canTrace(), false)
    },
    { config: { callTraces: 'off' } },
  )
})

const refusals = [
  { code: -32601, message: 'the method debug_traceTransaction does not exist/is not available' },
  { code: -32000, message: 'tracer not available: callTracer' },
  { code: -32600, message: 'Method debug_traceTransaction is not available on your current plan' },
]

test('with call traces not offered the sender is tx.from for now, and the endpoint is asked again with growing pauses', async () => {
  for (const error of refusals)
    await withChain([depositOfContract, depositOfContract, depositOfContract], async (chain) => {
      const [endpoint] = chain.endpoints
      const fault = endpoint!.fail({ type: 'error', methods: ['debug_traceTransaction'], ...error })
      const questions = await questionsOf(chain)
      const calls = () => endpoint!.callCount('debug_traceTransaction')
      for (const question of questions) {
        const senders = await chain.client.resolveSenders([question], signal)
        assert.deepEqual(textsOf(senders), [`${user} ${user}?`], error.message)
      }
      assert.equal(calls(), 1, error.message)
      for (const [pauseMs, expected] of [
        [5_001, 2],
        [5_001, 2],
        [5_001, 3],
      ] as const) {
        chain.clock.advance(pauseMs)
        await chain.client.resolveSenders(questions.slice(0, 1), signal)
        assert.equal(calls(), expected)
      }
      for (let minutes = 0; minutes < 10; minutes++) {
        chain.clock.advance(60_001)
        assert.equal(chain.client.canTrace(), true, 'a minute is the longest pause')
        await chain.client.resolveSenders(questions.slice(0, 1), signal)
        assert.equal(chain.client.canTrace(), false)
      }
      fault.off()
      chain.clock.advance(60_001)
      const senders = await chain.client.resolveSenders(questions, signal)
      assert.deepEqual(
        textsOf(senders),
        questions.map(() => `${contract} ${user}`),
      )
    })
})

test('where one node behind a balancer has no debug API, the next node behind it is asked at once', async () => {
  for (const error of refusals)
    await withChain([depositOfContract, depositOfContract], async (chain) => {
      const [endpoint] = chain.endpoints
      const questions = await questionsOf(chain)
      await chain.client.resolveSenders(questions.slice(0, 1), signal)
      endpoint!.fail({ type: 'error', methods: ['debug_traceTransaction'], ...error, times: 2 })
      const senders = await chain.client.resolveSenders(questions.slice(1), signal)
      assert.deepEqual(textsOf(senders), [`${contract} ${user}`], error.message)
    })
})

test('a transaction that cannot be traced does not keep others from their callers', async () => {
  const errors = [...refusals, { code: -32000, message: 'execution timeout' }]
  for (const error of errors)
    await withChain([depositOfContract, depositOfContract, depositOfContract], async (chain, network) => {
      const [, second] = network.deposits()
      const [endpoint] = chain.endpoints
      const questions = await questionsOf(chain)
      await chain.client.resolveSenders(questions.slice(0, 1), signal)
      const when = (call: { params: unknown }) =>
        JSON.stringify(call.params).includes(second!.transactionHash)
      endpoint!.fail({ type: 'error', methods: ['debug_traceTransaction'], ...error, when })
      const expected = [`${contract} ${user}`, `${user} ${user}?`, `${contract} ${user}`]
      for (let times = 0; times < 4; times++) {
        const senders = inOrder(questions, await chain.client.resolveSenders(questions, signal))
        assert.deepEqual(textsOf(senders), expected, error.message)
        assert.deepEqual(
          [...senders.values()].map(({ isTraceFailed }) => isTraceFailed),
          [false, true, false],
        )
      }
    })
})

test('an empty trace, or one of other calls, counts as no trace: the sender is tx.from for now', async () => {
  const values = [null, {}, { type: 'CALL', from: user, to: contract, input: '0x', calls: [] }]
  for (const value of values)
    await withChain([depositOfContract], async (chain) => {
      const fault = { type: 'result', methods: ['debug_traceTransaction'], value, times: 1 } as const
      chain.endpoints[0]!.fail(fault)
      const questions = await questionsOf(chain)
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), [`${user} ${user}?`])
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), [`${contract} ${user}`])
    })
})

test('traces of old blocks that are pruned are asked again after a pause, those of newer blocks at once', async () => {
  await withChain([depositOfContract, depositOfContract, depositOfContract], async (chain) => {
    const [endpoint] = chain.endpoints
    endpoint!.fail({
      type: 'error',
      methods: ['debug_traceTransaction'],
      code: -32000,
      message: 'required historical state unavailable (reexec=128)',
      times: 1,
    })
    const [first, second, third] = await questionsOf(chain)
    assert.deepEqual(textsOf(await chain.client.resolveSenders([second!], signal)), [`${user} ${user}?`])
    assert.deepEqual(textsOf(await chain.client.resolveSenders([first!], signal)), [`${user} ${user}?`])
    assert.equal(endpoint!.callCount('debug_traceTransaction'), 1)
    assert.deepEqual(textsOf(await chain.client.resolveSenders([third!], signal)), [`${contract} ${user}`])
    chain.clock.advance(5_001)
    assert.deepEqual(textsOf(await chain.client.resolveSenders([first!], signal)), [`${contract} ${user}`])
  })
})

test('a tracer that fails at several transactions in a row rests for a moment', async () => {
  const four: readonly Recipe[] = [depositOfContract, depositOfContract, depositOfContract, depositOfContract]
  await withChain(four, async (chain) => {
    const [endpoint] = chain.endpoints
    const busy = { code: -32000, message: 'busy', times: 3 }
    endpoint!.fail({ type: 'error', methods: ['debug_traceTransaction'], ...busy })
    for (const question of await questionsOf(chain))
      assert.deepEqual(textsOf(await chain.client.resolveSenders([question], signal)), [`${user} ${user}?`])
    assert.equal(endpoint!.callCount('debug_traceTransaction'), 3)
    chain.clock.advance(5_001)
    const [first] = await questionsOf(chain)
    assert.deepEqual(textsOf(await chain.client.resolveSenders([first!], signal)), [`${contract} ${user}`])
  })
})

test('a trace beyond its time limit is given up, and the other traces are used', async () => {
  await withChain([depositOfContract, depositOfContract], async (chain, network) => {
    const [first] = network.deposits()
    const questions = await questionsOf(chain)
    const held = chain.endpoints[0]!.fail({
      type: 'hold',
      methods: ['debug_traceTransaction'],
      when: (call) => JSON.stringify(call.params).includes(first!.transactionHash),
      until: new Promise<void>(() => {}),
    })
    const budget = { totalMs: 60_000, eachMs: 1_000 }
    const senders = await chain.client.resolveSenders(questions, signal, budget)
    assert.deepEqual(textsOf(inOrder(questions, senders)), [`${user} ${user}?`, `${contract} ${user}`])
    held.off()
  })
})

test('while a slow tracer rests the next endpoint is asked', async () => {
  await withChain(
    [depositOfContract],
    async (chain) => {
      const [slow, other] = chain.endpoints
      const questions = await questionsOf(chain)
      const held = slow!.fail({
        type: 'hold',
        methods: ['debug_traceTransaction'],
        until: new Promise<void>(() => {}),
      })
      const budget = { totalMs: 200, eachMs: 200 }
      for (let round = 0; round < 3; round++)
        assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal, budget)), [
          `${user} ${user}?`,
        ])
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), [`${contract} ${user}`])
      assert.equal(other!.callCount('debug_traceTransaction'), 1)
      held.off()
    },
    { endpoints: 2 },
  )
})

test('an answer that is no trace is a failure of its endpoint, and the next endpoint is asked', async () => {
  await withChain(
    [depositOfContract],
    async (chain) => {
      const [endpoint] = chain.endpoints
      const questions = await questionsOf(chain)
      endpoint!.fail({
        type: 'result',
        methods: ['debug_traceTransaction'],
        value: { type: 'CALL', to: contract, logs: [null], calls: [] },
      })
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), [`${contract} ${user}`])
    },
    { endpoints: 2 },
  )
})

test('with one endpoint without traces and one with traces the caller is found', async () => {
  await withChain(
    [depositOfContract],
    async (chain) => {
      const [first, second] = chain.endpoints
      first!.fail({
        type: 'error',
        methods: ['debug_traceTransaction'],
        code: -32601,
        message: 'no such method',
      })
      const senders = await chain.client.resolveSenders(await questionsOf(chain), signal)
      assert.deepEqual(textsOf(senders), [`${contract} ${user}`])
      assert.equal(second!.callCount('debug_traceTransaction'), 1)
    },
    { endpoints: 2 },
  )
})

test('a transaction that is pending, has another hash or lacks a sender is read from its block, never guessed', async () => {
  const changes: readonly object[] = [
    { from: undefined },
    { from: `0x${'00'.repeat(20)}` },
    { blockNumber: null },
    { hash: `0x${'11'.repeat(32)}` },
    { hash: { toString: null, valueOf: null } },
  ]
  for (const change of changes)
    await withChain([directDeposit, directDeposit], async (chain, network) => {
      const { hash } = network.blocks[1]!.transactions[0]!
      const [endpoint] = chain.endpoints
      const questions = await questionsOf(chain)
      const value = { hash, from: user, to: network.contracts.bridge, blockNumber: '0x1', ...change }
      const when = (call: { params: unknown }) => JSON.stringify(call.params).includes(hash)
      endpoint!.fail({ type: 'result', methods: ['eth_getTransactionByHash'], value, when })
      const both = [`${user} ${user}`, `${user} ${user}`]
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), both)
      endpoint!.fail({
        type: 'result',
        methods: ['eth_getBlockByNumber', 'eth_getBlockReceipts'],
        value: null,
      })
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), both.slice(1))
    })
})

test('a transaction that the node fails to return does not keep the others of its batch', async () => {
  await withChain([directDeposit, directDeposit], async (chain, network) => {
    const { hash } = network.blocks[1]!.transactions[0]!
    const [endpoint] = chain.endpoints
    const questions = await questionsOf(chain)
    const when = (call: { params: unknown }) => JSON.stringify(call.params).includes(hash)
    const error = { code: -32603, message: 'internal error' }
    endpoint!.fail({ type: 'error', methods: ['eth_getTransactionByHash'], ...error, when })
    endpoint!.fail({ type: 'error', methods: ['eth_getBlockByNumber', 'eth_getBlockReceipts'], ...error })
    assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), [`${user} ${user}`])
    assert.equal(chain.client.isDown(), false)
  })
})

test('a transaction that the node dropped from its index is found in its block, then in its receipts', async () => {
  const missing = { type: 'error', code: -32601, message: 'the method does not exist' } as const
  const refusals = [
    { type: 'result', value: null } as const,
    { type: 'error', code: -32000, message: 'transaction not found' } as const,
  ]
  for (const refusal of refusals)
    await withChain([directDeposit, depositOfContract], async (chain) => {
      const [endpoint] = chain.endpoints
      const questions = await questionsOf(chain)
      const expected = [`${user} ${user}`, `${contract} ${user}`]
      endpoint!.fail({ methods: ['eth_getTransactionByHash'], ...refusal })
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), expected)
      assert.equal(endpoint!.callCount('eth_getBlockReceipts'), 0)
      // A block without its transactions, as from a node that has pruned block bodies.
      endpoint!.fail({ methods: ['eth_getBlockByNumber'], type: 'result', value: null })
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), expected)
      assert.equal(endpoint!.callCount('eth_getBlockReceipts'), 2)
      endpoint!.fail({ methods: ['eth_getBlockReceipts'], ...missing })
      assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), [], 'nobody is guessed')
    })
})

test('a transaction that no endpoint knows does not keep the others of its batch', async () => {
  await withChain([directDeposit, depositOfContract], async (chain) => {
    const [known, other] = await questionsOf(chain)
    const unknown = { ...other!, transactionHash: new Uint8Array(32).fill(7) }
    const senders = await chain.client.resolveSenders([unknown, known!], signal)
    assert.deepEqual(textsOf(senders), [`${user} ${user}`])
  })
})

test('a transaction that the first node does not know yet is read from the next one', async () => {
  await withChain([directDeposit], async (chain) => {
    const questions = await questionsOf(chain)
    const methods = ['eth_getTransactionByHash']
    chain.endpoints[0]!.fail({ type: 'result', methods, value: null, times: 3 })
    assert.deepEqual(textsOf(await chain.client.resolveSenders(questions, signal)), [`${user} ${user}`])
  })
})

test('hundreds of questions go in batches, and at most four traces are in flight', async () => {
  const many: Recipe = (block) => {
    for (let index = 0; index < 130; index++) block.tx({ from: account(index), to: contract }).deposit()
  }
  await withChain([many], async (chain) => {
    const [endpoint] = chain.endpoints
    const questions = await questionsOf(chain)
    let release = () => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    const held = endpoint!.fail({ type: 'hold', methods: ['debug_traceTransaction'], until })
    let traces = 0
    const fourth = endpoint!.nextCall('debug_traceTransaction', () => ++traces === 4)
    const resolving = chain.client.resolveSenders(questions, signal)
    await fourth
    // A fifth trace would be in flight by the time the test's own call has come back.
    await chain.client.getHead(signal)
    assert.equal(endpoint!.callCount('debug_traceTransaction'), 4)
    held.off()
    release()
    const senders = await resolving
    assert.equal(senders.size, 130)
    assert.ok([...senders.values()].every(({ caller }) => encodeHex(caller) === contract))
    assert.equal(endpoint!.callCount('eth_getTransactionByHash'), 130)
    assert.equal(endpoint!.callCount('debug_traceTransaction'), 130)
  })
})

test('when a tracer exceeds its time the remaining senders are provisional', async () => {
  const many: Recipe = (block) => {
    for (let index = 0; index < 20; index++) block.tx({ from: user, to: contract }).deposit()
  }
  await withChain([many], async (chain) => {
    const questions = await questionsOf(chain)
    chain.endpoints[0]!.fail({
      type: 'hold',
      methods: ['debug_traceTransaction'],
      when: () => {
        chain.clock.advance(1_000)
        return false
      },
      until: Promise.resolve(),
    })
    const senders = await chain.client.resolveSenders(questions, signal)
    const provisional = [...senders.values()].filter(({ isProvisional }) => isProvisional)
    assert.equal(senders.size, 20)
    assert.ok(provisional.length > 5 && provisional.length < 20, String(provisional.length))
  })
})
