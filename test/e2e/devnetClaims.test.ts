import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { keccak256 } from 'viem/utils'
import { inject, settle, updateGlobalExitRoot } from '../../src/devnet/actions.js'
import type { BridgeAnswer } from '../../src/devnet/apiClient.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import { bridgeAbi } from '../../src/devnet/contractAbis.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import { claimAgainst, type Ledger, readLedger } from '../../src/devnet/ledger.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { type ClaimRequest, findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

interface ClaimAnswer {
  readonly tx_hash: Hex
  readonly bridge_tx_hash: Hex | null
  readonly origin_network: number
  readonly deposit_count: number
}

test('the contract accepts every proof that the API gives for a ready deposit, and no deposit that the API calls not ready can be claimed', async (t) => {
  const devnet = await testDevnet(t)
  await playScenario(devnet)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()

  const first = await judgeEveryDeposit(devnet, service)
  assert.ok(first.ready > 0 && first.claimed > 0 && first.waiting > 0, JSON.stringify(first))
  await service.inStep()
  await compareClaims(devnet, service)

  // Everything is published, settled, final and injected: every deposit must now be ready or claimed.
  const [l1, ...l2s] = devnet.chains
  await updateGlobalExitRoot(l1, devnet.accounts.alice)
  for (const l2 of l2s) await settle(devnet, l2)
  for (const l2 of l2s) await inject(devnet, l2)
  await service.inStepAndFinal()
  const second = await judgeEveryDeposit(devnet, service)
  assert.deepEqual(second, { claimed: first.claimed + first.ready, ready: first.waiting, waiting: 0 })
  await service.inStep()
  await compareClaims(devnet, service)
  const bridges = await service.allBridges()
  assert.ok(bridges.every(({ claim_tx_hash }) => claim_tx_hash !== null))
})

/** Compares every record with the chain, and claims every deposit that is ready. */
async function judgeEveryDeposit(
  devnet: Devnet,
  service: DevnetService,
): Promise<{ claimed: number; ready: number; waiting: number }> {
  const ledger = await readLedger(devnet)
  const bridges = await service.allBridges()
  assert.deepEqual(
    bridges.map(({ origin_network, deposit_count, tx_hash }) => [origin_network, deposit_count, tx_hash]),
    ledger.deposits
      .flat()
      .map((deposit) => [deposit.sourceNetwork, deposit.depositCount, deposit.transactionHash]),
  )
  const counts = { claimed: 0, ready: 0, waiting: 0 }
  for (const bridge of bridges) {
    const name = `deposit ${bridge.deposit_count} of network ${bridge.origin_network}`
    const destination = devnet.chains[bridge.destination_network]!
    const { carol } = devnet.accounts
    if (bridge.claim_tx_hash !== null) {
      counts.claimed += 1
      assert.equal(bridge.ready_for_claim, false, name)
      const { claim } = await requestClaim(service.api, bridge)
      assert.equal(await findClaimError(destination, carol, claim), 'AlreadyClaimed', name)
    } else if (bridge.ready_for_claim) {
      counts.ready += 1
      const { claim, leafIndex } = await requestClaim(service.api, bridge)
      assert.equal(leafIndex, bridge.l1_info_tree_index, name)
      for (const corrupted of corruptions(claim))
        assert.equal(await findClaimError(destination, carol, corrupted), 'InvalidSmtProof', name)
      await sendClaim(destination, carol, claim)
      assert.equal(await findClaimError(destination, carol, claim), 'AlreadyClaimed', name)
    } else {
      counts.waiting += 1
      const error = await findClaimError(destination, carol, bestClaim(ledger, bridge))
      assert.match(error ?? 'the claim passes', /^(GlobalExitRootInvalid|InvalidSmtProof)$/, name)
      await assert.rejects(requestClaim(service.api, bridge), { code: 'PROOF_NOT_AVAILABLE' }, name)
    }
  }
  return counts
}

/** The proof with one sibling changed, at either end of the branch that matters for the source network. */
function corruptions(claim: ClaimRequest): ClaimRequest[] {
  const corrupted = (branch: readonly Hex[], height: number): Hex[] =>
    branch.map((sibling, i) => (i === height ? keccak256(sibling) : sibling))
  const { smtProofLocalExitRoot: local, smtProofRollupExitRoot: rollup } = claim
  const fromL1 = claim.globalIndex >= 2n ** 64n
  return [
    { ...claim, smtProofLocalExitRoot: corrupted(local, 0) },
    { ...claim, smtProofLocalExitRoot: corrupted(local, 31) },
    ...(fromL1 ? [] : [{ ...claim, smtProofRollupExitRoot: corrupted(rollup, 0) }]),
  ]
}

/** What an attacker could try for a deposit that is not ready: a proof under the newest L1 info leaf. */
function bestClaim(ledger: Ledger, bridge: BridgeAnswer): ClaimRequest {
  const deposit = ledger.deposits[bridge.origin_network]![bridge.deposit_count]!
  return claimAgainst(ledger, deposit, ledger.infoLeaves.at(-1)!)
}

/** Every ClaimEvent of the chains is in the API, with the bridge transaction of the claimed deposit. */
async function compareClaims(devnet: Devnet, service: DevnetService): Promise<void> {
  const ledger = await readLedger(devnet)
  const bridges = await service.allBridges()
  for (const { client, contracts, networkId } of devnet.chains) {
    const events = await client.getContractEvents({
      address: contracts.bridge,
      abi: bridgeAbi,
      eventName: 'ClaimEvent',
      fromBlock: 0n,
      strict: true,
    })
    const expected = events.map(({ args, transactionHash }) => {
      const source = args.globalIndex >= 2n ** 64n ? 0 : Number(args.globalIndex >> 32n) + 1
      const depositCount = Number(args.globalIndex & 0xffff_ffffn)
      const bridge = ledger.deposits[source]![depositCount]!
      return [transactionHash, bridge.transactionHash, source, depositCount]
    })
    const { claims } = await service.process.read<{ claims: ClaimAnswer[] }>(
      `/bridge/v1/claims?network_id=${networkId}&page_size=1000`,
    )
    assert.deepEqual(
      claims
        .toReversed()
        .map((claim) => [claim.tx_hash, claim.bridge_tx_hash, claim.origin_network, claim.deposit_count]),
      expected,
    )
    for (const [claimHash, , source, depositCount] of expected) {
      const claimed = bridges.find((b) => b.origin_network === source && b.deposit_count === depositCount)
      assert.equal(claimed?.claim_tx_hash, claimHash)
    }
  }
}
