import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Bridge,
  BridgeRestartError,
  type Claim,
  type ClaimablePoll,
  createBridgeClient,
  type Endpoints,
  type ListRestart,
  NotClaimableError,
} from '../../../src/client/bridgeClient.js'
import { bridgeAsset, inject } from '../../../src/devnet/actions.js'
import { playScenario } from '../../../src/devnet/scenario.js'
import { serviceOn } from '../devnet/devnetService.js'
import { testDevnet } from '../devnet/testDevnet.js'

test('a bridge is waited for, claimed with the call of the client, and then no longer claimable', async (t) => {
  const devnet = await testDevnet(t)
  const service = await serviceOn(t, devnet)
  const [l1, network1] = devnet.chains
  const { alice, bob } = devnet.accounts
  await service.inStep()
  const client = createBridgeClient({ baseUrl: service.process.url })
  const name = { originNetwork: 0, depositCount: 0 }
  const polls: ClaimablePoll[] = []
  let seen = (): void => undefined
  const waiting = client.waitUntilClaimable(name, {
    minIntervalMs: 20,
    maxIntervalMs: 20,
    onPoll(poll) {
      polls.push(poll)
      seen()
    },
  })
  const polled = (what: (poll: ClaimablePoll) => boolean): Promise<void> =>
    new Promise((resolve) => {
      seen = () => {
        if (polls.some(what)) resolve()
      }
      seen()
    })
  await polled(({ bridge }) => bridge === undefined)
  const amount = 2n ** 53n + 1n
  await bridgeAsset(l1, { from: alice, destinationNetwork: 1, destinationAddress: bob, amount, forced: true })
  await service.inStep()
  await polled(({ bridge }) => bridge?.readyForClaim === false)
  await service.inStepAndFinal()
  await inject(devnet, network1)
  const ready = await waiting
  assert.deepEqual([ready.amount, ready.globalIndex], [amount, 2n ** 64n])

  const { chainId, ...call } = await client.claimTransaction(ready)
  assert.equal(chainId, network1.chainId)
  const before = await network1.client.getBalance({ address: bob })
  const hash = await network1.client.sendTransaction({ ...call, account: alice, chain: null })
  await network1.client.waitForTransactionReceipt({ hash })
  assert.equal((await network1.client.getBalance({ address: bob })) - before, amount)
  await service.inStep()
  const error = await client.waitUntilClaimable(ready).catch((caught: unknown) => caught)
  assert.ok(error instanceof NotClaimableError)
  assert.deepEqual([error.code, error.bridge.claimTxHash], ['ALREADY_CLAIMED', hash])
  const claims: Claim[] = []
  for await (const claim of client.claims({ networkId: 1, globalIndex: ready.globalIndex }))
    claims.push(claim)
  assert.deepEqual(
    claims.map(({ txHash, bridgeTxHash, amount: paid }) => [txHash, bridgeTxHash, paid]),
    [[hash, ready.txHash, amount]],
  )
})

test('every endpoint answers the client in the shape of its types', async (t) => {
  const devnet = await testDevnet(t)
  await playScenario(devnet)
  const service = await serviceOn(t, devnet)
  await service.inStepAndFinal()
  const client = createBridgeClient({ baseUrl: service.process.url })
  const { bridges } = await client.getBridges({ networkId: 1, readyForClaim: true })
  const { depositCount, l1InfoTreeIndex } = bridges[0]!
  const key = { networkId: 1, depositCount }
  // The decoder refuses what is not of the shape.
  const answers: { readonly [Id in keyof Endpoints]: Awaited<ReturnType<Endpoints[Id]>> } = {
    getBridges: await client.getBridges({ networkId: 0, networkIds: [1, 2], pageSize: 3 }),
    getClaims: await client.getClaims({ networkId: 1 }),
    getTokenMappings: await client.getTokenMappings(),
    getL1InfoTreeIndex: await client.getL1InfoTreeIndex(key),
    getInjectedL1InfoLeaf: await client.getInjectedL1InfoLeaf({ networkId: 0, leafIndex: l1InfoTreeIndex! }),
    getClaimProof: await client.getClaimProof({ ...key, leafIndex: l1InfoTreeIndex! }),
    getClaimTransaction: await client.getClaimTransaction(key),
    getBridgeStatus: await client.getBridgeStatus({ txHash: bridges[0]!.txHash }),
    getSearch: await client.getSearch({ q: bridges[0]!.txHash }),
    getHealth: await client.getHealth(),
    getSyncStatus: await client.getSyncStatus(),
    getNetworks: await client.getNetworks(),
    getLiveness: await client.getLiveness(),
    getReadiness: await client.getReadiness(),
  }
  assert.equal(answers.getL1InfoTreeIndex.l1InfoTreeIndex, l1InfoTreeIndex)
  assert.equal(answers.getBridges.bridges.length, 3)
  assert.ok(answers.getClaims.claims.length > 0 && answers.getTokenMappings.tokenMappings.length > 0)
  const { statuses } = answers.getBridgeStatus
  const status = statuses.find((one) => one.depositCount === depositCount)!
  assert.deepEqual(
    [status.currentStage, status.waitsFor],
    ['claimed', { event: 'claim', networkId: bridges[0]!.destinationNetwork }],
  )
  assert.deepEqual(
    answers.getSearch.results.map((result) => [result.type, result.depositCount]),
    statuses.map((one) => ['bridge', one.depositCount]),
  )
  const { globalIndex } = bridges[0]!
  assert.deepEqual((await client.getBridgeStatus({ globalIndex })).statuses, [status])
  assert.deepEqual(answers.getHealth.supportedNetworks, [0, 1, 2])
  assert.equal(answers.getSyncStatus.networks.length, 3)
  assert.deepEqual(
    answers.getNetworks.networks.map(({ networkId, chainId }) => [networkId, chainId]),
    devnet.chains.map(({ networkId, chainId }) => [networkId, chainId]),
  )
  await assert.rejects(client.getBridges({ networkId: 999 }), { code: 'INVALID_NETWORK_ID', status: 400 })
  await assert.rejects(client.getL1InfoTreeIndex({ networkId: 1, depositCount: 10_000 }), {
    code: 'BRIDGE_NOT_FOUND',
    status: 404,
  })
  const misspelled = { networkId: 1, fromAdress: '0x' } as { networkId: number }
  await assert.rejects(client.getBridges(misspelled), { code: 'INVALID_PARAMETER' })
})

test('a list that a reorg replaces while it is read begins again, and ends as the list that there is now', async (t) => {
  const devnet = await testDevnet(t)
  const service = await serviceOn(t, devnet)
  const [l1] = devnet.chains
  const { alice, bob } = devnet.accounts
  const deposit = (amount: bigint) =>
    bridgeAsset(l1, { from: alice, destinationNetwork: 1, destinationAddress: bob, amount, forced: true })
  for (const amount of [1n, 2n, 3n, 4n]) await deposit(amount)
  await service.inStep()
  const client = createBridgeClient({ baseUrl: service.process.url })
  /** The two newest deposits go, and two others come, once the third row was read. */
  const read = async (
    onRestart: ((restart: ListRestart) => void) | undefined,
    rows: Bridge[],
    amount: bigint,
  ) => {
    for await (const row of client.bridges({ networkId: 0, pageSize: 1 }, { onRestart })) {
      rows.push(row)
      if (rows.length !== 3 || row.amount >= amount) continue
      await l1.client.request<{ Method: string; Parameters: unknown[]; ReturnType: null }>({
        method: 'anvil_reorg',
        params: [2, []],
      })
      await deposit(amount)
      await deposit(amount + 1n)
      await service.inStep()
    }
  }
  const rows: Bridge[] = []
  const restarts: ListRestart[] = []
  const onRestart = (restart: ListRestart): void => {
    restarts.push(restart)
    rows.length = 0
  }
  await read(onRestart, rows, 30n)
  assert.deepEqual(
    rows.map(({ amount }) => amount),
    [1n, 2n, 30n, 31n],
  )
  assert.deepEqual(
    restarts.map(({ restarts: number, given }) => [number, given]),
    [[1, 3]],
  )
  const others: Bridge[] = []
  await assert.rejects(
    read(undefined, others, 50n),
    (error) => error instanceof BridgeRestartError && error.given === 3,
  )
  assert.deepEqual(
    others.map(({ amount }) => amount),
    [1n, 2n, 30n],
  )
})
