import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPublicClient, http } from 'viem'
import { parseAbi, parseAbiItem } from 'viem/utils'
import { topicOf } from '../../support/encodedLogs.js'
import { createFakeWorld } from '../../support/fakeChain.js'
import { expectedDeposits, expectedProof, verifiesOnChain } from '../../support/fakeChainModel.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { serveFakeNetwork } from '../../support/fakeEndpoint.js'
import { account, userContract } from '../../support/fakeState.js'
import { ContractTree, EMPTY_ROOT, NaiveTree, naiveRoot, testLeaf } from '../../support/naiveTree.js'

test("the fake chain's empty root and topics are those of the real contracts", () => {
  assert.equal(EMPTY_ROOT, '0x27ae5ba08d7291c96c8cbddcc148bf48a6d68c7974b94356f53754ef6171d757')
  assert.equal(topicOf('BridgeEvent'), '0x501781209a1f8899323b96b4ef08b168df93e0a90c673d1e4cce39366cb62f9b')
  assert.equal(topicOf('ClaimEvent'), '0x1df3f2a973a00d6635911755c260704e95e8a5876997546798770f76396fda4d')
  assert.equal(
    topicOf('UpdateL1InfoTreeV2'),
    '0xaf6c6cd7790e0180a4d22eb8ed846e55846f54ed10e5946db19972b5a0813a59',
  )
})

test('the incremental tree and the naive one agree for 0 to 40 leaves', () => {
  const leaves = Array.from({ length: 40 }, (_, i) => testLeaf(i))
  let tree = new ContractTree()
  for (let count = 0; count <= leaves.length; count++) {
    assert.deepEqual(tree.root, new NaiveTree(leaves.slice(0, count)).root, `${count} leaves`)
    if (count < leaves.length) tree = tree.append(leaves[count]!)
  }
})

test("the small world has the named deposits ready, claimed or waiting, and its ready proofs pass the contract's check", () => {
  const { world, ready, claimed, claimedOnL1, betweenRollups, pending, unsettled } = buildSmallWorld()
  const expected = [0, 1, 2].flatMap((source) => expectedDeposits(world, source))
  const of = (wanted: { networkId: number; depositCount: number }) =>
    expected.find((each) => each.networkId === wanted.networkId && each.depositCount === wanted.depositCount)!
  assert.deepEqual(
    [ready, claimed, claimedOnL1, betweenRollups, pending, unsettled].map((each) => of(each).readyForClaim),
    [true, false, false, true, false, false],
  )
  assert.deepEqual(
    [of(claimed), of(claimedOnL1)].map((each) => typeof each.claimTransactionHash),
    ['string', 'string'],
  )
  const readyOnes = expected.filter((each) => each.readyForClaim)
  assert.ok(readyOnes.length >= 3)
  for (const each of readyOnes) {
    const proof = expectedProof(world, each, each.usableIndex!)
    assert.ok(verifiesOnChain(world, each, each.usableIndex!, proof), `deposit ${each.globalIndex}`)
    const wrong = { ...proof, localExitRootBranch: [each.leaf, ...proof.localExitRootBranch.slice(1)] }
    assert.ok(!verifiesOnChain(world, each, each.usableIndex!, wrong), `wrong proof of ${each.globalIndex}`)
  }
})

test('an independent client reads consistent blocks, logs, getters and traces', async () => {
  const world = createFakeWorld()
  const l1 = world.network(0)
  l1.mine((block) => {
    const tx = block.tx({ from: account(3), to: userContract(1) })
    tx.noise()
    tx.deposit({ amount: 5n })
    tx.deposit({ leafType: 1 })
  })
  const rpc = await serveFakeNetwork(l1)
  after(() => rpc.close())
  const client = createPublicClient({ transport: http(rpc.url, { retryCount: 0 }) })
  const block = await client.getBlock({ blockTag: 'latest' })
  assert.equal(block.parentHash, l1.blocks[0]!.hash)
  const event = parseAbiItem(
    'event BridgeEvent(uint8 leafType, uint32 originNetwork, address originAddress, uint32 destinationNetwork, address destinationAddress, uint256 amount, bytes metadata, uint32 depositCount)',
  )
  const logs = await client.getLogs({ event, fromBlock: 0n, toBlock: 'latest' })
  assert.deepEqual(
    logs.map(({ args, blockHash }) => [
      args.depositCount,
      args.leafType,
      args.amount,
      blockHash === block.hash,
    ]),
    [
      [0, 0, 5n, true],
      [1, 1, 1n, true],
    ],
  )
  const abi = parseAbi([
    'function depositCount() view returns (uint256)',
    'function getRoot() view returns (bytes32)',
  ])
  const read = (functionName: 'depositCount' | 'getRoot', blockNumber: bigint) =>
    client.readContract({ address: l1.contracts.bridge, abi, functionName, blockNumber })
  assert.deepEqual([await read('depositCount', 0n), await read('depositCount', 1n)], [0n, 2n])
  assert.equal(await read('getRoot', 1n), naiveRoot(l1.deposits().map((deposit) => deposit.leaf)))
  const trace = (await client.request({
    method: 'debug_traceTransaction' as never,
    params: [logs[0]!.transactionHash, { tracer: 'callTracer', tracerConfig: { withLog: true } }] as never,
  })) as {
    to: string
    calls: Array<{ from: string; to: string; calls: Array<{ logs: Array<{ index: string }> }> }>
  }
  const bridgeCalls = trace.calls.filter((call) => call.to === l1.contracts.bridge)
  assert.deepEqual(
    bridgeCalls.map((call) => [call.from, Number(call.calls[0]!.logs[0]!.index)]),
    logs.map((log) => [userContract(1), log.logIndex]),
  )
})

test('a reorg with the same transactions keeps their hashes in other blocks', () => {
  const world = createFakeWorld()
  const l1 = world.network(0)
  l1.mine()
  l1.mine((block) => block.tx().deposit({ amount: 1n }))
  l1.mine((block) => block.tx().deposit({ amount: 2n }))
  const before = { blocks: l1.blocks, leaves: l1.head.state.l1InfoLeaves, root: l1.localExitRoot() }
  l1.reorg({ depth: 2, blocks: 'replay' })
  assert.equal(l1.blocks.length, before.blocks.length + 1)
  assert.equal(l1.blocks[1], before.blocks[1])
  for (const height of [2, 3]) {
    assert.notEqual(l1.blocks[height]!.hash, before.blocks[height]!.hash)
    assert.equal(l1.blocks[height]!.transactions[0]!.hash, before.blocks[height]!.transactions[0]!.hash)
  }
  assert.equal(l1.localExitRoot(), before.root)
  assert.equal(l1.head.state.l1InfoLeaves[0]!.leaf, before.leaves[0]!.leaf, 'parent of the first leaf stayed')
  assert.notEqual(
    l1.head.state.l1InfoLeaves[1]!.leaf,
    before.leaves[1]!.leaf,
    'parent of the second leaf changed',
  )
  l1.reorg({ depth: 2 })
  assert.equal(l1.deposits().length, 1)
})

test('a fault fires as often as configured, then the endpoint answers again', async () => {
  const world = createFakeWorld()
  const l1 = world.network(0)
  l1.mine((block) => block.tx().deposit())
  const rpc = await serveFakeNetwork(l1)
  after(() => rpc.close())
  const ask = async (method: string, params: unknown[] = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(rpc.url, { method: 'POST', body })
    return { status: response.status, body: (await response.json()) as { result?: unknown; error?: unknown } }
  }
  const all = [{ fromBlock: '0x0', toBlock: 'latest', topics: [topicOf('BridgeEvent')] }]
  rpc.endpoint.fail({ type: 'http', status: 429, body: '{}', times: 1 })
  assert.equal((await ask('eth_getLogs', all)).status, 429)
  const hidden = rpc.endpoint.fail({ type: 'hideLogs', match: { blockNumber: 1 }, times: 1 })
  assert.deepEqual((await ask('eth_getLogs', all)).body.result, [])
  assert.equal(((await ask('eth_getLogs', all)).body.result as unknown[]).length, 1)
  assert.equal(hidden.fired, 1)
  const lag = rpc.endpoint.fail({ type: 'lag', blocks: 1 })
  assert.equal((await ask('eth_blockNumber')).body.result, '0x0')
  lag.off()
  assert.equal((await ask('eth_blockNumber')).body.result, '0x1')
  assert.equal(rpc.endpoint.callCount('eth_getLogs'), 3)
})
