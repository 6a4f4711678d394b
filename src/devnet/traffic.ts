import { setTimeout as sleep } from 'node:timers/promises'
import { parseEther, parseUnits, stringToHex } from 'viem/utils'
import { bridgeAsset, bridgeMessage, inject, settle } from './actions.js'
import type { ApiClient } from './apiClient.js'
import { requestClaim } from './claimThroughApi.js'
import type { Devnet } from './devnet.js'
import { findClaimError, sendClaim } from './sendClaim.js'

export interface Traffic {
  /** Rejects when a step fails. */
  readonly done: Promise<void>
  /** Lets no further round begin; `done` resolves when the current one has ended. */
  stop(): void
}

type Step = (devnet: Devnet) => Promise<unknown>

/**
 * Makes steady traffic on a devnet: a deposit per round, settlements, injections of final global exit roots, and claims of its
 * own deposits with proofs from the API. Earlier deposits are left for users to claim.
 */
export function startTraffic(devnet: Devnet, api: ApiClient, roundMs: number): Traffic {
  const stopping = new AbortController()
  return {
    done: runRounds(devnet, api, roundMs, stopping.signal),
    stop: () => stopping.abort(),
  }
}

async function runRounds(
  devnet: Devnet,
  api: ApiClient,
  roundMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { chains } = devnet
  const [, ...l2s] = chains
  const firstOwn = await Promise.all(
    chains.map(async ({ networkId }) => {
      const [newest] = await api.listBridges({ network_id: networkId, page_size: 1 })
      return newest === undefined ? 0 : newest.deposit_count + 1
    }),
  )
  for (let round = 0; !signal.aborted; round++) {
    // As on real chains, each round brings a new block, so that earlier ones become final.
    await Promise.all(chains.map(({ client }) => client.mine({ blocks: 1 })))
    await deposits[round % deposits.length]!(devnet)
    const l2 = l2s[Math.floor(round / 2) % l2s.length]!
    if (round % 2 === 0) await settle(devnet, l2)
    else await inject(devnet, l2, 'finalized')
    if (round % 3 === 2) await claimReady(devnet, api, firstOwn)
    await sleep(roundMs, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }
}

/** One deposit of every kind and route, made in turn. */
const deposits: readonly Step[] = [
  ({ chains: [l1], accounts: { alice, bob } }) =>
    bridgeAsset(l1, { ...to(1, bob), from: alice, amount: parseEther('0.011'), forced: true }),
  ({ chains: [, network1], accounts: { alice, carol } }) =>
    bridgeAsset(network1, { ...to(0, carol), from: alice, amount: parseEther('0.002'), forced: true }),
  ({ chains: [l1], accounts: { alice, carol } }) =>
    bridgeAsset(l1, {
      ...to(2, carol),
      from: alice,
      token: l1.contracts.token,
      amount: parseUnits('1.25', 6),
      forced: false,
    }),
  ({ chains: [, , network2], accounts: { bob, carol } }) =>
    bridgeAsset(network2, { ...to(1, bob), from: carol, amount: parseEther('0.003'), forced: true }),
  ({ chains: [l1, network1], accounts: { bob } }) =>
    bridgeMessage(l1, {
      ...to(1, network1.contracts.messageReceiver),
      from: bob,
      amount: 0n,
      metadata: stringToHex('steady traffic'),
      forced: true,
    }),
  ({ chains: [, network1], accounts: { bob, carol } }) =>
    bridgeAsset(network1, {
      ...to(2, carol),
      from: bob,
      token: network1.contracts.token,
      amount: parseEther('0.5'),
      forced: true,
    }),
]

function to(destinationNetwork: number, destinationAddress: `0x${string}`) {
  return { destinationNetwork, destinationAddress }
}

async function claimReady(
  { chains, accounts }: Devnet,
  api: ApiClient,
  firstOwn: readonly number[],
): Promise<void> {
  for (const [networkId, first] of firstOwn.entries()) {
    const newestFirst = await api.listBridges({
      network_id: networkId,
      ready_for_claim: true,
      page_size: 1000,
    })
    const oldest = newestFirst.findLast(({ deposit_count }) => deposit_count >= first)
    if (oldest === undefined) continue
    const { claim } = await requestClaim(api, oldest)
    const destination = chains[oldest.destination_network]!
    // A user may have claimed it already.
    if ((await findClaimError(destination, accounts.bob, claim)) === 'AlreadyClaimed') continue
    await sendClaim(destination, accounts.bob, claim)
  }
}
