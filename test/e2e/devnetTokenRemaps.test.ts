import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Address, Hex, TransactionReceipt } from 'viem'
import { encodeAbiParameters, parseEventLogs } from 'viem/utils'
import { bridgeAsset, inject, mintToken } from '../../src/devnet/actions.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import { bridgeAbi, tokenAbi } from '../../src/devnet/contractAbis.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { sendClaim } from '../../src/devnet/sendClaim.js'
import {
  mapSovereignToken,
  migrateLegacyToken,
  removeLegacyToken,
} from '../../src/devnet/sovereignActions.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

interface MappingRow {
  readonly tx_hash: Hex
  readonly block_number: number
  readonly log_index: number
  readonly origin_network: number
  readonly origin_token_address: Address
  readonly wrapped_network: number
  readonly wrapped_token_address: Address
  readonly metadata: Hex
  readonly name: string | null
  readonly symbol: string | null
  readonly decimals: number | null
  readonly is_not_mintable: boolean
  readonly token_type: number
  readonly is_current: boolean
}

/** The L1 token's details, as the devnet deploys it. */
const lighthouse = { name: 'Lighthouse Dollar', symbol: 'LHD', decimals: 6 }
const lighthouseMetadata = encodeAbiParameters(
  [{ type: 'string' }, { type: 'string' }, { type: 'uint8' }],
  [lighthouse.name, lighthouse.symbol, lighthouse.decimals],
)

/** Deposits of 400 and 50 units of the L1's token for bob on an L2, injected; and a service. */
async function tokensOnTheirWay(
  t: TestContext,
  networkId: 1 | 2,
): Promise<{ devnet: Devnet; l2: DevnetChain; service: DevnetService }> {
  const devnet = await testDevnet(t)
  const [l1] = devnet.chains
  const { alice, bob } = devnet.accounts
  const l2 = devnet.chains[networkId]
  await mintToken(l1, alice, 450n)
  for (const amount of [400n, 50n])
    await bridgeAsset(l1, {
      from: alice,
      destinationNetwork: networkId,
      destinationAddress: bob,
      token: l1.contracts.token,
      amount,
      forced: true,
    })
  await inject(devnet, l2)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()
  return { devnet, l2, service }
}

async function claim(
  { service, devnet, l2 }: { service: DevnetService; devnet: Devnet; l2: DevnetChain },
  deposit: number,
): Promise<TransactionReceipt> {
  const bridge = await service.api.findBridge({ network: 0, deposit })
  return sendClaim(l2, devnet.accounts.carol, (await requestClaim(service.api, bridge!)).claim)
}

/** The row that the transaction's NewWrappedToken or SetSovereignTokenAddress must have, but for `is_current`. */
function rowOf(receipt: TransactionReceipt, networkId: number): Omit<MappingRow, 'is_current'> {
  const [log] = parseEventLogs({
    abi: bridgeAbi,
    eventName: ['NewWrappedToken', 'SetSovereignTokenAddress'],
    logs: receipt.logs,
  })
  assert.ok(log !== undefined)
  const isWrapped = log.eventName === 'NewWrappedToken'
  return {
    tx_hash: receipt.transactionHash,
    block_number: Number(receipt.blockNumber),
    log_index: log.logIndex,
    origin_network: log.args.originNetwork,
    origin_token_address: log.args.originTokenAddress,
    wrapped_network: networkId,
    wrapped_token_address: isWrapped ? log.args.wrappedTokenAddress : log.args.sovereignTokenAddress,
    ...(isWrapped
      ? { metadata: lighthouseMetadata, ...lighthouse }
      : { metadata: '0x' as Hex, name: null, symbol: null, decimals: null }),
    is_not_mintable: isWrapped ? false : log.args.isNotMintable,
    token_type: isWrapped ? 0 : 1,
  }
}

/**
 * Compares `/token-mappings` of the L2 with the rows of its transactions, oldest first. Current is the newest row with the token that
 * the contract names, and no other.
 */
async function compare(
  service: DevnetService,
  l2: DevnetChain,
  receipts: readonly TransactionReceipt[],
): Promise<MappingRow[]> {
  await service.inStep()
  const { token_mappings } = await service.process.read<{
    token_mappings: (MappingRow & { block_timestamp: number })[]
  }>(`/bridge/v1/token-mappings?network_id=${l2.networkId}`)
  const rows = receipts.map((receipt) => rowOf(receipt, l2.networkId))
  const current = await l2.client.readContract({
    address: l2.contracts.bridge,
    abi: bridgeAbi,
    functionName: 'getTokenWrappedAddress',
    args: [0, rows[0]!.origin_token_address],
  })
  const last = rows.findLastIndex((row) => row.wrapped_token_address === current)
  assert.notEqual(last, -1)
  const found = token_mappings.toReversed().map(({ block_timestamp: _, ...row }) => row)
  assert.deepEqual(
    found,
    rows.map((row, i) => ({ ...row, is_current: i === last })),
  )
  return found
}

/** Bridges 10 units home, and compares the deposit's token with the contract's event. @returns network and address of the token. */
async function bridgeHome(
  { service, devnet, l2 }: { service: DevnetService; devnet: Devnet; l2: DevnetChain },
  token: Address,
): Promise<readonly [number, Address]> {
  const { bob, alice } = devnet.accounts
  const step = { from: bob, destinationNetwork: 0, destinationAddress: alice, forced: true }
  const { logs } = await bridgeAsset(l2, { ...step, token, amount: 10n })
  const [event] = parseEventLogs({ abi: bridgeAbi, eventName: 'BridgeEvent', logs })
  const { originNetwork, originAddress, depositCount } = event!.args
  await service.inStep()
  const bridge = await service.api.findBridge({ network: l2.networkId, deposit: depositCount })
  assert.deepEqual([bridge?.token_network, bridge?.token_address], [originNetwork, originAddress])
  return [originNetwork, originAddress]
}

test('a wrapped token that is replaced, migrated, removed and brought back: its mappings stay listed, and the current one is what the contract says', async (t) => {
  const world = await tokensOnTheirWay(t, 1)
  const { devnet, l2, service } = world
  const { bob } = devnet.accounts
  const origin = devnet.chains[0].contracts.token
  const sovereign = l2.contracts.token
  const token = { originNetwork: 0, originToken: origin, isNotMintable: false }
  const wrapping = await claim(world, 0)
  const [{ wrapped_token_address: wrapped }] = (await compare(service, l2, [wrapping])) as [MappingRow]

  const remap = await mapSovereignToken(devnet, l2, { ...token, token: sovereign })
  await compare(service, l2, [wrapping, remap])
  assert.equal(await tokenNow(l2, origin), sovereign)
  // The next claim pays in the new token, and makes no mapping.
  await claim(world, 1)
  assert.deepEqual(await balances(l2, bob, [wrapped, sovereign]), [400n, 50n])
  assert.deepEqual(await bridgeHome(world, wrapped), [0, origin], 'the replaced token still goes home')

  await migrateLegacyToken(l2, bob, wrapped, 90n)
  assert.deepEqual(await balances(l2, bob, [wrapped, sovereign]), [300n, 140n])
  await compare(service, l2, [wrapping, remap])
  assert.deepEqual(await bridgeHome(world, sovereign), [0, origin])

  await removeLegacyToken(devnet, l2, wrapped)
  await compare(service, l2, [wrapping, remap])
  assert.deepEqual(await bridgeHome(world, wrapped), [1, wrapped], 'now a token of this network')
  const call = { account: devnet.accounts.operator, address: l2.contracts.bridge, abi: bridgeAbi } as const
  const migrate = { ...call, functionName: 'migrateLegacyToken', args: [wrapped, 1n, '0x'] } as const
  await assert.rejects(l2.client.simulateContract(migrate), /TokenNotMapped/)
  const remove = { ...call, functionName: 'removeLegacySovereignTokenAddress', args: [sovereign] } as const
  await assert.rejects(l2.client.simulateContract(remove), /TokenNotRemapped/)

  const back = await mapSovereignToken(devnet, l2, { ...token, token: wrapped })
  await compare(service, l2, [wrapping, remap, back])
  assert.equal(await tokenNow(l2, origin), wrapped)
  assert.deepEqual(await bridgeHome(world, wrapped), [0, origin])
  // A service that reads all this as history finds the same.
  await compare(await serviceOn(t, devnet), l2, [wrapping, remap, back])
})

test('a sovereign token that was there before the first claim is the only mapping, and is paid from what the bridge holds', async (t) => {
  const world = await tokensOnTheirWay(t, 2)
  const { devnet, l2, service } = world
  const { bob } = devnet.accounts
  const { token, bridge } = l2.contracts
  await mintToken(l2, bridge, 1000n, bob)
  const mapped = await mapSovereignToken(devnet, l2, {
    originNetwork: 0,
    originToken: devnet.chains[0].contracts.token,
    token,
    isNotMintable: true,
  })
  await compare(service, l2, [mapped])
  await claim(world, 0)
  await compare(service, l2, [mapped])
  assert.deepEqual(await balances(l2, bob, [token]), [400n])
  assert.deepEqual(await balances(l2, bridge, [token]), [600n])
  assert.deepEqual(await bridgeHome(world, token), [0, devnet.chains[0].contracts.token])
  assert.deepEqual(await balances(l2, bridge, [token]), [610n])
})

function tokenNow({ client, contracts }: DevnetChain, origin: Address): Promise<Address> {
  return client.readContract({
    address: contracts.bridge,
    abi: bridgeAbi,
    functionName: 'getTokenWrappedAddress',
    args: [0, origin],
  })
}

function balances({ client }: DevnetChain, account: Address, tokens: readonly Address[]): Promise<bigint[]> {
  return Promise.all(
    tokens.map((address) =>
      client.readContract({ address, abi: tokenAbi, functionName: 'balanceOf', args: [account] }),
    ),
  )
}
