import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { bridgeAsset, inject, settle, updateGlobalExitRoot } from '../../src/devnet/actions.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

interface Stage {
  readonly stage: string
  readonly state: string
  readonly network_id: number
  readonly block_number?: number
  readonly block_timestamp?: number
  readonly tx_hash?: Hex
}

interface Status {
  readonly tx_hash: Hex
  readonly deposit_count: number
  readonly origin_network: number
  readonly destination_network: number
  readonly ready_for_claim: boolean
  readonly current_stage: string
  readonly waits_for: {
    readonly event: string
    readonly network_id: number
    readonly block_number?: number
  } | null
  readonly stages: readonly Stage[]
}

const bridgeStatus = (service: DevnetService, query: string) =>
  service.process.read<{ statuses: readonly Status[]; total: number }>(`/bridge/v1/bridge-status?${query}`)

async function ofTransaction(service: DevnetService, hash: Hex): Promise<Status> {
  const { statuses, total } = await bridgeStatus(service, `tx_hash=${hash}`)
  assert.deepEqual([statuses.length, total], [1, 1])
  return statuses[0]!
}

const stageOf = ({ stages }: Status, name: string): Stage => stages.find(({ stage }) => stage === name)!
const nextOf = ({ current_stage, waits_for }: Status) => [current_stage, waits_for?.event ?? null]

/** Network, number and time of a block of a chain. */
async function placeOf({ client, networkId }: DevnetChain, blockNumber?: bigint) {
  const { number, timestamp } = await client.getBlock(blockNumber === undefined ? {} : { blockNumber })
  return { network_id: networkId, block_number: Number(number), block_timestamp: Number(timestamp) }
}

test('on real contracts a bridge between L2s passes its stages in the blocks in which they happen, and waits for what the next transaction does', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, first, second] = devnet.chains
  const { alice, bob } = devnet.accounts
  const service = await serviceOn(t, devnet)
  await updateGlobalExitRoot(l1, alice)
  const deposit = await bridgeAsset(first, {
    ...{ from: alice, destinationNetwork: 2, destinationAddress: bob, amount: 5n, forced: true },
  })
  const hash = deposit.transactionHash
  await service.inStep()
  const status = () => ofTransaction(service, hash)
  assert.deepEqual(stageOf(await status(), 'bridged'), {
    ...{ stage: 'bridged', state: 'done', ...(await placeOf(first, deposit.blockNumber)), tx_hash: hash },
  })
  assert.deepEqual(nextOf(await status()), ['settled', 'settlement'])

  await settle(devnet, first)
  const settled = await placeOf(l1)
  await service.inStep()
  for (const name of ['settled', 'in_l1_info_tree']) {
    const { stage, state, network_id, block_number, block_timestamp } = stageOf(await status(), name)
    assert.deepEqual([stage, state], [name, 'done'])
    assert.deepEqual({ network_id, block_number, block_timestamp }, settled)
  }
  assert.deepEqual((await status()).waits_for, {
    ...{ event: 'finality', network_id: 0, block_number: settled.block_number },
  })
  await service.inStepAndFinal()
  assert.deepEqual(nextOf(await status()), ['injected', 'injection'])

  await inject(devnet, second)
  const injected = await placeOf(second)
  await service.inStep()
  const known = stageOf(await status(), 'injected')
  assert.deepEqual(
    [known.state, known.network_id, known.block_number, known.block_timestamp],
    ['done', ...Object.values(injected)],
  )
  assert.deepEqual(nextOf(await status()), ['claimed', 'claim'])
  assert.equal((await status()).ready_for_claim, true)

  const bridge = (await service.allBridges()).find(({ tx_hash }) => tx_hash === hash)!
  const claim = await sendClaim(second, bob, (await requestClaim(service.api, bridge)).claim)
  await service.inStep()
  assert.deepEqual(stageOf(await status(), 'claimed'), {
    ...{ stage: 'claimed', state: 'done', ...(await placeOf(second, claim.blockNumber)) },
    tx_hash: claim.transactionHash,
  })
  assert.deepEqual(nextOf(await status()), ['claimed', null])
})

test('a contract takes the claim of exactly those bridges that wait for nothing but a claim', async (t) => {
  const devnet = await testDevnet(t)
  await playScenario(devnet)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()
  const seen = new Map<string, number>()
  for (const bridge of await service.allBridges()) {
    const { origin_network, deposit_count, destination_network } = bridge
    const name = `deposit ${deposit_count} of network ${origin_network}`
    const { statuses } = await bridgeStatus(
      service,
      `network_id=${origin_network}&deposit_count=${deposit_count}`,
    )
    const status = statuses[0]!
    const [stage, event] = nextOf(status)
    seen.set(`${stage} ${event}`, (seen.get(`${stage} ${event}`) ?? 0) + 1)
    const asked = await requestClaim(service.api, bridge).catch(() => undefined)
    const error =
      asked && (await findClaimError(devnet.chains[destination_network]!, devnet.accounts.carol, asked.claim))
    if (event === 'claim') assert.equal(asked !== undefined && error, undefined, name)
    else if (event === null) assert.equal(error, 'AlreadyClaimed', name)
    else assert.equal(asked, undefined, name)
  }
  assert.ok([...seen.keys()].length >= 3, JSON.stringify([...seen]))
})
