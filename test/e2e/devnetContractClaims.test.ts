import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Address, Hex } from 'viem'
import { encodeFunctionData, keccak256 } from 'viem/utils'
import {
  claimedWordsOf,
  claimedWordsProgram,
  PROGRAM_WORDS,
} from '../../src/chain/state/claimedWordsProgram.js'
import { inject, removeInjected, settle } from '../../src/devnet/actions.js'
import { bridgeAbi } from '../../src/devnet/contractAbis.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import { type DevnetChain, send } from '../../src/devnet/devnetChain.js'
import { type ClaimRequest, findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { depositLeaf, type LeafParts, naiveRoot } from '../support/naiveTree.js'
import {
  claimedBitMap,
  claimFromL1,
  claimFromL2,
  depositEther,
  etherTo,
  isClaimed,
  mainnetFlag,
  noBranch,
} from './devnet/naiveClaims.js'
import { testDevnet } from './devnet/testDevnet.js'

/** Three ETH deposits from the L1 to network 1, injected there. `freshAddress` holds nothing before. */
async function etherOnItsWay(
  t: TestContext,
): Promise<{ devnet: Devnet; network1: DevnetChain; deposits: LeafParts[] }> {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const deposits = [1n, 2n, 3n].map((amount) => etherTo(1, freshAddress, amount))
  await depositEther(l1, devnet.accounts.alice, deposits)
  await inject(devnet, network1)
  return { devnet, network1, deposits }
}

const freshAddress: Address = '0x00000000000000000000000000000000000fe5a1'

test('a claim with an independently made proof pays the receiver and marks exactly its own deposit', async (t) => {
  const { devnet, network1, deposits } = await etherOnItsWay(t)
  await sendClaim(network1, devnet.accounts.carol, claimFromL1(deposits, 1))
  assert.equal(await network1.client.getBalance({ address: freshAddress }), 2n)
  const claimed = [0, 1, 2].map((index) => isClaimed(network1, index, 0))
  assert.deepEqual(await Promise.all(claimed), [false, true, false])
})

test('the program that reads many bitmap words returns what the getter returns, and fails where there is no bridge', async (t) => {
  const { devnet, network1, deposits } = await etherOnItsWay(t)
  for (const index of [0, 2]) await sendClaim(network1, devnet.accounts.carol, claimFromL1(deposits, index))
  const positions = Array.from({ length: PROGRAM_WORDS }, (_, word) => BigInt(word))
  const ask = async (bridge: string, some: readonly bigint[]) => {
    const { data } = await network1.client.call({ data: claimedWordsProgram(bridge, some) as Hex })
    return claimedWordsOf(data, some.length)
  }
  const { bridge } = network1.contracts
  const words = await ask(bridge, positions)
  assert.deepEqual(words, [0b101n, ...Array<bigint>(PROGRAM_WORDS - 1).fill(0n)])
  assert.equal(words?.[0], await claimedBitMap(network1, 0n))
  assert.deepEqual(await ask(bridge, [5n, 0n]), [0n, 0b101n])
  assert.equal(claimedWordsOf('0x', 1), undefined)
  await assert.rejects(ask(freshAddress, positions))
})

test("an invalid claim is refused with the contract's error for its fault", async (t) => {
  const { devnet, network1, deposits } = await etherOnItsWay(t)
  const { carol } = devnet.accounts
  const good = claimFromL1(deposits, 1)
  const corrupted = (height: number): Hex[] =>
    good.smtProofLocalExitRoot.map((sibling, i) => (i === height ? keccak256(sibling) : sibling))
  const cases: readonly (readonly [string, string, Partial<ClaimRequest>])[] = [
    ['lowest sibling', 'InvalidSmtProof', { smtProofLocalExitRoot: corrupted(0) }],
    ['highest sibling', 'InvalidSmtProof', { smtProofLocalExitRoot: corrupted(31) }],
    ['amount', 'InvalidSmtProof', { amount: 3n }],
    ['another deposit count', 'InvalidSmtProof', { globalIndex: mainnetFlag + 2n }],
    ['message instead of asset', 'InvalidSmtProof', { leafType: 1 }],
    [
      'rollup index beside the mainnet flag',
      'InvalidGlobalIndex',
      { globalIndex: good.globalIndex + 2n ** 32n },
    ],
    ['bit 65', 'InvalidGlobalIndex', { globalIndex: good.globalIndex + 2n ** 65n }],
    ['bit 255 without the mainnet flag', 'InvalidGlobalIndex', { globalIndex: 2n ** 255n + 1n }],
    ['an unknown mainnet exit root', 'GlobalExitRootInvalid', { mainnetExitRoot: keccak256('0x') }],
    ['an unknown rollup exit root', 'GlobalExitRootInvalid', { rollupExitRoot: keccak256('0x') }],
    ['another destination', 'DestinationNetworkInvalid', { destinationNetwork: 2 }],
  ]
  for (const [fault, error, change] of cases)
    assert.equal(await findClaimError(network1, carol, { ...good, ...change }), error, fault)
  assert.equal(await findClaimError(network1, carol, good), undefined)

  await sendClaim(network1, carol, good)
  assert.equal(await findClaimError(network1, carol, good), 'AlreadyClaimed')
  // The contract checks the proof before the nullifier: a second claim with a wrong proof fails at the proof.
  const wrong = { ...good, smtProofLocalExitRoot: corrupted(0) }
  assert.equal(await findClaimError(network1, carol, wrong), 'InvalidSmtProof')
  await assert.rejects(sendClaim(network1, carol, good), /network 1 answers AlreadyClaimed/)
})

test('a claim is refused under a global exit root that the destination never had, or that was removed', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, carol } = devnet.accounts
  const deposits = [etherTo(1, freshAddress, 5n)]
  await depositEther(l1, alice, deposits)
  const claim = claimFromL1(deposits, 0)
  assert.equal(await findClaimError(network1, carol, claim), 'GlobalExitRootInvalid')
  const injected = await inject(devnet, network1)
  assert.equal(await findClaimError(network1, carol, claim), undefined)
  await removeInjected(devnet, network1, injected!)
  assert.equal(await findClaimError(network1, carol, claim), 'GlobalExitRootInvalid')
})

test('a deposit of an L2 can be claimed on the L1 and on the other L2 once its root is settled', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1, network2] = devnet.chains
  const { alice, carol } = devnet.accounts
  // The L1's bridge pays out the ETH that was deposited there.
  await depositEther(l1, alice, [etherTo(1, alice, 100n)])
  const mainnetExitRoot = naiveRoot([depositLeaf(etherTo(1, alice, 100n))])
  const from1 = [etherTo(0, freshAddress, 10n), etherTo(2, freshAddress, 20n)]
  const from2 = [etherTo(0, freshAddress, 3n), etherTo(1, freshAddress, 40n)]
  await depositEther(network1, alice, from1)
  await depositEther(network2, alice, from2)
  const roots = [from1, from2].map((deposits) => naiveRoot(deposits.map(depositLeaf)))
  const early = { ...claimFromL2(1, from1, 0, roots), mainnetExitRoot }
  assert.equal(await findClaimError(l1, carol, early), 'GlobalExitRootInvalid')

  await settle(devnet, network1)
  await settle(devnet, network2)
  await inject(devnet, network1)
  await inject(devnet, network2)
  const corrupted = noBranch.with(31, keccak256('0x'))
  assert.equal(
    await findClaimError(l1, carol, { ...early, smtProofRollupExitRoot: corrupted }),
    'InvalidSmtProof',
  )
  await sendClaim(l1, carol, early)
  await sendClaim(l1, carol, { ...claimFromL2(2, from2, 0, roots), mainnetExitRoot })
  await sendClaim(network2, carol, { ...claimFromL2(1, from1, 1, roots), mainnetExitRoot })
  await sendClaim(network1, carol, { ...claimFromL2(2, from2, 1, roots), mainnetExitRoot })
  const balances = devnet.chains.map(({ client }) => client.getBalance({ address: freshAddress }))
  assert.deepEqual(await Promise.all(balances), [13n, 40n, 20n])

  // The L1 keeps network 1's nullifiers at the bare leaf index (word 0), every other network's at source · 2^32.
  assert.equal(await claimedBitMap(l1, 0n), 1n)
  assert.equal(await claimedBitMap(l1, (2n << 32n) >> 8n), 1n)
  assert.equal(await claimedBitMap(network2, (1n << 32n) >> 8n), 2n)
  assert.equal(await claimedBitMap(network2, 0n), 0n)
  assert.equal(await isClaimed(l1, 0, 1), true)
  assert.equal(await isClaimed(l1, 1, 1), false)
  assert.equal(await isClaimed(l1, 0, 2), true)
})

test('in emergency state the contract refuses deposits and claims', async (t) => {
  const { devnet, network1, deposits } = await etherOnItsWay(t)
  const { operator, carol } = devnet.accounts
  const call = (functionName: 'activateEmergencyState' | 'deactivateEmergencyState') =>
    send(network1.client, {
      from: operator,
      to: network1.contracts.bridge,
      data: encodeFunctionData({ abi: bridgeAbi, functionName }),
    })
  await call('activateEmergencyState')
  assert.equal(await findClaimError(network1, carol, claimFromL1(deposits, 0)), 'OnlyNotEmergencyState')
  await call('deactivateEmergencyState')
  assert.equal(await findClaimError(network1, carol, claimFromL1(deposits, 0)), undefined)
})
