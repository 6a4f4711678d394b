import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, test } from 'node:test'
import type { Hex } from 'viem'
import { verifiesOnChain } from '../support/fakeChainModel.js'
import type { FakeDeposit } from '../support/fakeState.js'
import { startDataWorld } from '../support/httpWorld.js'
import { fetchRaw } from '../support/rawHttp.js'
import { decodeGo, type GoType } from './goDecoder.js'

/* Stand-ins of clients that exist, written from what they are known to ask and to read. Each goes the way to a claim by itself. */

const world = await startDataWorld({ after })

interface Told {
  readonly status: number
  readonly text: string
  /** Of a JSON body. */
  readonly json: ReturnType<typeof JSON.parse>
}

async function ask(path: string): Promise<Told> {
  const { status, body } = await fetchRaw(world.port, 'GET', path)
  return { status, text: body, json: JSON.parse(body) }
}

const CLAIMABLE = [world.ready, world.claimed, world.claimedOnL1, world.betweenRollups]

/** The L1 info index of the roots that a proof is told with. */
function indexOf(mainnetExitRoot: Hex, rollupExitRoot: Hex): number {
  return world.world
    .network(0)
    .head.state.l1InfoLeaves.findIndex(
      (leaf) => leaf.mainnetExitRoot === mainnetExitRoot && leaf.rollupExitRoot === rollupExitRoot,
    )
}

/** Whether the contract takes a proof, and the destination the roots. */
function passes(deposit: FakeDeposit, index: number, local: readonly Hex[], rollup: readonly Hex[]): boolean {
  const { globalExitRoot } = world.world.network(0).head.state.l1InfoLeaves[index]!
  const { destinationNetwork } = deposit
  return (
    (destinationNetwork === 0 ||
      world.world.network(destinationNetwork).head.state.globalExitRoots.has(globalExitRoot)) &&
    verifiesOnChain(world.world, deposit, index, { localExitRootBranch: local, rollupExitRootBranch: rollup })
  )
}

const BRIDGE: GoType = {
  block_num: 'uint64',
  block_pos: 'uint64',
  from_address: 'address',
  tx_hash: 'hash',
  global_index: 'decimal',
  block_timestamp: 'uint64',
  leaf_type: 'uint32',
  origin_network: 'uint32',
  origin_address: 'address',
  destination_network: 'uint32',
  destination_address: 'address',
  amount: 'decimal',
  metadata: 'bytes',
  deposit_count: 'uint32',
  bridge_hash: 'hash',
  txn_sender: 'address',
  to_address: 'address',
}

const LEAF: GoType = {
  block_num: 'uint64',
  l1_info_tree_index: 'uint32',
  previous_block_hash: 'hash',
  timestamp: 'uint64',
  mainnet_exit_root: 'hash',
  rollup_exit_root: 'hash',
  global_exit_root: 'hash',
  hash: 'hash',
}

const PROOF: GoType = {
  proof_local_exit_root: ['hash', 32],
  proof_rollup_exit_root: ['hash', 32],
  l1_info_tree_leaf: LEAF,
}

const REFUSAL: GoType = { error: 'string' }

test("the Go client of aggkit reads every endpoint's answer, and goes from the bridge to a proof that passes", async () => {
  const get = async (path: string, type: GoType) => {
    const { status, text, json } = await ask(`/aggkit/bridge/v1${path}`)
    assert.equal(status, 200, text)
    decodeGo(json, type)
    return json
  }
  for (const deposit of CLAIMABLE) {
    const { networkId, depositCount, destinationNetwork } = deposit
    const of = `network_id=${networkId}&deposit_count=${depositCount}`
    const { bridges } = await get(`/bridges?${of}`, { bridges: [BRIDGE], count: 'uint64' })
    assert.deepEqual(await get(`/bridge-by-deposit-count?${of}`, BRIDGE), bridges[0])
    const first = await get(`/l1-info-tree-index?${of}`, 'uint32')
    const { l1_info_tree_index: index } = await get(
      `/injected-l1-info-leaf?network_id=${destinationNetwork}&leaf_index=${first}`,
      LEAF,
    )
    assert.ok(index >= first)
    const proof = await get(`/claim-proof?${of}&leaf_index=${index}`, PROOF)
    assert.ok(passes(deposit, index, proof.proof_local_exit_root, proof.proof_rollup_exit_root))
  }
  const claim: GoType = {
    block_num: 'uint64',
    block_timestamp: 'uint64',
    tx_hash: 'hash',
    global_index: 'decimal',
    origin_address: 'address',
    origin_network: 'uint32',
    destination_address: 'address',
    destination_network: 'uint32',
    amount: 'decimal',
    from_address: 'string',
    metadata: 'bytes',
    is_message: 'bool',
  }
  const { count } = await get(`/claims?network_id=1&global_index=${world.claimed.globalIndex}`, {
    claims: [claim],
    count: 'uint64',
  })
  assert.equal(count, 1)
  const mapping: GoType = {
    block_num: 'uint64',
    block_pos: 'uint64',
    block_timestamp: 'uint64',
    tx_hash: 'hash',
    origin_network: 'uint32',
    origin_token_address: 'address',
    wrapped_token_address: 'address',
    metadata: 'bytes',
    is_not_mintable: 'bool',
    token_type: 'uint32',
  }
  const { token_mappings: mappings } = await get('/token-mappings?network_id=1', {
    token_mappings: [mapping],
    count: 'uint64',
  })
  assert.ok(mappings.length > 0)
})

test('clients of aggkit find the words that they wait on in each refusal that ends by itself', async () => {
  const { pending, unsettled } = world
  for (const [path, words] of [
    [
      `/l1-info-tree-index?network_id=1&deposit_count=${unsettled.depositCount}`,
      /not been included on the l1 info tree|is not available yet, retry later/i,
    ],
    ['/injected-l1-info-leaf?network_id=1&leaf_index=4000', /not injected/],
    ['/injected-l1-info-leaf?network_id=0&leaf_index=4000', /has not indexed l1 info tree leaf index/],
    [`/claim-proof?network_id=0&leaf_index=0&deposit_count=${pending.depositCount}`, /has not indexed/],
  ] as const) {
    const { status, json } = await ask(`/aggkit/bridge/v1${path}`)
    assert.equal(status, 404, path)
    decodeGo(json, REFUSAL)
    assert.match(json.error, words)
  }
})

test('polygon-cli in its legacy mode goes from the bridge to a proof that passes, and sees what is claimed', async () => {
  const record: GoType = {
    leaf_type: 'uint32',
    orig_net: 'uint32',
    orig_addr: 'address',
    amount: 'decimal',
    dest_net: 'uint32',
    dest_addr: 'address',
    block_num: 'decimal',
    deposit_cnt: 'uint32',
    network_id: 'uint32',
    tx_hash: 'hash',
    claim_tx_hash: 'string',
    metadata: 'bytes',
    ready_for_claim: 'bool',
    global_index: 'decimal',
  }
  const proofType: GoType = {
    proof: {
      merkle_proof: ['hash', 32],
      rollup_merkle_proof: ['hash', 32],
      main_exit_root: 'hash',
      rollup_exit_root: 'hash',
    },
  }
  const receiver = world.ready.destinationAddress
  const list = (await ask(`/zkevm/bridges/${receiver}?offset=0&limit=100`)).json
  decodeGo(list, { deposits: [record], total_cnt: 'decimal' })
  let passed = 0
  for (const one of list.deposits) {
    const deposit = world.world.network(one.network_id).deposits()[one.deposit_cnt]!
    const of = `net_id=${one.network_id}&deposit_cnt=${one.deposit_cnt}`
    assert.deepEqual((await ask(`/zkevm/bridge?${of}`)).json, { deposit: one })
    const { json, status } = await ask(`/zkevm/merkle-proof?${of}`)
    if (!one.ready_for_claim) {
      // A body with a code is a failure to it, whatever the status.
      decodeGo(json, { code: 'uint32', message: 'string', details: ['string'] })
      assert.equal(status, 500)
      continue
    }
    decodeGo(json, proofType)
    const { merkle_proof, rollup_merkle_proof, main_exit_root, rollup_exit_root } = json.proof
    const index = indexOf(main_exit_root, rollup_exit_root)
    assert.ok(passes(deposit, index, merkle_proof, rollup_merkle_proof))
    passed++
  }
  assert.ok(passed >= 4)
  const { networkId, depositCount } = world.claimed
  const { deposit } = (await ask(`/zkevm/bridge?net_id=${networkId}&deposit_cnt=${depositCount}`)).json
  // It asks for the flag first: a claimed bridge that is not ready would be waited for without end.
  assert.deepEqual([deposit.ready_for_claim, deposit.claim_tx_hash.length], [true, 66])
})

test('lxly.js and agglayer-viem get proofs that pass from the proof API', async () => {
  for (const deposit of CLAIMABLE) {
    const { networkId, depositCount } = deposit
    const ready = (await ask(`/proof/bridge?net_id=${networkId}&deposit_cnt=${depositCount}`)).json.deposit
    assert.equal(ready.ready_for_claim, true)
    const { proof } = (await ask(`/proof/merkle-proof?networkId=${networkId}&depositCount=${depositCount}`))
      .json
    const index = indexOf(proof.main_exit_root, proof.rollup_exit_root)
    assert.ok(passes(deposit, index, proof.merkle_proof, proof.rollup_merkle_proof))
  }
})

test('scripts find what they look for with grep, and no word "error" in a success', async () => {
  const found = (text: string, ...options: string[]): boolean =>
    spawnSync('grep', ['-q', ...options], { input: text }).status === 0
  const { networkId, depositCount, transactionHash, globalIndex } = world.claimedOnL1
  const bridges = (await ask(`/aggkit/bridge/v1/bridges?network_id=${networkId}`)).text
  assert.ok(found(bridges, '-F', `"tx_hash":"${transactionHash}"`))
  assert.ok(found(bridges, '-F', `"global_index":"${globalIndex}"`))
  const claims = (await ask('/aggkit/bridge/v1/claims?network_id=0')).text
  assert.ok(found(claims, '-F', `"global_index":"${globalIndex}"`))
  const index = (
    await ask(`/aggkit/bridge/v1/l1-info-tree-index?network_id=${networkId}&deposit_count=${depositCount}`)
  ).text
  // The body is pasted into the next address as it is.
  assert.ok(found(index, '-E', '-x', '[0-9]+'))
  for (const text of [bridges, claims, index]) assert.ok(!found(text, '-i', 'error'))
})
