import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { NetworkConfig } from '../../src/config/config.types.js'
import { ChainDataError } from '../../src/errors/chainDataError.js'
import { FatalError } from '../../src/errors/chainErrors.js'
import type { IndexedBlock } from '../../src/protocol/chainEvent.js'
import { encodeHex } from '../../src/protocol/hex.js'
import { asBlockNumber } from '../../src/protocol/units.js'
import type { createKeepingLogger } from '../support/keepingLogger.js'
import type { VirtualClock } from '../support/virtualClock.js'
import { headOf, openClient, readAll } from './replayClient.js'
import { type Replay, rangeErrorIds, replayConfig, startReplay } from './replayServer.js'

const { signal } = new AbortController()
let replay: Replay

before(async () => {
  replay = await startReplay('base')
})
after(() => replay.close())

/** What the set expects of a network's deposits, claims and L1 info leaves. */
function expectedFacts(from: Replay, networkId: number) {
  const { bridges, claims, l1InfoLeaves } = from.set.expected
  const place = (row: { blockNumber: number; logIndex: number; txHash: string; blockTimestamp: number }) =>
    `${row.blockNumber}/${row.logIndex} ${row.txHash} at ${row.blockTimestamp}`
  return {
    deposits: bridges
      .filter((row) => row.sourceNetwork === networkId)
      .map((row) => `${row.depositCount} ${place(row)}`),
    claims: claims
      .filter((row) => row.network === networkId)
      .map((row) => `${row.globalIndex} ${place(row)}`),
    leaves:
      networkId === 0
        ? l1InfoLeaves.map((leaf) => `${leaf.blockHash} ${leaf.previousBlockHash} ${leaf.timestamp}`)
        : [],
  }
}

function factsOf(blocks: readonly IndexedBlock[]) {
  const facts = { deposits: [] as string[], claims: [] as string[], leaves: [] as string[] }
  for (const { header, events } of blocks)
    for (const event of events) {
      const place = `${header.number}/${event.logIndex} ${encodeHex(event.transactionHash)} at ${header.timestampSec}`
      if (event.type === 'deposit') facts.deposits.push(`${event.depositCount} ${place}`)
      if (event.type === 'claim')
        facts.claims.push(`0x${event.globalIndex.toString(16).padStart(64, '0')} ${place}`)
      if (event.type === 'l1InfoLeaf')
        facts.leaves.push(`${encodeHex(header.hash)} ${encodeHex(header.parentHash!)} ${header.timestampSec}`)
    }
  return facts
}

/** Under `faults`, the client must return exactly what the set expects. */
async function assertReads(
  networkId: number,
  faults: readonly (readonly [string, object])[],
  overrides: Partial<NetworkConfig> = {},
): Promise<{ lines: ReturnType<typeof createKeepingLogger>['lines']; clock: VirtualClock }> {
  const { faults: switches } = replay.nodes[networkId]!
  const { client, lines, clock } = openClient(replayConfig(replay, networkId, overrides))
  const active = faults.map(([name, options]) => switches.on(name, { add: true, ...options }))
  try {
    const facts = factsOf(await readAll(client, headOf(replay, networkId)))
    assert.deepEqual(facts, expectedFacts(replay, networkId))
    assert.ok(facts.deposits.length > 0, 'the set has deposits')
    // The server does not count the block times that it changes in logs.
    for (const { name, fired } of active)
      assert.ok(fired > 0 || name === 'blockTimestamp', `${name} never fired`)
    return { lines, clock }
  } finally {
    switches.off()
    client.close()
  }
}

for (const networkId of [0, 1, 2]) {
  test(`the chain client reads the whole of network ${networkId}: deposits, claims and L1 info leaves as expected`, async () => {
    await assertReads(networkId, [])
  })
}

const curable: readonly (readonly [string, string, object])[] = [
  ['logs in any order', 'unorderedLogs', {}],
  ['logs returned twice', 'duplicateLogs', {}],
  ['every third log returned twice', 'duplicateLogs', { nth: 3 }],
  ['removed logs of another branch among them', 'removedLogs', { mode: 'add', depth: 10 }],
  ['no block time in logs', 'blockTimestamp', { mode: 'absent' }],
  ['zero as block time in logs', 'blockTimestamp', { mode: 'zero' }],
  ['a number as block time in logs', 'blockTimestamp', { mode: 'number' }],
  ['a wrong block time in logs', 'blockTimestamp', { mode: 'wrong' }],
  ['batches refused by an error', 'noBatch', { style: 'error' }],
  ['batches refused by HTTP 400', 'noBatch', { style: 'http400' }],
  ['batches refused call by call', 'noBatch', { style: 'array' }],
  ['batch replies in reverse order', 'batchOrder', { mode: 'reverse' }],
  ['batch replies shuffled', 'batchOrder', { mode: 'shuffle' }],
  ['batch replies without the last', 'batchOrder', { mode: 'drop' }],
  ['batch replies without the first', 'batchOrder', { mode: 'dropFirst' }],
  ['empty blooms', 'zeroBloom', {}],
  ['every second request meets a node that is behind', 'lag', { blocks: 6 }],
  ['any request may meet a node that is behind', 'lag', { blocks: 6, pattern: 'random' }],
  ['queries of logs meet a node that is behind', 'lag', { blocks: 6, pattern: 'logs' }],
  ['refused with 429 and Retry-After', 'http429', { count: 3, retryAfter: 7 }],
  ['refused with 429 in plain text', 'http429', { count: 3, plain: true }],
  ['refused with 503', 'http5xx', { count: 3 }],
  ['refused with 502 in plain text', 'http5xx', { count: 3, status: 502, plain: true }],
  ['connections reset', 'reset', { count: 3 }],
  ['truncated answers', 'truncateJson', { count: 3 }],
  ['connections broken in an answer', 'truncateJson', { count: 3, abort: true }],
  ['null for new blocks', 'nullBlock', { depth: 3, count: 2 }],
  ['an empty list instead of logs', 'emptyLogs', { from: 20, to: 30 }],
  ['logs of another branch for a while', 'orphanLogs', { depth: 6, count: 2 }],
  ['at most 5 logs in an answer', 'maxResults', { limit: 5 }],
]
for (const [title, name, options] of curable) {
  test(`the chain client reads everything in spite of: ${title}`, async () => {
    for (const networkId of [0, 1]) await assertReads(networkId, [[name, options]])
  })
}

test('the chain client reads everything from a node that is behind and answers with an error instead of an incomplete list', async () => {
  await assertReads(1, [
    ['lag', { blocks: 6, pattern: 'all', methods: ['eth_getLogs'], count: 1 }],
    ['noBatch', {}],
    ['aheadOfHead', {}],
  ])
  await assertReads(1, [
    ['lag', { blocks: 6 }],
    ['noBatch', {}],
  ])
})

test('the chain client reads everything from an endpoint that leaves calls unanswered until the time-out', async () => {
  await assertReads(1, [['silent', { count: 2 }]], { rpcTimeoutMs: 150 })
})

test('the chain client reads everything from an endpoint whose answers trickle past the time-out', async () => {
  await assertReads(1, [['slowBody', { count: 2, ms: 40, chunk: 64 }]], { rpcTimeoutMs: 200 })
})

test('the chain client reads everything from endpoints that allow one or seven blocks per window, in the words of every provider', async () => {
  const ids = await rangeErrorIds()
  assert.ok(ids.length >= 40)
  for (const limit of [1, 7])
    for (const error of ids)
      await assertReads(1, [['maxBlockRange', { limit, error }]]).catch((cause: unknown) => {
        throw new Error(`limit ${limit}, ${error}`, { cause })
      })
})

test("a log that is hidden once is found by the block's bloom, whatever its event", async () => {
  const counts = expectedFacts(replay, 1).deposits.length
  for (let depositCount = 0; depositCount < counts; depositCount++)
    await assertReads(1, [['hideLog', { event: 'BridgeEvent', depositCount, mode: 'once' }]])
  for (const event of ['ClaimEvent', 'UpdateHashChainValue', 'NewWrappedToken', 'SetSovereignTokenAddress'])
    await assertReads(1, [['hideLog', { event, mode: 'once' }]])
  for (const event of [
    'UpdateL1InfoTree',
    'UpdateL1InfoTreeV2',
    'VerifyBatchesTrustedAggregator',
    'CreateNewRollup',
  ])
    await assertReads(0, [['hideLog', { event, mode: 'once' }]])
})

test('a log that eth_getLogs by range always leaves out is found by block hash', async () => {
  await assertReads(1, [
    ['hideLog', { event: 'BridgeEvent', depositCount: 3, mode: 'always', where: 'range' }],
  ])
})

test('a log that is always hidden is the fault missing_log, and no event of its block is returned', async () => {
  for (const extra of [[], [['noMethod', { methods: ['eth_getBlockReceipts'] }]]] as const)
    await assert.rejects(
      assertReads(1, [['hideLog', { event: 'BridgeEvent', depositCount: 3, mode: 'always' }], ...extra]),
      (error) => error instanceof ChainDataError && error.reason === 'missing_log',
    )
})

test('with a second endpoint, a log that the first one always hides is read', async () => {
  const other = await startReplay('base')
  try {
    const urls = [replay, other].map((server) => server.info.networks[1]!.rpc)
    const rpc = urls.map((url, index) => ({ url, alias: `endpoint ${index}` }))
    await assertReads(1, [['hideLog', { event: 'BridgeEvent', depositCount: 3, mode: 'always' }]], { rpc })
    await assertReads(1, [['silent', {}]], { rpc, rpcTimeoutMs: 150 })
    const { lines } = await assertReads(1, [['chainId', { value: 5 }]], { rpc })
    assert.ok(lines.some(({ text }) => text === 'endpoint is of another chain'))
  } finally {
    other.close()
  }
})

test('a single endpoint of another chain is fatal, and is used again once its chain is right', async () => {
  const { faults } = replay.nodes[1]!
  const { client, clock } = openClient(replayConfig(replay, 1))
  faults.on('chainId', { value: 5 })
  const isWrongChain = (error: unknown) => error instanceof FatalError && error.reason === 'wrong_chain'
  await assert.rejects(client.verifyIdentity(signal), isWrongChain)
  await assert.rejects(client.getHead(signal), isWrongChain)
  faults.off()
  clock.advance(60_000)
  await client.verifyIdentity(signal)
  assert.equal((await client.getHead(signal)).number, headOf(replay, 1))
  client.close()
})

test('history that the endpoint no longer keeps is a fault that says so', async () => {
  const { faults } = replay.nodes[1]!
  const { client } = openClient(replayConfig(replay, 1))
  faults.on('pruned', { below: 20 })
  await assert.rejects(
    client.fetchRange(asBlockNumber(0), asBlockNumber(31), signal),
    (error) => error instanceof FatalError && error.reason === 'pruned_history',
  )
  assert.equal(await client.getContractDepositCount(asBlockNumber(5), signal), undefined)
  assert.equal(await client.getContractDepositCount(asBlockNumber(31), signal), 6)
  faults.off()
  client.close()
})

test('finality falls back to a count of blocks wherever the tag is not offered, and never goes back', async () => {
  const { faults } = replay.nodes[0]!
  const head = asBlockNumber(headOf(replay, 0))
  const finalizedOf = async (options: object | undefined, asks: number, depth = 0) => {
    const { client, lines, clock } = openClient(
      replayConfig(replay, 0, { finality: { tag: 'finalized', depth } }),
    )
    if (options !== undefined) faults.on('finalized', options)
    const answers: number[] = []
    for (let ask = 0; ask < asks; ask++) {
      answers.push(await client.getFinalizedBlock((await client.getHeader(head, signal))!, signal))
      clock.advance(11_000)
    }
    faults.off()
    client.close()
    return { answers, warnings: lines.filter(({ level }) => level === 'warn').length }
  }
  assert.deepEqual((await finalizedOf(undefined, 2)).answers, [46, 46])
  assert.deepEqual((await finalizedOf(undefined, 1, 10)).answers, [36])
  for (const mode of ['unsupported', 'notfound', 'zero', 'null'])
    assert.deepEqual((await finalizedOf({ mode }, 3)).answers, [0, 0, 0], mode)
  assert.deepEqual((await finalizedOf({ mode: 'regress', by: 10 }, 4)).answers, [46, 46, 46, 46])
  assert.deepEqual((await finalizedOf({ mode: 'stuck' }, 2)).answers, [46, 46])
})

test('an idle network at the tip costs at most three calls per block', async () => {
  const server = await startReplay('base', { head: '0:10,1:10,2:10' })
  try {
    const { client, clock } = openClient(
      replayConfig(server, 1, { finality: { tag: 'finalized', depth: 0 } }),
    )
    await client.verifyIdentity(signal)
    await client.fetchRange(asBlockNumber(0), (await client.getHead(signal)).number, signal)
    const { stats } = server.nodes[1]!
    for (const method of Object.keys(stats.calls)) delete stats.calls[method]
    const blocks = 10
    for (let block = 11; block < 11 + blocks; block++) {
      server.ctl.setHead({ network: 1, to: block })
      clock.advance(2_000)
      const head = await client.getHead(signal)
      await client.getFinalizedBlock(head, signal)
      await client.fetchRange(asBlockNumber(block), head.number, signal)
    }
    const calls = Object.values(stats.calls).reduce((sum, count) => sum + count, 0)
    assert.ok(calls <= 3 * blocks, JSON.stringify(stats.calls))
    client.close()
  } finally {
    server.close()
  }
})
