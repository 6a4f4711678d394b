import type { Address } from 'viem'
import { parseEther, parseUnits, stringToHex } from 'viem/utils'
import {
  type BatchedDeposit,
  bridgeAsset,
  bridgeMessage,
  bridgeThroughContract,
  inject,
  mintToken,
  settle,
} from './actions.js'
import { claimFromLedger } from './claimFromLedger.js'
import { bridgeAbi } from './contractAbis.js'
import { type Devnet, headStartSec } from './devnet.js'

/**
 * Plays a short history with every kind of deposit in every state: claimed, claimable, and pending for each possible reason.
 * `./traffic.ts` continues from there.
 */
export async function playScenario(devnet: Devnet): Promise<void> {
  for (const chapter of chapters) {
    await chapter(devnet)
    // A few minutes pass between chapters, so that their timestamps differ. After the last one the chains' clocks show the real time.
    const seconds = Math.floor(headStartSec / chapters.length)
    await Promise.all(devnet.chains.map(({ client }) => client.increaseTime({ seconds })))
  }
  // Everything so far becomes final on the L1: `finalized` is two blocks behind the head.
  await Promise.all(devnet.chains.map(({ client }) => client.mine({ blocks: 3 })))
}

type Chapter = (devnet: Devnet) => Promise<void>

const noToken: Address = '0x0000000000000000000000000000000000000000'
const lhd = (amount: string): bigint => parseUnits(amount, 6)

const chapters: readonly Chapter[] = [
  handOutTokens,
  depositOnL1,
  claimFirstDeposits,
  depositOnNetwork1,
  depositOnNetwork2,
  claimFromL2s,
  depositThroughContract,
  leaveClaimable,
  leavePending,
]

async function handOutTokens({ chains: [l1, network1, network2], accounts }: Devnet): Promise<void> {
  await mintToken(l1, accounts.alice, lhd('100000'))
  await mintToken(l1, accounts.bob, lhd('100000'))
  await mintToken(network1, accounts.bob, parseEther('5000'))
  await mintToken(network2, accounts.carol, parseEther('5000'))
}

/** L1 deposits 0 … 4. Deposits 2 and 3 are published together with deposit 4. */
async function depositOnL1(devnet: Devnet): Promise<void> {
  const { accounts } = devnet
  const [l1, network1, network2] = devnet.chains
  const { alice, bob, carol } = accounts
  await bridgeAsset(l1, { ...to(1, alice), from: alice, amount: parseEther('1.5'), forced: true })
  await bridgeAsset(l1, {
    ...to(1, alice),
    from: alice,
    token: l1.contracts.token,
    amount: lhd('250'),
    forced: true,
  })
  await bridgeMessage(l1, {
    ...to(2, network2.contracts.messageReceiver),
    from: bob,
    amount: parseEther('0.01'),
    metadata: stringToHex('hello from the L1'),
    forced: false,
  })
  await bridgeAsset(l1, { ...to(2, bob), from: bob, amount: parseEther('2'), forced: false })
  await bridgeAsset(l1, {
    ...to(2, carol),
    from: alice,
    token: l1.contracts.token,
    amount: lhd('120.5'),
    forced: true,
  })
  // Only the newest root is injected: the two L1 info leaves before it can never be used on the L2s.
  await inject(devnet, network1)
  await inject(devnet, network2)
}

async function claimFirstDeposits(devnet: Devnet): Promise<void> {
  const { alice, bob, carol } = devnet.accounts
  await claimFromLedger(devnet, { network: 0, deposit: 0, from: alice })
  await claimFromLedger(devnet, { network: 0, deposit: 1, from: alice })
  // Claimed by another account than the receiver.
  await claimFromLedger(devnet, { network: 0, deposit: 2, from: carol })
  await claimFromLedger(devnet, { network: 0, deposit: 4, from: bob })
}

/** Network 1's deposits 0 … 4, settled together. The last one returns wrapped tokens to the L1. */
async function depositOnNetwork1(devnet: Devnet): Promise<void> {
  const [, network1, network2] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  await bridgeAsset(network1, { ...to(0, bob), from: bob, amount: parseEther('0.75'), forced: true })
  await bridgeAsset(network1, {
    ...to(0, alice),
    from: bob,
    token: network1.contracts.token,
    amount: parseEther('40'),
    forced: false,
  })
  await bridgeMessage(network1, {
    ...to(2, network2.contracts.messageReceiver),
    from: alice,
    amount: 0n,
    metadata: stringToHex('from one L2 to the other'),
    forced: true,
  })
  await bridgeAsset(network1, {
    ...to(2, carol),
    from: bob,
    token: network1.contracts.token,
    amount: parseEther('12.25'),
    forced: true,
  })
  const wrapped = await network1.client.readContract({
    address: network1.contracts.bridge,
    abi: bridgeAbi,
    functionName: 'getTokenWrappedAddress',
    args: [0, devnet.chains[0].contracts.token],
  })
  await bridgeAsset(network1, {
    ...to(0, alice),
    from: alice,
    token: wrapped,
    amount: lhd('100'),
    forced: true,
  })
  await settle(devnet, network1)
  await inject(devnet, network2)
}

/** Network 2's deposits 0 … 5; the last three are made in one transaction. */
async function depositOnNetwork2(devnet: Devnet): Promise<void> {
  const [, network1, network2] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  await bridgeAsset(network2, { ...to(1, carol), from: carol, amount: parseEther('0.2'), forced: true })
  await bridgeAsset(network2, {
    ...to(1, bob),
    from: carol,
    token: network2.contracts.token,
    amount: parseEther('77'),
    forced: true,
  })
  await bridgeMessage(network2, {
    ...to(0, alice),
    from: bob,
    amount: parseEther('0.05'),
    metadata: stringToHex('a message to a person'),
    forced: false,
  })
  await bridgeThroughContract(network2, carol, [
    batched(0, carol, { amount: parseEther('0.1') }),
    batched(1, network1.contracts.messageReceiver, {
      isMessage: true,
      metadata: stringToHex('sent by a contract'),
    }),
    batched(0, bob, { token: network2.contracts.token, amount: parseEther('3') }),
  ])
  await settle(devnet, network2)
  await inject(devnet, network1)
}

async function claimFromL2s(devnet: Devnet): Promise<void> {
  const { alice, bob, carol } = devnet.accounts
  await claimFromLedger(devnet, { network: 1, deposit: 0, from: bob })
  await claimFromLedger(devnet, { network: 1, deposit: 1, from: carol })
  await claimFromLedger(devnet, { network: 1, deposit: 4, from: alice })
  await claimFromLedger(devnet, { network: 1, deposit: 3, from: carol })
  await claimFromLedger(devnet, { network: 2, deposit: 1, from: bob })
  await claimFromLedger(devnet, { network: 2, deposit: 3, from: alice })
}

/** L1 deposits 5 … 8, in one transaction that makes two L1 info leaves. Their roots are not injected into network 2 yet. */
async function depositThroughContract(devnet: Devnet): Promise<void> {
  const [l1, network1, network2] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  await bridgeThroughContract(l1, bob, [
    batched(1, carol, { amount: parseEther('0.3') }),
    batched(1, network1.contracts.messageReceiver, {
      isMessage: true,
      metadata: stringToHex('second of four'),
      forceUpdateGlobalExitRoot: true,
    }),
    batched(2, alice, { token: l1.contracts.token, amount: lhd('9.99') }),
    batched(2, network2.contracts.messageReceiver, {
      isMessage: true,
      amount: parseEther('0.001'),
      metadata: stringToHex('last of four'),
      forceUpdateGlobalExitRoot: true,
    }),
  ])
  await inject(devnet, network1)
}

/** Deposits that are ready and that nobody has claimed. */
async function leaveClaimable(devnet: Devnet): Promise<void> {
  const [l1, network1, network2] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  await bridgeAsset(network1, { ...to(0, carol), from: alice, amount: parseEther('0.33'), forced: true })
  await bridgeAsset(network1, { ...to(2, bob), from: alice, amount: parseEther('0.44'), forced: false })
  await settle(devnet, network1)
  await bridgeAsset(l1, { ...to(1, bob), from: carol, amount: parseEther('1'), forced: true })
  await bridgeAsset(l1, {
    ...to(1, alice),
    from: bob,
    token: l1.contracts.token,
    amount: lhd('1000'),
    forced: true,
  })
  await inject(devnet, network1)
  await inject(devnet, network2)
}

/** Pending deposits: their roots are not injected, not settled, or not even published. */
async function leavePending(devnet: Devnet): Promise<void> {
  const [l1, network1, network2] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  await bridgeAsset(l1, { ...to(2, carol), from: carol, amount: parseEther('0.6'), forced: true })
  await bridgeAsset(network1, { ...to(0, alice), from: alice, amount: parseEther('0.07'), forced: true })
  await bridgeAsset(network2, { ...to(1, bob), from: bob, amount: parseEther('0.08'), forced: true })
  await bridgeAsset(l1, { ...to(1, alice), from: alice, amount: parseEther('0.09'), forced: false })
}

function to(
  destinationNetwork: number,
  destinationAddress: Address,
): { destinationNetwork: number; destinationAddress: Address } {
  return { destinationNetwork, destinationAddress }
}

function batched(
  destinationNetwork: number,
  destinationAddress: Address,
  deposit: Partial<BatchedDeposit>,
): BatchedDeposit {
  return {
    isMessage: false,
    amount: 0n,
    token: noToken,
    forceUpdateGlobalExitRoot: false,
    metadata: '0x',
    ...to(destinationNetwork, destinationAddress),
    ...deposit,
  }
}
