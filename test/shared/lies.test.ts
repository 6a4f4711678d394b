import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findLies } from './lies.js'
import { type ClaimNow, type ExpectedBridge, type ExpectedNow, startReplayChains } from './replayControl.js'

interface Served {
  readonly isSynced: boolean
  readonly bridges?: readonly object[]
  readonly claims?: readonly object[]
  /** So often a proof is refused; from then on the rows are no longer ready. */
  readonly refusedProofs?: number
}

async function expectedNow(t: TestContext, set: string, head: string): Promise<ExpectedNow> {
  const chains = await startReplayChains(set, { head })
  t.after(() => chains.close())
  return chains.expected()
}

/**
 * The false answers that `findLies` reports of a service that lists these rows for network 1 and nothing else,
 * with only network 1 synced.
 */
function lies(
  expected: ExpectedNow,
  { isSynced, bridges = [], claims = [], refusedProofs = Number.POSITIVE_INFINITY }: Served,
): Promise<string[]> {
  const status = Object.entries(expected.networks).map(([id, { head, depositCount }]) => ({
    network_id: Number(id),
    is_synced: isSynced && id === '1',
    synced_block: head,
    current_block: head,
    halted: null,
    indexed_deposit_count: depositCount,
  }))
  let refused = 0
  const bodyOf = (path: string): object => {
    const isOurs = path.includes('network_id=1&')
    if (path.endsWith('/sync-status')) return { networks: status }
    if (path.includes('/claims?')) return { claims: isOurs ? claims : [] }
    const isReady = refused < refusedProofs
    const rows = isOurs ? bridges.map((row) => (isReady ? row : { ...row, ready_for_claim: false })) : []
    return { bridges: rows, pagination: { total: rows.length } }
  }
  const get = async (path: string) => {
    const headers = new Headers()
    if (!/index|proof/.test(path)) return { status: 200, headers, body: bodyOf(path) }
    refused++
    return { status: 404, headers, body: {} }
  }
  return findLies({ get }, expected)
}

const claimRow = ({ txHash, logIndex, sourceNetwork, depositCount }: Omit<ClaimNow, 'kind'>) => ({
  tx_hash: txHash,
  log_index: logIndex,
  origin_network: sourceNetwork,
  deposit_count: depositCount,
})

type Deposit = Omit<ExpectedBridge, 'sourceNetwork'>
const bridgeRow = (deposit: Deposit) => ({
  deposit_count: deposit.depositCount,
  tx_hash: deposit.txHash,
  amount: deposit.amount,
  block_timestamp: deposit.blockTimestamp,
  destination_network: deposit.destinationNetwork,
  ready_for_claim: false,
  claim_tx_hash: null,
})

test('a claim that an administrator set is no lie, unless it names another deposit or stands twice', async (t) => {
  const expected = await expectedNow(t, 'multi', 'all')
  const set = expected.claimMarks.find(({ kind }) => kind === 'set')!
  const row = claimRow(set)
  const ask = (...claims: object[]) => lies(expected, { isSynced: false, claims })
  assert.deepEqual(await ask(row), [])
  const id = `${set.sourceNetwork}#${set.depositCount}`
  assert.deepEqual(await ask(row, row), [`network 1: ${id} is claimed twice`])
  assert.deepEqual(await ask({ ...row, deposit_count: 0 }), [
    `network 1: ${set.sourceNetwork}#0: nobody made the claim ${set.txHash}`,
  ])
})

test('a claim that was taken back is a lie of a network that calls itself synced, of no other', async (t) => {
  // Network 1 stands at the block of UnsetClaim; the claim is made again in the next one.
  const expected = await expectedNow(t, 'v12-v9-legacy', '0:60,1:36,2:40')
  const unset = expected.claimMarks.find(({ kind }) => kind === 'unset')!
  const claim = expected.claims.find(
    ({ network, sourceNetwork, depositCount }) =>
      network === 1 && sourceNetwork === unset.sourceNetwork && depositCount === unset.depositCount,
  )!
  const claims = [claimRow(claim)]
  assert.deepEqual(await lies(expected, { isSynced: false, claims }), [])
  const told = await lies(expected, { isSynced: true, claims })
  assert.ok(told.includes(`network 1: 0#${unset.depositCount}: the claim ${claim.txHash} was taken back`))
})

test('a deposit that was cut off is a lie of a network that calls itself synced, of no other', async (t) => {
  const expected = await expectedNow(t, 'multi', 'all')
  const cutOff = expected.archived[1]![0]!
  const inTree = expected.bridges.filter(({ sourceNetwork }) => sourceNetwork === 1)
  const before = inTree.slice(0, cutOff.depositCount)
  const newestFirst = (...deposits: Deposit[]) => [...before, ...deposits].map(bridgeRow).reverse()
  const ask = (isSynced: boolean, bridges: readonly object[]) => lies(expected, { isSynced, bridges })
  assert.deepEqual(await ask(false, newestFirst(cutOff)), [])
  const told = await ask(true, newestFirst(cutOff))
  assert.ok(told.some((lie) => lie.startsWith(`1#${cutOff.depositCount}: {`)))
  const after = inTree[cutOff.depositCount + 1]!
  assert.deepEqual(await ask(false, newestFirst(cutOff, after)), [
    `1#${cutOff.depositCount}: cut off, and listed with block ${after.blockNumber}`,
  ])
  assert.equal((await ask(false, newestFirst({ ...cutOff, amount: '999' }))).length, 1)
})

test('a ready deposit whose proof is refused twice is a lie, and none once a rewind took readiness back', async (t) => {
  const expected = await expectedNow(t, 'multi', 'all')
  const deposit = expected.bridges.find(
    ({ sourceNetwork, depositCount }) => sourceNetwork === 1 && depositCount === 0,
  )!
  const bridges = [{ ...bridgeRow(deposit), ready_for_claim: true }]
  const ask = (refusedProofs?: number) => {
    const bound = refusedProofs === undefined ? {} : { refusedProofs }
    return lies(expected, { isSynced: false, bridges, ...bound })
  }
  assert.deepEqual(await ask(), ['1#0: ready without an index'])
  assert.deepEqual(await ask(1), [])
  assert.deepEqual(await ask(2), [])
})
