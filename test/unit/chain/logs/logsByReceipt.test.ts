import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint } from '../../../../src/chain/endpoints/endpoint.js'
import { MissingLogs } from '../../../../src/chain/logs/missingLogs.js'
import type { RpcBlock } from '../../../../src/chain/rpc/rpcBlocks.js'
import { ChainDataError } from '../../../../src/errors/chainDataError.js'
import { FatalError } from '../../../../src/errors/chainErrors.js'
import { eventFilterOf } from '../../../../src/events/decodeLog.js'
import { decodeHex } from '../../../../src/protocol/hex.js'
import { createFakeWorld, type FakeNetwork } from '../../../support/fakeChain.js'
import type { FakeCall, Fault } from '../../../support/fakeEndpoint.js'
import { userContract } from '../../../support/fakeState.js'
import { depositCounts, fetchRange, numbers, withChain } from '../openChain.js'

const CAP = 65_536
const config = { rpcMaxResponseBytes: CAP }

/** Network 1: two deposits, a block of many transactions with long metadata and foreign logs, two deposits. */
function networkWithHeavyBlock(transactions: number, metadataBytes: number): FakeNetwork {
  const network = createFakeWorld({ networks: [1] }).network(1)
  const light = () => network.mine((block) => block.tx().deposit())
  light()
  light()
  network.mine((block) => {
    for (let count = 0; count < transactions; count++) {
      const tx = block.tx({ to: userContract(1) })
      tx.noise()
      tx.deposit({ metadata: `0x${'ab'.repeat(metadataBytes)}` })
    }
  })
  light()
  light()
  return network
}

const HEAVY = 3

test('a block with more logs than the cap is read by its receipts, at the head, near it and far below', async () => {
  for (const emptyBlocks of [0, 3, 200]) {
    const network = networkWithHeavyBlock(60, 3_000)
    network.mineEmpty(emptyBlocks)
    await withChain(
      network,
      async (chain) => {
        const counts: number[] = []
        for (let from = 1; from <= network.head.number; ) {
          const range = await fetchRange(chain, from, network.head.number)
          counts.push(...depositCounts(range.blocks))
          from = range.head.number + 1
        }
        assert.deepEqual(counts, numbers(0, 63), `${emptyBlocks} blocks above`)
      },
      { config },
    )
  }
})

test('a block with too many logs that is the head is read by its receipts', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => {
    for (let count = 0; count < 30; count++) block.tx().deposit({ metadata: `0x${'ab'.repeat(3_000)}` })
  })
  await withChain(
    network,
    async (chain) => {
      const head = await chain.client.getHead(new AbortController().signal)
      assert.deepEqual(
        depositCounts((await fetchRange(chain, head.number, head.number)).blocks),
        numbers(0, 29),
      )
    },
    { config },
  )
})

test('a block whose logs a provider refuses is read by its receipts', async () => {
  const refusals: readonly Fault[] = [
    { type: 'results', limit: 5 },
    { type: 'http', status: 413, body: 'Request Entity Too Large', methods: ['eth_getLogs'] },
  ]
  for (const refusal of refusals)
    await withChain(networkWithHeavyBlock(10, 4), async (chain) => {
      chain.endpoints[0]!.fail(refusal)
      const range = await fetchRange(chain, HEAVY, HEAVY)
      assert.deepEqual(depositCounts(range.blocks), numbers(2, 11))
    })
})

test('a transaction with more logs than the cap halts the network under its own reason, once every endpoint was asked', async () => {
  const network = networkWithHeavyBlock(1, CAP)
  await withChain(
    network,
    async (chain) => {
      await assert.rejects(
        fetchRange(chain, HEAVY, HEAVY),
        (error) =>
          error instanceof FatalError &&
          error.reason === 'answer_too_large' &&
          /block 3 are larger than rpc_max_response_bytes/.test(error.message),
      )
    },
    { config, endpoints: 2 },
  )
})

test('logs that are too heavy to decode are read in smaller windows, those of a block by its receipts', async () => {
  const heavy: Fault = { type: 'http', status: 200, body: '['.repeat(100_000), methods: ['eth_getLogs'] }
  for (const when of [isWide, () => true]) {
    const network = networkWithHeavyBlock(10, 4)
    await withChain(network, async (chain) => {
      chain.endpoints[0]!.fail({ ...heavy, when })
      const counts: number[] = []
      for (let from = 1; from <= network.head.number; ) {
        const range = await fetchRange(chain, from, network.head.number)
        counts.push(...depositCounts(range.blocks))
        from = range.head.number + 1
      }
      assert.deepEqual(counts, numbers(0, 13))
    })
  }
})

/** Whether a call asks for the logs of more than one block. */
function isWide({ params: [filter] }: FakeCall): boolean {
  const { fromBlock, toBlock } = filter as { readonly fromBlock: string; readonly toBlock: string }
  return fromBlock !== toBlock
}

test('a transaction whose logs are too heavy to decode is named like one with more logs than the cap', async () => {
  const methods = ['eth_getLogs', 'eth_getTransactionReceipt']
  await withChain(networkWithHeavyBlock(1, 4), async (chain) => {
    chain.endpoints[0]!.fail({ type: 'http', status: 200, body: '['.repeat(100_000), methods })
    await assert.rejects(
      fetchRange(chain, HEAVY, HEAVY),
      (error) =>
        error instanceof FatalError &&
        error.reason === 'answer_too_large' &&
        /the logs of one transaction in block 3 /.test(error.message),
    )
  })
})

const refused: Fault = { type: 'results', limit: 5 }

test('a refused block whose bloom is full is read by its receipts once, not asked for again by its hash', async () => {
  const network = networkWithHeavyBlock(10, 4)
  Object.assign(network.blocks[HEAVY]!, { logsBloom: `0x${'ff'.repeat(256)}` })
  await withChain(network, async (chain) => {
    chain.endpoints[0]!.fail(refused)
    assert.deepEqual(depositCounts((await fetchRange(chain, HEAVY, HEAVY)).blocks), numbers(2, 11))
  })
})

test('what the bloom of a block read by its receipts shows is a log unless their blooms show it too', async () => {
  const network = networkWithHeavyBlock(1, 4)
  const { logsBloom, logs } = network.blocks[HEAVY]!
  const deposit = logs.at(-1)!
  const filter = eventFilterOf({ bridge: deposit.address, globalExitRootManager: `0x${'9'.repeat(40)}` })
  const block = { number: HEAVY, logsBloom } as RpcBlock
  const endpoint = { alias: 'a' } as Endpoint
  const complete = (receiptsBloom: Uint8Array) =>
    new MissingLogs(filter).complete(block, [], endpoint, new AbortController().signal, {
      areLogsApart: false,
      receiptsBloom,
    })
  assert.deepEqual(await complete(decodeHex(logsBloom)!), [])
  await assert.rejects(
    complete(new Uint8Array(256)),
    (error) => error instanceof ChainDataError && error.reason === 'missing_log',
  )
})
