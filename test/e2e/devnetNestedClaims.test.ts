import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Address, Hex, TransactionReceipt } from 'viem'
import { encodeFunctionData, getAddress, numberToHex, parseEventLogs, stringToHex } from 'viem/utils'
import { bridgeAsset, bridgeMessage, callOnNextMessage, inject, settle } from '../../src/devnet/actions.js'
import type { BridgeAnswer, DepositKey } from '../../src/devnet/apiClient.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import { bridgeAbi, messageReceiverAbi } from '../../src/devnet/contractAbis.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { type ClaimRequest, encodeClaim, findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { ZERO_ADDRESS } from '../support/naiveTree.js'
import { untilEqual } from '../support/until.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { isClaimed } from './devnet/naiveClaims.js'
import { testDevnet } from './devnet/testDevnet.js'

const freshAddress: Address = '0x0000000000000000000000000000000000004077'

/** The fields of a row of `/claims` that the chain and the senders of transactions tell. */
interface ClaimRow {
  readonly tx_hash: Hex
  readonly block_number: number
  readonly log_index: number
  readonly global_index: Hex
  readonly amount: string
  readonly bridge_tx_hash: Hex | null
  readonly origin_network: number
  readonly deposit_count: number
  readonly destination_network: number
  readonly destination_address: Address
  readonly token_network: number
  readonly token_address: Address
  readonly from_address: Address | null
  readonly tx_sender: Address | null
}

interface SentBridge extends BridgeAnswer {
  readonly origin_address: Address | null
  readonly tx_sender: Address | null
  readonly log_index: number
}

/** The row that each ClaimEvent of a transaction on network 1 must have, in their order; only L1 deposits, claimed by `callers`. */
function rowsOf(
  receipt: TransactionReceipt,
  deposits: readonly TransactionReceipt[],
  callers: readonly Address[],
): ClaimRow[] {
  return parseEventLogs({ abi: bridgeAbi, eventName: 'ClaimEvent', logs: receipt.logs }).map((log, i) => {
    const depositCount = Number(log.args.globalIndex & 0xffff_ffffn)
    return {
      tx_hash: receipt.transactionHash,
      block_number: Number(receipt.blockNumber),
      log_index: log.logIndex,
      global_index: numberToHex(log.args.globalIndex, { size: 32 }),
      amount: String(log.args.amount),
      bridge_tx_hash: deposits[depositCount]!.transactionHash,
      origin_network: 0,
      deposit_count: depositCount,
      destination_network: 1,
      destination_address: log.args.destinationAddress,
      token_network: log.args.originNetwork,
      token_address: log.args.originAddress,
      from_address: callers[i]!,
      tx_sender: sentBy(receipt),
    }
  })
}

const sentBy = ({ from }: TransactionReceipt): Address => getAddress(from)

async function claimOf(service: DevnetService, key: DepositKey): Promise<ClaimRequest> {
  const bridge = await service.api.findBridge(key)
  assert.equal(bridge?.ready_for_claim, true, `deposit ${key.deposit} of network ${key.network}`)
  return (await requestClaim(service.api, bridge)).claim
}

/** The claims on network 1, oldest first. A caller whose trace came too late for the commit is corrected a little later. */
function expectClaims(service: DevnetService, rows: readonly ClaimRow[], filter = ''): Promise<void> {
  const path = `/bridge/v1/claims?network_id=1&page_size=1000&order=asc${filter}`
  const read = async () => {
    const { claims } = await service.process.read<{ claims: (ClaimRow & { block_timestamp: number })[] }>(
      path,
    )
    return claims.map(({ block_timestamp: _, ...row }) => row)
  }
  return untilEqual(read, [...rows], `claims${filter}`)
}

const callBridge = ({ contracts }: DevnetChain, data: Hex, value = 0n) => ({
  target: contracts.bridge,
  value,
  data,
})

test('claims that a receiver makes while its message is claimed are listed beside that claim, each with its own caller and fields', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  const { messageReceiver } = network1.contracts
  const message = (amount: bigint, text: string) =>
    bridgeMessage(l1, {
      from: bob,
      destinationNetwork: 1,
      destinationAddress: messageReceiver,
      amount,
      metadata: stringToHex(text),
      forced: true,
    })
  const asset = { from: alice, destinationNetwork: 1, destinationAddress: freshAddress, forced: true }
  const deposits = [
    await bridgeAsset(l1, { ...asset, amount: 11n }),
    await message(22n, 'outer'),
    await message(33n, 'inner'),
    await bridgeAsset(l1, { ...asset, amount: 44n }),
  ]
  await inject(devnet, network1)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()

  const claims = await Promise.all([0, 1, 2, 3].map((deposit) => claimOf(service, { network: 0, deposit })))
  const [first, outer, inner] = claims as [ClaimRequest, ClaimRequest, ClaimRequest]
  await callOnNextMessage(
    network1,
    carol,
    [first, inner].map((claim) => callBridge(network1, encodeClaim(claim))),
  )
  const receipt = await sendClaim(network1, carol, outer)
  await service.inStep()

  // By the contract: three claims, two of them inside.
  const claimed = [0, 1, 2, 3].map((index) => isClaimed(network1, index, 0))
  assert.deepEqual(await Promise.all(claimed), [true, true, true, false])
  const received = { address: messageReceiver, abi: messageReceiverAbi } as const
  assert.equal(await network1.client.readContract({ ...received, functionName: 'messageCount' }), 2n)
  assert.equal(await network1.client.getBalance({ address: freshAddress }), 11n)

  const expected = rowsOf(receipt, deposits, [carol, messageReceiver, messageReceiver])
  assert.deepEqual(
    expected.map(({ deposit_count }) => deposit_count),
    [1, 0, 2],
  )
  await expectClaims(service, expected)
  await expectClaims(service, expected.slice(1), `&from_address=${messageReceiver}`)
  assert.deepEqual(
    (await service.allBridges()).map(({ claim_tx_hash, ready_for_claim }) => [
      claim_tx_hash,
      ready_for_claim,
    ]),
    [...Array(3).fill([receipt.transactionHash, false]), [null, true]],
  )
  for (const [index, claim] of claims.entries()) {
    const { claim: again } = await requestClaim(service.api, (await service.allBridges())[index]!)
    assert.deepEqual(again, claim)
    assert.equal(await findClaimError(network1, carol, again), index < 3 ? 'AlreadyClaimed' : undefined)
  }
  // A service that reads them as history finds the same.
  const later = await serviceOn(t, devnet)
  await later.inStepAndFinal()
  await expectClaims(later, expected)
})

test('deposits that a receiver makes while its message is claimed have the receiver as their sender and can be claimed', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1, network2] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  const { messageReceiver } = network1.contracts
  const sent = await bridgeMessage(l1, {
    from: bob,
    destinationNetwork: 1,
    destinationAddress: messageReceiver,
    amount: 100n,
    metadata: stringToHex('bridge it on'),
    forced: true,
  })
  await inject(devnet, network1)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()

  const metadata = stringToHex('sent while a claim ran')
  const toL1 = encodeFunctionData({
    abi: bridgeAbi,
    functionName: 'bridgeAsset',
    args: [0, freshAddress, 60n, ZERO_ADDRESS, true, '0x'],
  })
  const toNetwork2 = encodeFunctionData({
    abi: bridgeAbi,
    functionName: 'bridgeMessage',
    args: [2, network2.contracts.messageReceiver, true, metadata],
  })
  // Before and after it, the same account bridges by itself: those are no deposits of the receiver.
  const own = { from: carol, destinationNetwork: 0, destinationAddress: carol, forced: true }
  const before = await bridgeAsset(network1, { ...own, amount: 1n })
  await callOnNextMessage(network1, alice, [
    callBridge(network1, toL1, 60n),
    callBridge(network1, toNetwork2, 5n),
  ])
  const receipt = await sendClaim(network1, carol, await claimOf(service, { network: 0, deposit: 0 }))
  const after = await bridgeAsset(network1, { ...own, amount: 2n })
  await settle(devnet, network1)
  await inject(devnet, network2)
  await service.inStepAndFinal()

  const events = [before, receipt, after].flatMap(({ logs, transactionHash }) =>
    parseEventLogs({ abi: bridgeAbi, eventName: 'BridgeEvent', logs }).map(({ args, logIndex }) => ({
      tx_hash: transactionHash,
      log_index: logIndex,
      deposit_count: args.depositCount,
      destination_network: args.destinationNetwork,
      destination_address: args.destinationAddress,
      amount: String(args.amount),
      leaf_type: args.leafType,
      token_address: args.originAddress,
      metadata: args.metadata,
    })),
  )
  const senders = [carol, messageReceiver, messageReceiver, carol]
  const expected = events.map((event, i) => ({ ...event, origin_address: senders[i], tx_sender: carol }))
  const read = async ({ api }: DevnetService) => {
    const bridges = (await api.listBridges({ network_id: 1, order: 'asc' })) as readonly SentBridge[]
    return bridges.map((row) => ({
      tx_hash: row.tx_hash,
      log_index: row.log_index,
      deposit_count: row.deposit_count,
      destination_network: row.destination_network,
      destination_address: row.destination_address,
      amount: row.amount,
      leaf_type: row.leaf_type,
      token_address: row.token_address,
      metadata: row.metadata,
      origin_address: row.origin_address,
      tx_sender: row.tx_sender,
    }))
  }
  const later = await serviceOn(t, devnet)
  await later.inStepAndFinal()
  for (const either of [service, later]) {
    await untilEqual<unknown>(() => read(either), expected, 'deposits of network 1')
    await expectClaims(either, rowsOf(receipt, [sent], [carol]))
  }

  await sendClaim(l1, bob, await claimOf(service, { network: 1, deposit: 1 }))
  await sendClaim(network2, bob, await claimOf(service, { network: 1, deposit: 2 }))
  assert.equal(await l1.client.getBalance({ address: freshAddress }), 60n)
  const received = { address: network2.contracts.messageReceiver, abi: messageReceiverAbi } as const
  assert.equal(await network2.client.readContract({ ...received, functionName: 'lastData' }), metadata)
})
