import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex, TransactionReceipt } from 'viem'
import { decodeEventLog, numberToHex, parseEther } from 'viem/utils'
import {
  bridgeAsset,
  bridgeMessage,
  bridgeThroughContract,
  inject,
  settle,
  updateGlobalExitRoot,
} from '../../src/devnet/actions.js'
import {
  bridgeAbi,
  globalExitRootManagerL1Abi,
  globalExitRootManagerL2Abi,
  rollupManagerAbi,
} from '../../src/devnet/contractAbis.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import {
  depositLeaf,
  EMPTY_ROOT,
  globalExitRoot,
  keccak,
  l1InfoLeaf,
  naiveRoot,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../support/naiveTree.js'
import { etherTo } from './devnet/naiveClaims.js'
import { testDevnet } from './devnet/testDevnet.js'

const leafOfEther = (...ether: Parameters<typeof etherTo>): Hex => depositLeaf(etherTo(...ether))

test('the local exit root after every deposit is that of a plain tree over the leaves', async (t) => {
  const { chains, accounts } = await testDevnet(t)
  const { alice, bob } = accounts
  const [, network1] = chains
  const leaves: Hex[] = []
  assert.equal(await localExitRoot(network1), EMPTY_ROOT)

  for (let depositCount = 0; depositCount < 18; depositCount++) {
    const amount = BigInt(depositCount + 1)
    if (depositCount % 3 === 0) {
      const metadata = numberToHex(depositCount, { size: depositCount + 1 })
      await bridgeMessage(network1, {
        from: alice,
        destinationNetwork: 2,
        destinationAddress: bob,
        amount,
        metadata,
        forced: false,
      })
      leaves.push(
        depositLeaf({
          leafType: 1,
          originNetwork: 1,
          originAddress: alice,
          destinationNetwork: 2,
          destinationAddress: bob,
          amount,
          metadata,
        }),
      )
    } else {
      await bridgeAsset(network1, {
        from: alice,
        destinationNetwork: 0,
        destinationAddress: bob,
        amount,
        forced: depositCount % 2 === 0,
      })
      leaves.push(leafOfEther(0, bob, amount))
    }
    assert.equal(await localExitRoot(network1), naiveRoot(leaves), `after ${depositCount + 1} deposits`)
    assert.equal(await readBridge(network1, 'depositCount'), BigInt(leaves.length))
  }
})

test('an unforced deposit changes the tree at once, and the mainnet exit root only with the next update', async (t) => {
  const devnet = await testDevnet(t)
  const [l1] = devnet.chains
  const { alice, bob } = devnet.accounts
  const step = { from: alice, destinationNetwork: 1, destinationAddress: bob }
  await bridgeAsset(l1, { ...step, amount: 1n, forced: false })
  await bridgeAsset(l1, { ...step, amount: 2n, forced: false })
  const root = naiveRoot([leafOfEther(1, bob, 1n), leafOfEther(1, bob, 2n)])

  assert.equal(await localExitRoot(l1), root)
  assert.equal(await readBridge(l1, 'lastUpdatedDepositCount'), 0)
  assert.equal(await readManager(devnet, 'lastMainnetExitRoot'), ZERO_HASH)
  assert.equal(await readManager(devnet, 'depositCount'), 0n)

  await updateGlobalExitRoot(l1, bob)
  await updateGlobalExitRoot(l1, bob)
  assert.equal(await readBridge(l1, 'lastUpdatedDepositCount'), 2)
  assert.equal(await readManager(devnet, 'lastMainnetExitRoot'), root)
  assert.equal(await readManager(devnet, 'depositCount'), 1n, 'the second call had nothing to publish')
})

test('the L1 info tree has one leaf per global exit root, with parent hash and timestamp', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob } = devnet.accounts
  const ether = { isMessage: false, token: ZERO_ADDRESS, metadata: '0x' as Hex }
  const target = { destinationNetwork: 1, destinationAddress: bob, forceUpdateGlobalExitRoot: true }
  assert.equal(await l1InfoRootMap(devnet, 0), EMPTY_ROOT)

  await bridgeAsset(l1, { from: alice, ...target, amount: 1n, forced: true })
  // Three leaves in one transaction share parent hash and timestamp.
  await bridgeThroughContract(
    l1,
    alice,
    [2n, 3n, 4n].map((amount) => ({ ...ether, ...target, amount })),
  )
  await bridgeAsset(network1, {
    from: alice,
    destinationNetwork: 0,
    destinationAddress: bob,
    amount: 9n,
    forced: true,
  })
  await settle(devnet, network1)
  await settle(devnet, network1)

  const updates = await managerEvents(devnet, 'UpdateL1InfoTree')
  const roots = await managerEvents(devnet, 'UpdateL1InfoTreeV2')
  assert.equal(updates.length, 5, 'settling the same root again makes no leaf')
  const leaves: Hex[] = []
  for (const [index, { args, blockNumber, logIndex }] of updates.entries()) {
    const block = await l1.client.getBlock({ blockNumber })
    leaves.push(
      l1InfoLeaf(
        globalExitRoot(args.mainnetExitRoot, args.rollupExitRoot),
        block.parentHash,
        Number(block.timestamp),
      ),
    )
    const root = naiveRoot(leaves)
    assert.deepEqual(roots[index]?.args, {
      currentL1InfoRoot: root,
      leafCount: index + 1,
      blockhash: BigInt(block.parentHash),
      minTimestamp: block.timestamp,
    })
    assert.equal(roots[index]?.logIndex, logIndex + 1)
    assert.equal(await l1InfoRootMap(devnet, index + 1), root)
  }
  const expectedMainnetRoots = [1, 2, 3, 4, 4].map((count) =>
    naiveRoot([1n, 2n, 3n, 4n].slice(0, count).map((amount) => leafOfEther(1, bob, amount))),
  )
  assert.deepEqual(
    updates.map(({ args }) => args.mainnetExitRoot),
    expectedMainnetRoots,
  )
})

test('a settlement puts the local exit root into the rollup exit tree, and adds its L1 info leaf before its own event', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1, network2] = devnet.chains
  const { alice, bob, operator } = devnet.accounts
  const readRollups = { address: l1.contracts.rollupManager!, abi: rollupManagerAbi } as const
  assert.equal(await l1.client.readContract({ ...readRollups, functionName: 'rollupCount' }), 2)
  assert.equal(await readManager(devnet, 'lastRollupExitRoot'), ZERO_HASH)

  const step = { from: alice, destinationNetwork: 0, destinationAddress: bob }
  await bridgeAsset(network2, { ...step, amount: parseEther('2'), forced: false })
  const root2 = naiveRoot([leafOfEther(0, bob, parseEther('2'))])
  const receipt = await settle(devnet, network2)
  assert.equal(await readManager(devnet, 'lastRollupExitRoot'), naiveRoot([ZERO_HASH, root2]))
  assert.deepEqual(topicsOf(receipt), [
    'UpdateL1InfoTree',
    'UpdateL1InfoTreeV2',
    'VerifyBatchesTrustedAggregator',
    'VerifyPessimisticStateTransition',
  ])

  await bridgeAsset(network1, { ...step, amount: parseEther('1'), forced: true })
  const root1 = naiveRoot([leafOfEther(0, bob, parseEther('1'))])
  const settled = await settle(devnet, network1)
  const rollupExitRoot = naiveRoot([root1, root2])
  assert.equal(
    await l1.client.readContract({ ...readRollups, functionName: 'getRollupExitRoot' }),
    rollupExitRoot,
  )
  assert.equal(await readManager(devnet, 'getLastGlobalExitRoot'), globalExitRoot(ZERO_HASH, rollupExitRoot))
  const event = decodeEventLog({ abi: rollupManagerAbi, ...settled.logs[2]! })
  assert.deepEqual(event, {
    eventName: 'VerifyBatchesTrustedAggregator',
    args: { rollupID: 1, numBatch: 0n, stateRoot: ZERO_HASH, exitRoot: root1, aggregator: operator },
  })
  const [, chainId, , , lastLocalExitRoot] = await l1.client.readContract({
    ...readRollups,
    functionName: 'rollupIDToRollupDataV2',
    args: [1],
  })
  assert.deepEqual([chainId, lastLocalExitRoot], [BigInt(network1.chainId), root1])
  assert.equal(
    await l1.client.readContract({ ...readRollups, functionName: 'chainIDToRollupID', args: [31339n] }),
    2,
  )
})

test('an injection extends the hash chain of the L2 manager', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob } = devnet.accounts
  const step = { from: alice, destinationNetwork: 1, destinationAddress: bob, forced: true }
  let chain = ZERO_HASH
  for (const amount of [1n, 2n]) {
    await bridgeAsset(l1, { ...step, amount })
    const injected = await inject(devnet, network1)
    assert.ok(injected !== undefined)
    chain = keccak(chain, injected)
  }
  assert.equal(await inject(devnet, network1), undefined, 'known already')
  const value = await network1.client.readContract({
    address: network1.contracts.globalExitRootManager,
    abi: globalExitRootManagerL2Abi,
    functionName: 'insertedGERHashChain',
  })
  assert.equal(value, chain)
})

function readBridge(
  { client, contracts }: Devnet['chains'][number],
  functionName: 'getRoot' | 'depositCount' | 'lastUpdatedDepositCount',
): Promise<Hex | bigint | number> {
  return client.readContract({ address: contracts.bridge, abi: bridgeAbi, functionName })
}

function localExitRoot(chain: Devnet['chains'][number]): Promise<Hex | bigint | number> {
  return readBridge(chain, 'getRoot')
}

function readManager(
  { chains: [{ client, contracts }] }: Devnet,
  functionName: 'lastMainnetExitRoot' | 'lastRollupExitRoot' | 'getLastGlobalExitRoot' | 'depositCount',
): Promise<Hex | bigint> {
  return client.readContract({
    address: contracts.globalExitRootManager,
    abi: globalExitRootManagerL1Abi,
    functionName,
  })
}

function l1InfoRootMap({ chains: [{ client, contracts }] }: Devnet, leafCount: number): Promise<Hex> {
  return client.readContract({
    address: contracts.globalExitRootManager,
    abi: globalExitRootManagerL1Abi,
    functionName: 'l1InfoRootMap',
    args: [leafCount],
  })
}

function managerEvents<Name extends 'UpdateL1InfoTree' | 'UpdateL1InfoTreeV2'>(
  { chains: [{ client, contracts }] }: Devnet,
  eventName: Name,
) {
  return client.getContractEvents({
    address: contracts.globalExitRootManager,
    abi: globalExitRootManagerL1Abi,
    eventName,
    fromBlock: 0n,
    strict: true,
  })
}

function topicsOf({ logs }: TransactionReceipt): string[] {
  const abi = [...globalExitRootManagerL1Abi, ...rollupManagerAbi]
  return logs.map((log) => decodeEventLog({ abi, ...log }).eventName)
}
