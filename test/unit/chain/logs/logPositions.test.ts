import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainDataError } from '../../../../src/errors/chainDataError.js'
import { RetryableError } from '../../../../src/errors/chainErrors.js'
import type { IndexedBlock } from '../../../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { compileMerkleModule, createLogScanner } from '../../../../src/wasm/wasmModule.js'
import { createFakeWorld, type FakeNetwork } from '../../../support/fakeChain.js'
import { userContract } from '../../../support/fakeState.js'
import { depositCounts, fetchRange, numbers, withChain } from '../openChain.js'

const PER_TRANSACTION = { type: 'logIndex' } as const
const NO_TRANSACTION_INDEX = { type: 'logField', change: () => ({ transactionIndex: null }) } as const

/**
 * Block 1: one deposit after a foreign log. Block 2: two transactions, with log indexes 0 and 1. Block 3: two with
 * a deposit each, both with index 0. Block 4: indexes 2, then 0. Block 5: only the second transaction makes a
 * deposit.
 */
function busyNetwork(): FakeNetwork {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    tx.noise()
    tx.deposit()
  })
  network.mine((block) => {
    block.tx().deposit()
    const tx = block.tx({ to: userContract(1) })
    tx.noise()
    tx.deposit()
  })
  network.mine((block) => {
    block.tx().deposit()
    block.tx().deposit()
  })
  network.mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    tx.noise()
    tx.noise()
    tx.deposit()
    block.tx().deposit()
  })
  network.mine((block) => {
    block.tx({ to: userContract(1) }).noise()
    block.tx().deposit()
  })
  return network
}

/** Positions of deposits, by count. */
function places(blocks: readonly IndexedBlock[]): number[] {
  return blocks.flatMap(({ events }) => events.map(({ logIndex }) => logIndex))
}

const place = (transaction: number, log: number) => transaction * 65_536 + log
/** Of a chain that numbers logs per transaction: as given until block 3 shows the numbering, then by transaction. */
const EXPECTED = [1, 0, 1, place(0, 0), place(1, 0), place(0, 2), place(1, 0), place(1, 0)]

test('logs that are numbered per transaction get positions by transaction, from the first block that shows the numbering on', async () => {
  await withChain(busyNetwork(), async (chain) => {
    chain.endpoints[0]!.fail(PER_TRANSACTION)
    const range = await fetchRange(chain, 0, 5)
    assert.deepEqual(depositCounts(range.blocks), numbers(0, 7))
    assert.deepEqual(places(range.blocks), EXPECTED)
    assert.equal(range.perTransactionFrom, 3)
  })
})

test('logs that are numbered per block keep their index', async () => {
  await withChain(busyNetwork(), async (chain) => {
    const range = await fetchRange(chain, 0, 5)
    assert.deepEqual(places(range.blocks), [1, 0, 2, 0, 1, 2, 3, 1])
    assert.ok(!('perTransactionFrom' in range))
  })
})

test('far history that is read packed gets the same log positions as the same logs near the head', async () => {
  const network = busyNetwork()
  for (let block = 0; block < 30; block++)
    network.mine((builder) => {
      builder.tx().deposit()
      builder.tx().deposit()
    })
  network.mineEmpty(100)
  const later = numbers(0, 29).flatMap(() => [place(0, 0), place(1, 0)])
  const scanner = createLogScanner(compileMerkleModule())
  for (const faults of [[], [NO_TRANSACTION_INDEX]])
    await withChain(
      network,
      async (chain) => {
        for (const fault of [PER_TRANSACTION, ...faults]) chain.endpoints[0]!.fail(fault)
        // The first range finds out how the endpoint numbers logs.
        for (let round = 0; round < 2; round++) {
          const range = await fetchRange(chain, 0, 40)
          assert.deepEqual(depositCounts(range.blocks), numbers(0, 67))
          assert.deepEqual(places(range.blocks), [...EXPECTED, ...later])
        }
      },
      { scanner },
    )
})

test('where logs do not show how they are numbered, the block shows it, even the first block of a chain', async () => {
  for (const last of [2, 3, 4]) {
    const network = createFakeWorld({ networks: [1] }).network(1)
    network.mine((block) => {
      const tx = block.tx({ to: userContract(1) })
      for (let logs = 2; logs < last; logs++) tx.noise()
      tx.deposit()
      block.tx().deposit()
    })
    await withChain(network, async (chain) => {
      chain.endpoints[0]!.fail(PER_TRANSACTION)
      chain.endpoints[0]!.fail(NO_TRANSACTION_INDEX)
      const range = await fetchRange(chain, 0, 1)
      assert.deepEqual(depositCounts(range.blocks), [0, 1])
      assert.deepEqual(places(range.blocks), [place(0, last - 2), place(1, 0)])
    })
  }
})

test('the numbering that the store knows holds for a range that does not show it by itself', async () => {
  await withChain(busyNetwork(), async (chain) => {
    chain.endpoints[0]!.fail(PER_TRANSACTION)
    chain.client.countPerTransactionFrom(asBlockNumber(3))
    const range = await fetchRange(chain, 5, 5)
    assert.deepEqual(places(range.blocks), [place(1, 0)])
    assert.equal(range.perTransactionFrom, 3)
    // When the block is reverted, the numbering is unknown again.
    chain.client.countPerTransactionFrom(undefined)
    assert.deepEqual(places((await fetchRange(chain, 5, 5)).blocks), [0])
  })
})

test('logs of an endpoint that numbers per block are converted by its receipts', async () => {
  await withChain(busyNetwork(), async (chain) => {
    chain.client.countPerTransactionFrom(asBlockNumber(3))
    assert.deepEqual(places((await fetchRange(chain, 0, 5)).blocks).slice(3), EXPECTED.slice(3))
    assert.deepEqual(places((await fetchRange(chain, 4, 5)).blocks), EXPECTED.slice(5))
  })
})

test('an endpoint that numbers logs per block and has no receipts is not used for logs', async () => {
  await withChain(busyNetwork(), async (chain) => {
    chain.client.countPerTransactionFrom(asBlockNumber(3))
    const noReceipts = chain.endpoints[0]!.fail({
      type: 'error',
      code: -32601,
      message: 'the method does not exist',
      methods: ['eth_getTransactionReceipt', 'eth_getBlockReceipts'],
    })
    await assert.rejects(fetchRange(chain, 4, 5), RetryableError)
    noReceipts.off()
    assert.deepEqual(places((await fetchRange(chain, 4, 5)).blocks), EXPECTED.slice(5))
  })
  await withChain(
    busyNetwork(),
    async (chain) => {
      const [plain, zk] = chain.endpoints
      plain!.fail({
        type: 'error',
        code: -32601,
        message: 'the method does not exist',
        methods: ['eth_getTransactionReceipt', 'eth_getBlockReceipts'],
      })
      zk!.fail(PER_TRANSACTION)
      chain.client.countPerTransactionFrom(asBlockNumber(3))
      assert.deepEqual(places((await fetchRange(chain, 4, 5)).blocks), EXPECTED.slice(5))
    },
    { endpoints: 2 },
  )
})

test('the same log returned twice counts once, however logs are numbered', async () => {
  const network = busyNetwork()
  await withChain(network, async (chain) => {
    const [endpoint] = chain.endpoints
    endpoint!.fail(PER_TRANSACTION)
    endpoint!.fail({ type: 'doubledLogs' })
    const range = await fetchRange(chain, 0, 5)
    assert.deepEqual(places(range.blocks), EXPECTED)
  })
  await withChain(network, async (chain) => {
    chain.endpoints[0]!.fail({ type: 'doubledLogs' })
    assert.deepEqual(places((await fetchRange(chain, 0, 5)).blocks), [1, 0, 2, 0, 1, 2, 3, 1])
  })
})

test('a transaction index that contradicts the block does not make a chain number logs per transaction', async () => {
  await withChain(busyNetwork(), async (chain) => {
    chain.endpoints[0]!.fail({
      type: 'logField',
      change: ({ transactionIndex }) => ({ transactionIndex: `0x${9 - Number(transactionIndex)}` }),
    })
    const range = await fetchRange(chain, 0, 5)
    assert.deepEqual(places(range.blocks), [1, 0, 2, 0, 1, 2, 3, 1])
    assert.ok(!('perTransactionFrom' in range))
  })
})

test('a log index too large for a position is refused by name', async () => {
  await withChain(busyNetwork(), async (chain) => {
    chain.endpoints[0]!.fail(PER_TRANSACTION)
    chain.client.countPerTransactionFrom(asBlockNumber(3))
    const isNamed = (error: unknown) =>
      error instanceof ChainDataError && error.reason === 'log_position_overflow'
    for (const change of [{ logIndex: '0x10000' }, { transactionIndex: '0x10000' }]) {
      const fault = chain.endpoints[0]!.fail({ type: 'logField', change: () => change })
      await assert.rejects(fetchRange(chain, 5, 5), isNamed)
      fault.off()
    }
    assert.deepEqual(places((await fetchRange(chain, 5, 5)).blocks), [place(1, 0)])
  })
})
