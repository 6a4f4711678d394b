import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChainClient } from '../../../../src/chain/client/chainClient.js'
import { FatalError, RetryableError } from '../../../../src/errors/chainErrors.js'
import { encodeHex } from '../../../../src/protocol/hex.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { createFakeWorld, type FakeNetwork } from '../../../support/fakeChain.js'
import { createKeepingLogger } from '../../../support/keepingLogger.js'
import { VirtualClock } from '../../../support/virtualClock.js'
import type { WireAnswer } from '../../../support/wireServer.js'
import { type OpenChain, openChain } from '../openChain.js'
import { endlessSilence, SECRET, serveScript } from '../wireScripts.js'

const { signal } = new AbortController()

function network1(): FakeNetwork {
  const network = createFakeWorld({ networks: [1] }).network(1)
  for (let block = 0; block < 5; block++) network.mine((builder) => builder.tx().deposit())
  return network
}

async function withChain(
  body: (chain: OpenChain, network: FakeNetwork) => Promise<void>,
  options: Parameters<typeof openChain>[1] = {},
): Promise<void> {
  const network = network1()
  const chain = await openChain(network, options)
  try {
    await body(chain, network)
  } finally {
    await chain.close()
  }
}

const isWrongContract = (text: string) => (error: unknown) =>
  error instanceof FatalError && error.reason === 'wrong_contract' && error.message.includes(text)

test('the right contracts of the right chain pass the identity check', async () => {
  await withChain(async ({ client }) => client.verifyIdentity(signal))
})

test('addresses without code, and the bridge of another network, fail as wrong_contract', async () => {
  const nowhere = `0x${'99'.repeat(20)}`
  await withChain(
    async ({ client }) => {
      await assert.rejects(client.verifyIdentity(signal), isWrongContract(`no contract at bridge ${nowhere}`))
    },
    { config: { bridge: nowhere } },
  )
  await withChain(
    async ({ client }) => {
      await assert.rejects(client.verifyIdentity(signal), isWrongContract('global_exit_root_manager'))
    },
    { config: { globalExitRootManager: nowhere } },
  )
  await withChain(
    async ({ client }) => {
      await assert.rejects(client.verifyIdentity(signal), isWrongContract('its network id is 1'))
    },
    { config: { networkId: 2 } },
  )
  const manager = network1().contracts.globalExitRootManager
  await withChain(
    async ({ client }) => {
      await assert.rejects(client.verifyIdentity(signal), isWrongContract('does not answer networkID()'))
    },
    { config: { bridge: manager } },
  )
})

test('while the chain is below the start block the contracts may be absent', async () => {
  await withChain(async ({ client }) => client.verifyIdentity(signal), {
    config: { startBlock: 100, bridge: `0x${'99'.repeat(20)}` },
  })
})

test('a gateway without eth_getCode does not stop the identity check', async () => {
  await withChain(async ({ client, endpoints }) => {
    endpoints[0]!.fail({ type: 'error', code: -32601, message: 'no such method', methods: ['eth_getCode'] })
    await client.verifyIdentity(signal)
  })
})

test('head and headers are returned as bytes, an unknown block as undefined', async () => {
  await withChain(async ({ client }, network) => {
    const head = await client.getHead(signal)
    assert.equal(encodeHex(head.hash), network.head.hash)
    const third = await client.getHeader(asBlockNumber(3), signal)
    assert.equal(encodeHex(third!.hash), network.blocks[3]!.hash)
    assert.equal(encodeHex(third!.parentHash!), network.blocks[2]!.hash)
    assert.equal(third!.timestampSec, network.blocks[3]!.timestampSec)
    assert.equal(await client.getHeader(asBlockNumber(99), signal), undefined)
  })
})

test('a node that refuses unknown blocks instead of answering null counts as not knowing the block', async () => {
  await withChain(async ({ client, endpoints }) => {
    endpoints[0]!.fail({
      type: 'error',
      code: -32000,
      message: 'block not found',
      methods: ['eth_getBlockByNumber'],
      when: ({ params }) => params[0] === '0x63',
    })
    assert.equal(await client.getHeader(asBlockNumber(99), signal), undefined)
    assert.equal(client.isDown(), false)
  })
})

test('a block below the head is asked for again when a node that lags does not know it', async () => {
  await withChain(async ({ client, endpoints }, network) => {
    const { number } = await client.getHead(signal)
    endpoints[0]!.fail({ type: 'lag', blocks: 3, times: 1 })
    const below = await client.getHeader(asBlockNumber(number - 1), signal)
    assert.equal(encodeHex(below!.hash), network.blocks[number - 1]!.hash)
  })
})

test('an endpoint that answers without a newest block counts as down', async () => {
  await withChain(async ({ client, endpoints }) => {
    await client.getHead(signal)
    endpoints[0]!.fail({ type: 'result', value: null, methods: ['eth_getBlockByNumber'] })
    await assert.rejects(client.getHead(signal), RetryableError)
    assert.equal(client.isDown(), true)
  })
})

test('count and root of the bridge are those of the block that is asked about', async () => {
  await withChain(async ({ client }, network) => {
    assert.equal(await client.getContractDepositCount(asBlockNumber(3), signal), 3)
    const root = await client.getContractLocalExitRoot(asBlockNumber(5), signal)
    assert.equal(encodeHex(root!), network.localExitRoot())
  })
})

test('the root of a bridge older than etrog is read with its own getter', async () => {
  await withChain(async ({ client, endpoints }) => {
    const isGetRoot = ({ params }: { params: readonly unknown[] }) =>
      (params[0] as { data: string }).data === '0x5ca1e165'
    endpoints[0]!.fail({
      type: 'error',
      code: 3,
      message: 'execution reverted',
      methods: ['eth_call'],
      when: isGetRoot,
    })
    endpoints[0]!.fail({
      type: 'result',
      value: `0x${'5e'.repeat(32)}`,
      methods: ['eth_call'],
      when: ({ params }) => (params[0] as { data: string }).data === '0x3ae05047',
    })
    assert.deepEqual(
      await client.getContractLocalExitRoot(asBlockNumber(5), signal),
      new Uint8Array(32).fill(0x5e),
    )
  })
})

test('state that is gone, or a contract that does not answer, is undefined; any other failure is an error', async () => {
  await withChain(async ({ client, endpoints }) => {
    const block = asBlockNumber(2)
    for (const [code, message] of [
      [-32000, 'missing trie node ab (path )'],
      [-32002, 'No state available for block 45615500 (0xab…cd)'],
      [-32603, 'Internal error: MissingTrieNodeException: Node A: P:2 is missing from the DB'],
      [3, 'execution reverted'],
    ] as const) {
      const fault = endpoints[0]!.fail({ type: 'error', code, message, methods: ['eth_call'] })
      assert.equal(await client.getContractDepositCount(block, signal), undefined)
      assert.equal(await client.getContractLocalExitRoot(block, signal), undefined)
      fault.off()
    }
    endpoints[0]!.fail({ type: 'error', code: -32603, message: 'busy', methods: ['eth_call'], times: 1 })
    await assert.rejects(client.getContractDepositCount(block, signal), RetryableError)
  })
})

test('exit roots that the manager knows are distinguished from unknown ones', async () => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, network] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().deposit())
  const injected = l1.globalExitRoot()
  network.mine((block) => block.tx().injectGer(injected))
  const chain = await openChain(network)
  const known = Buffer.from(injected.slice(2), 'hex')
  const unknown = new Uint8Array(32).fill(9)
  const ask = (block: number) =>
    chain.client.findInjectedGers([unknown, known, unknown], asBlockNumber(block), signal)
  assert.deepEqual(await ask(1), [false, true, false])
  assert.deepEqual(await ask(0), [false, false, false])
  assert.deepEqual(await chain.client.findInjectedGers([], asBlockNumber(1), signal), [])
  await chain.close()
})

test('close aborts all calls in flight', async () => {
  await withChain(async ({ client, endpoints }) => {
    endpoints[0]!.fail({ type: 'silent' })
    const asked = endpoints[0]!.nextCall('eth_chainId')
    const head = client.getHead(signal)
    await asked
    client.close()
    await assert.rejects(head, /closed/)
  })
})

test('no log line and no error has an RPC address, whatever fails', async (t) => {
  const answers: readonly WireAnswer[] = [
    { status: 500, body: 'boom' },
    { status: 429, body: '' },
    { body: '{' },
    { body: '{"jsonrpc":"2.0","id":1,"result":"0x5"}' },
    'close',
  ]
  for (const answer of [...answers.map((each) => () => each), endlessSilence(t)]) {
    const rpc = await serveScript(answer)
    const { logger, lines } = createKeepingLogger()
    const network = network1().config([rpc.url])
    const client = createChainClient({ network, logger, clock: new VirtualClock() })
    const errors: unknown[] = []
    for (const ask of [() => client.verifyIdentity(signal), () => client.getHead(signal)])
      await ask().catch((error: unknown) => errors.push(error))
    client.close()
    await rpc.close()
    const shown =
      JSON.stringify(lines) +
      errors.map((error) => (error instanceof Error ? `${error.stack} ${String(error.cause)}` : '')).join()
    assert.ok(errors.length > 0)
    for (const secret of [SECRET, '127.0.0.1']) assert.ok(!shown.includes(secret), shown)
  }
})
