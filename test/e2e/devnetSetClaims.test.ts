import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Address, Hex, TransactionReceipt } from 'viem'
import { numberToHex, parseEventLogs } from 'viem/utils'
import { bridgeAsset, inject } from '../../src/devnet/actions.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import { bridgeAbi } from '../../src/devnet/contractAbis.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import { findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { setClaims, unsetClaims } from '../../src/devnet/sovereignActions.js'
import { keccak, ZERO_HASH } from '../support/naiveTree.js'
import { untilEqual } from '../support/until.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { isClaimed, mainnetFlag } from './devnet/naiveClaims.js'
import { testDevnet } from './devnet/testDevnet.js'

const freshAddress: Address = '0x0000000000000000000000000000000000004077'
const indexOf = (depositCount: number): bigint => mainnetFlag + BigInt(depositCount)

interface ClaimRow {
  readonly tx_hash: Hex
  readonly log_index: number
  readonly global_index: Hex
  readonly amount: string
  readonly bridge_tx_hash: Hex | null
  readonly deposit_count: number
  readonly destination_address: Address
  readonly from_address: Address | null
  readonly tx_sender: Address | null
}

/** Deposits `first` … of the L1 to network 1, of 10, 11, 12, … wei, injected. */
async function deposit(devnet: Devnet, first: number, count: number): Promise<TransactionReceipt[]> {
  const [l1, network1] = devnet.chains
  const receipts: TransactionReceipt[] = []
  for (let i = first; i < first + count; i++)
    receipts.push(
      await bridgeAsset(l1, {
        from: devnet.accounts.alice,
        destinationNetwork: 1,
        destinationAddress: freshAddress,
        amount: 10n + BigInt(i),
        forced: true,
      }),
    )
  await inject(devnet, network1)
  return receipts
}

/** The claim in force that the contract's log tells of: a ClaimEvent, or a SetClaim by the administrator. */
function rowOf(
  receipt: TransactionReceipt,
  depositCount: number,
  deposits: readonly TransactionReceipt[],
  { caller, sender }: { caller: Address | null; sender: Address },
): ClaimRow {
  const logs = parseEventLogs({ abi: bridgeAbi, eventName: ['ClaimEvent', 'SetClaim'], logs: receipt.logs })
  const log = logs.find(({ args }) => BigInt(args.globalIndex) === indexOf(depositCount))
  return {
    tx_hash: receipt.transactionHash,
    log_index: log!.logIndex,
    global_index: numberToHex(indexOf(depositCount), { size: 32 }),
    amount: String(10 + depositCount),
    bridge_tx_hash: deposits[depositCount]!.transactionHash,
    deposit_count: depositCount,
    destination_address: freshAddress,
    from_address: caller,
    tx_sender: sender,
  }
}

/**
 * Compares `/claims` with the rows, oldest first, and each of the first `count` bridges with them and with the contract: the claim's
 * transaction, `isClaimed`, and whether a claim with the served proof would pass now.
 */
async function compare(
  devnet: Devnet,
  service: DevnetService,
  count: number,
  rows: readonly ClaimRow[],
): Promise<void> {
  const [, network1] = devnet.chains
  await service.inStepAndFinal()
  const read = async (): Promise<readonly ClaimRow[]> => {
    const { claims } = await service.process.read<{ claims: ClaimRow[] }>(
      '/bridge/v1/claims?network_id=1&order=asc',
    )
    return claims.map((claim) => ({
      tx_hash: claim.tx_hash,
      log_index: claim.log_index,
      global_index: claim.global_index,
      amount: claim.amount,
      bridge_tx_hash: claim.bridge_tx_hash,
      deposit_count: claim.deposit_count,
      destination_address: claim.destination_address,
      from_address: claim.from_address,
      tx_sender: claim.tx_sender,
    }))
  }
  // A sender that came too late for the commit is filled in a little later.
  await untilEqual(read, rows, 'claims on network 1')
  const bridges = await service.allBridges()
  assert.equal(bridges.length, count)
  for (const bridge of bridges) {
    const name = `deposit ${bridge.deposit_count}`
    const claimed = await isClaimed(network1, bridge.deposit_count, 0)
    const row = rows.find(({ deposit_count }) => deposit_count === bridge.deposit_count)
    assert.equal(row !== undefined, claimed, name)
    assert.equal(bridge.claim_tx_hash, row?.tx_hash ?? null, name)
    assert.equal(bridge.ready_for_claim, !claimed, name)
    const { claim } = await requestClaim(service.api, bridge)
    const error = await findClaimError(network1, devnet.accounts.bob, claim)
    assert.equal(error, claimed ? 'AlreadyClaimed' : undefined, name)
  }
}

/** Simulates a step of the administrator on network 1. Rejects with the name of the contract's error. */
function asOperator(
  { chains: [, network1], accounts }: Devnet,
  functionName: 'setMultipleClaims' | 'unsetMultipleClaims',
  depositCount: number,
): Promise<unknown> {
  return network1.client.simulateContract({
    account: accounts.operator,
    address: network1.contracts.bridge,
    abi: bridgeAbi,
    functionName,
    args: [[indexOf(depositCount)]],
  })
}

test('a claim that is unset leaves the list and its deposit is ready again, until it is claimed once more', async (t) => {
  const devnet = await testDevnet(t)
  const [, network1] = devnet.chains
  const { carol, bob } = devnet.accounts
  const deposits = await deposit(devnet, 0, 2)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()
  const claim = async (depositCount: number, from: Address) => {
    const bridge = await service.api.findBridge({ network: 0, deposit: depositCount })
    const { claim: request } = await requestClaim(service.api, bridge!)
    const receipt = await sendClaim(network1, from, request)
    return rowOf(receipt, depositCount, deposits, { caller: from, sender: from })
  }
  const first = await claim(0, carol)
  const second = await claim(1, carol)
  await compare(devnet, service, 2, [first, second])

  await unsetClaims(devnet, network1, [indexOf(0)])
  await compare(devnet, service, 2, [second])
  const again = await claim(0, bob)
  await compare(devnet, service, 2, [second, again])
  // Twice, as the contract has it.
  assert.equal(await network1.client.getBalance({ address: freshAddress }), 10n + 10n + 11n)

  // Both in one transaction; and what was not claimed can't be unset.
  await unsetClaims(devnet, network1, [indexOf(1), indexOf(0)])
  await compare(devnet, service, 2, [])
  await assert.rejects(asOperator(devnet, 'unsetMultipleClaims', 1), /ClaimNotSet/)
  const hashChain = await network1.client.readContract({
    address: network1.contracts.bridge,
    abi: bridgeAbi,
    functionName: 'unsetGlobalIndexHashChain',
  })
  const words = [0, 1, 0].map((depositCount) => numberToHex(indexOf(depositCount), { size: 32 }))
  assert.equal(
    hashChain,
    words.reduce((chain, word) => keccak(chain, word), ZERO_HASH),
  )
  // A service that reads all this as history finds the same.
  await compare(devnet, await serviceOn(t, devnet), 2, [])
})

test('a claim that the administrator sets is listed as soon as its deposit is there, and can be unset', async (t) => {
  const devnet = await testDevnet(t)
  const [, network1] = devnet.chains
  const { operator, carol } = devnet.accounts
  const deposits = await deposit(devnet, 0, 3)
  const service = await serviceOn(t, devnet)
  const byOperator = { caller: null, sender: operator }

  // Deposit 4 does not exist yet.
  const set = await setClaims(devnet, network1, [indexOf(4), indexOf(2), indexOf(0)])
  const ofSecond = rowOf(set, 2, deposits, byOperator)
  const ofFirst = rowOf(set, 0, deposits, byOperator)
  await compare(devnet, service, 3, [ofSecond, ofFirst])
  await assert.rejects(asOperator(devnet, 'setMultipleClaims', 2), /AlreadyClaimed/)

  deposits.push(...(await deposit(devnet, 3, 2)))
  const ofLast = rowOf(set, 4, deposits, byOperator)
  await compare(devnet, service, 5, [ofLast, ofSecond, ofFirst])

  await unsetClaims(devnet, network1, [indexOf(2), indexOf(4)])
  await compare(devnet, service, 5, [ofFirst])
  const bridge = await service.api.findBridge({ network: 0, deposit: 4 })
  const claimed = await sendClaim(network1, carol, (await requestClaim(service.api, bridge!)).claim)
  const bySelf = rowOf(claimed, 4, deposits, { caller: carol, sender: carol })
  const setAgain = rowOf(await setClaims(devnet, network1, [indexOf(2)]), 2, deposits, byOperator)
  await compare(devnet, service, 5, [ofFirst, bySelf, setAgain])
  await compare(devnet, await serviceOn(t, devnet), 5, [ofFirst, bySelf, setAgain])
  // Only the one that was claimed was paid.
  assert.equal(await network1.client.getBalance({ address: freshAddress }), 14n)
})
