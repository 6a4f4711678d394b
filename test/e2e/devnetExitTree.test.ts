import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bridgeAsset, bridgeThroughContract, settle } from '../../src/devnet/actions.js'
import type { BridgeAnswer } from '../../src/devnet/apiClient.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import { inOneBlock } from '../../src/devnet/devnetChain.js'
import { type ClaimRequest, findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { cutExitTree, forwardLeaves } from '../../src/devnet/sovereignActions.js'
import { depositLeaf, type LeafParts, naiveBranch, naiveRoot, ZERO_ADDRESS } from '../support/naiveTree.js'
import { until } from '../support/until.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { depositEther, etherTo } from './devnet/naiveClaims.js'
import { testDevnet } from './devnet/testDevnet.js'

/** Bridges ETH from network 1 to the L1, all in one transaction. The L1's bridge holds the ETH to pay them out. */
async function depositTogether(devnet: Devnet, leaves: readonly LeafParts[]): Promise<void> {
  const { alice, bob } = devnet.accounts
  await depositEther(devnet.chains[0], alice, [etherTo(1, bob, 100n)])
  const ether = {
    isMessage: false,
    token: ZERO_ADDRESS,
    metadata: '0x',
    forceUpdateGlobalExitRoot: true,
  } as const
  await bridgeThroughContract(
    devnet.chains[1],
    alice,
    leaves.map(({ destinationNetwork, destinationAddress, amount }) => ({
      ...{ ...ether, destinationNetwork, destinationAddress, amount },
    })),
  )
}

/** Deposits of network 1, oldest first, once exactly these are ready. */
async function onceReady(service: DevnetService, counts: readonly number[]): Promise<BridgeAnswer[]> {
  const bridges = await until(
    async () => (await service.allBridges()).filter(({ origin_network }) => origin_network === 1),
    (all) => readyOf(all).join() === counts.join(),
    `deposits ${counts.join()} ready`,
  )
  return bridges
}

const readyOf = (bridges: readonly BridgeAnswer[]): number[] =>
  bridges.filter(({ ready_for_claim }) => ready_for_claim).map(({ deposit_count }) => deposit_count)

/** The claim of a later deposit under the roots of another claim. */
function claimUnder(
  claim: ClaimRequest,
  leaves: readonly LeafParts[],
  index: number,
  { amount }: LeafParts,
): ClaimRequest {
  const smtProofLocalExitRoot = naiveBranch(leaves.map(depositLeaf), index)
  return { ...claim, smtProofLocalExitRoot, globalIndex: BigInt(index), amount }
}

test('when a root is settled between two deposits of one transaction, the contract accepts the claims that the API calls ready and no others', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { bob, carol } = devnet.accounts
  const service = await serviceOn(t, devnet)
  const leaves = [1n, 2n, 3n].map((amount) => etherTo(0, bob, amount))
  await depositTogether(devnet, leaves)
  const settled = leaves.slice(0, 2)
  await settle(devnet, network1, naiveRoot(settled.map(depositLeaf)))
  await service.inStepAndFinal()
  const [first, second] = await onceReady(service, [0, 1])

  const { claim } = await requestClaim(service.api, first!)
  const beyond = claimUnder(claim, settled, 2, leaves[2]!)
  assert.equal(await findClaimError(l1, carol, beyond), 'InvalidSmtProof')
  await sendClaim(l1, carol, claim)
  await sendClaim(l1, carol, (await requestClaim(service.api, second!)).claim)
  const again = await service.killAndRestart()
  await settle(devnet, network1)
  await again.inStepAndFinal()
  const [, , third] = await onceReady(again, [2])
  await sendClaim(l1, carol, (await requestClaim(again.api, third!)).claim)
})

test('bridge transactions of one block are listed in their order, and a root settled between two of them makes those before it ready', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  const service = await serviceOn(t, devnet)
  await depositEther(l1, alice, [etherTo(1, bob, 100n)])
  const senders = [alice, bob, carol, alice]
  const receipts = await inOneBlock(
    network1,
    senders.map((from, i) => () => {
      const deposit = { destinationNetwork: 0, destinationAddress: bob, amount: BigInt(i + 1) }
      return bridgeAsset(network1, { ...deposit, from, forced: true })
    }),
  )
  const inOrder = receipts
    .map(({ transactionHash, transactionIndex }, i) => ({ transactionHash, transactionIndex, i }))
    .sort((a, b) => a.transactionIndex - b.transactionIndex)
  const leaves = inOrder.map(({ i }) => etherTo(0, bob, BigInt(i + 1)))
  await settle(devnet, network1, naiveRoot(leaves.slice(0, 2).map(depositLeaf)))
  await service.inStepAndFinal()
  const bridges = await onceReady(service, [0, 1])
  assert.deepEqual(
    bridges.map(({ tx_hash, amount }) => [tx_hash, amount]),
    inOrder.map(({ transactionHash, i }) => [transactionHash, String(i + 1)]),
  )
  const { claim } = await requestClaim(service.api, bridges[1]!)
  const beyond = claimUnder(claim, leaves.slice(0, 2), 2, leaves[2]!)
  assert.equal(await findClaimError(l1, carol, beyond), 'InvalidSmtProof')
  await sendClaim(l1, carol, claim)
  await settle(devnet, network1)
  await service.inStepAndFinal()
  const [, , third] = await onceReady(service, [0, 2, 3])
  await sendClaim(l1, carol, (await requestClaim(service.api, third!)).claim)
})

test('after the exit tree is cut and regrown, the contract accepts claims of regrown deposits, and of one deposit for each deposit count', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { bob, carol } = devnet.accounts
  const service = await serviceOn(t, devnet)
  const old = [1n, 2n, 3n, 4n].map((amount) => etherTo(0, bob, amount))
  await depositTogether(devnet, old)
  await settle(devnet, network1)
  await cutExitTree(devnet, network1, 1)
  const regrown = [old[1]!, etherTo(0, bob, 30n), old[3]!]
  await forwardLeaves(devnet, network1, regrown)
  await service.inStepAndFinal()
  const bridges = await onceReady(service, [0, 1, 3])

  const { claim } = await requestClaim(service.api, bridges[1]!)
  await sendClaim(l1, carol, claim)
  await sendClaim(l1, carol, (await requestClaim(service.api, bridges[3]!)).claim)
  const other = claimUnder(claim, old, 2, regrown[1]!)
  assert.equal(await findClaimError(l1, carol, other), 'InvalidSmtProof')
  // The archived deposit can be claimed under the old root, which uses up its count.
  await sendClaim(l1, carol, claimUnder(claim, old, 2, old[2]!))
  await settle(devnet, network1)
  await service.inStepAndFinal()
  const after = await onceReady(service, [0])
  assert.notEqual(after[2]!.claim_tx_hash, null)
  const { claim: ofThird } = await requestClaim(service.api, after[2]!)
  assert.equal(await findClaimError(l1, carol, ofThird), 'AlreadyClaimed')
  await sendClaim(l1, carol, (await requestClaim(service.api, after[0]!)).claim)
})
