import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { expectedDeposits } from '../support/fakeChainModel.js'
import { account } from '../support/fakeState.js'
import { startDataWorld } from '../support/httpWorld.js'
import { checkedBody, fetchRaw } from '../support/rawHttp.js'

async function serve(context: TestContext) {
  const world = await startDataWorld(context)
  const get = async (path: string) => {
    const response = await fetchRaw(world.server.port, 'GET', `/bridge/v1${path}`)
    // The record's shape is checked against its schema; the tests below look at values.
    return { status: response.status, body: checkedBody(`/bridge/v1${path}`, response) as Body }
  }
  return { ...world, get }
}

interface Body {
  readonly bridges: readonly Record<string, unknown>[]
  readonly claims: readonly Record<string, unknown>[]
  readonly token_mappings: readonly Record<string, unknown>[]
  readonly pagination: { readonly page: number; readonly limit: number; readonly total: number }
  readonly proof: { readonly smtProofLocalExitRoot: readonly string[] }
  readonly l1_info_tree_index: number
  readonly error: { readonly code: string }
}

test('the API lists every bridge of every network, newest first, as the chain emitted it', async (context) => {
  const { world, get } = await serve(context)
  for (const networkId of world.networkIds) {
    const { body } = await get(`/bridges?network_id=${networkId}&page_size=1000`)
    const expected = expectedDeposits(world, networkId).toReversed()
    assert.ok(expected.length > 0)
    assert.deepEqual(
      body.bridges.map(({ deposit_count, amount, destination_network, leaf_type, metadata }) => ({
        deposit_count,
        amount,
        destination_network,
        leaf_type,
        metadata,
      })),
      expected.map((deposit) => ({
        deposit_count: deposit.depositCount,
        amount: String(deposit.amount),
        destination_network: deposit.destinationNetwork,
        leaf_type: deposit.leafType,
        metadata: deposit.metadata,
      })),
    )
    assert.equal(body.pagination.total, expected.length)
  }
})

test('every deposit that is ready has an L1 info tree index, a claim proof and a claim transaction', async (context) => {
  const { world, get } = await serve(context)
  let ready = 0
  for (const networkId of world.networkIds) {
    const { body } = await get(`/bridges?network_id=${networkId}&ready_for_claim=true`)
    for (const { deposit_count, l1_info_tree_index } of body.bridges) {
      const deposit = `network_id=${networkId}&deposit_count=${deposit_count}`
      const index = await get(`/l1-info-tree-index?${deposit}`)
      assert.deepEqual([index.status, index.body.l1_info_tree_index], [200, l1_info_tree_index])
      const proof = await get(`/claim-proof?${deposit}&leaf_index=${l1_info_tree_index}`)
      assert.deepEqual([proof.status, proof.body.proof.smtProofLocalExitRoot.length], [200, 32])
      assert.equal((await get(`/claim-transaction?${deposit}`)).status, 200)
      ready++
    }
  }
  assert.ok(ready >= 2)
})

test('the API lists claims and token mappings', async (context) => {
  const { get } = await serve(context)
  assert.ok((await get('/claims?network_id=1')).body.claims.length > 0)
  const { body } = await get('/token-mappings')
  assert.deepEqual([body.token_mappings[0]?.name, body.token_mappings[0]?.decimals], ['Fake', 18])
})

test('a proof or a claim that does not exist yet is a 404 with its own error code', async (context) => {
  const { get, pending } = await serve(context)
  const missing = await get('/l1-info-tree-index?network_id=0&deposit_count=4000000')
  assert.deepEqual([missing.status, missing.body.error.code], [404, 'BRIDGE_NOT_FOUND'])
  const early = await get(`/l1-info-tree-index?network_id=0&deposit_count=${pending.depositCount}`)
  assert.deepEqual([early.status, early.body.error.code], [404, 'PROOF_NOT_AVAILABLE'])
})

test('a deposit is in the first answer after its commit, and a reorg removes it', async (context) => {
  const { world, indexed, get } = await serve(context)
  const total = async (): Promise<number> =>
    (await get('/bridges?network_id=0&page_size=1')).body.pagination.total
  const before = await total()
  for (let more = 1; more <= 20; more++) {
    world.network(0).mine((block) => block.tx({ from: account(1) }).deposit({ destinationNetwork: 1 }))
    indexed.sync(0)
    assert.equal(await total(), before + more)
  }
  world.network(0).reorg({ depth: 5, blocks: [() => undefined] })
  indexed.sync(0)
  assert.equal(await total(), before + 15)
})
