import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { hexToBytes } from 'viem'
import type { BridgesQuery } from '../../src/protocol/queries.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaimProof } from '../../src/shard/queries/getClaimProof.js'
import { getClaims } from '../../src/shard/queries/getClaims.js'
import { getL1InfoTreeIndex } from '../../src/shard/queries/getL1InfoTreeIndex.js'
import {
  expectedBridge,
  expectedBridges,
  expectedClaims,
  plainBridge,
  plainClaim,
} from '../support/expectedRows.js'
import { type ExpectedDeposit, verifiesOnChain } from '../support/fakeChainModel.js'
import { account, userContract } from '../support/fakeChainTransaction.js'
import { IndexedWorld, toHex } from '../support/indexedWorld.js'
import { RandomWorld, randomNumbers } from '../support/randomWorld.js'

const SENDERS = [
  account(1),
  account(2),
  account(3),
  account(9),
  userContract(0),
  userContract(1),
  account(555),
]
const CLAIMERS = [account(5), account(6), account(7), userContract(1), account(555)]
const NETWORK_IDS = [[0], [1], [2], [3], [77], [1, 2], [0, 77], [0, 1, 2, 3, 77], [500]]

/** Each filter, or none. */
function randomFilters(random: () => number, deposits: readonly ExpectedDeposit[]): Partial<BridgesQuery> {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!
  return {
    ...(random() < 0.15
      ? { depositCount: asDepositCount(Math.floor(random() * (deposits.length + 2))) }
      : {}),
    ...(random() < 0.4 ? { fromAddress: hexToBytes(pick(SENDERS)) } : {}),
    ...(random() < 0.5 ? { networkIds: pick(NETWORK_IDS).map(asNetworkId) } : {}),
    ...(random() < 0.6 ? { readyForClaim: random() < 0.5 } : {}),
  }
}

function matches(deposit: ExpectedDeposit, filters: Partial<BridgesQuery>): boolean {
  const { depositCount, fromAddress, networkIds, readyForClaim } = filters
  const from = fromAddress && toHex(fromAddress)
  return (
    (depositCount === undefined || deposit.depositCount === depositCount) &&
    (from === undefined || deposit.caller === from || deposit.transactionSender === from) &&
    (networkIds === undefined || networkIds.includes(deposit.destinationNetwork as NetworkId)) &&
    (readyForClaim === undefined || deposit.readyForClaim === readyForClaim)
  )
}

/** Compares everything that the shards answer with the model. @returns how many ready rows were proven. */
function checkEverything(indexed: IndexedWorld, finalizedL1Block: number, random: () => number): number {
  const { world } = indexed
  let proven = 0
  for (const networkId of world.networkIds.map(asNetworkId)) {
    const deposits = expectedBridges(world, networkId, { finalizedL1Block })
    for (let asked = 0; asked < 25; asked++) {
      const filters = asked === 0 ? {} : randomFilters(random, deposits)
      const expected = deposits.filter((deposit) => matches(deposit, filters))
      const pageSize = 1 + Math.floor(random() * 12)
      const pageNumber = 1 + Math.floor(random() * (expected.length / pageSize + 2))
      const answer = indexed.ask((shards) =>
        getBridges(shards, { networkId, pageNumber, pageSize, ...filters }),
      )
      assert.ok(answer.ok)
      const { rows, ...page } = answer.value
      const first = (pageNumber - 1) * pageSize
      const told = JSON.stringify({ networkId, pageNumber, pageSize, ...filters })
      assert.deepEqual(page, { page: pageNumber, limit: pageSize, total: expected.length }, told)
      assert.deepEqual(
        rows.map(plainBridge),
        expected.slice(first, first + pageSize).map(expectedBridge),
        told,
      )
    }
    for (const deposit of deposits) proven += checkProof(indexed, deposit)
    checkClaims(indexed, networkId, random)
  }
  return proven
}

/** The index that is answered is the expected one, and its proof holds; without one there is none. */
function checkProof(indexed: IndexedWorld, deposit: ExpectedDeposit): number {
  const asked = {
    networkId: asNetworkId(deposit.networkId),
    depositCount: asDepositCount(deposit.depositCount),
  }
  const told = `network ${deposit.networkId}, deposit ${deposit.depositCount}`
  const index = indexed.ask((shards) => getL1InfoTreeIndex(shards, asked))
  if (deposit.usableIndex === null) {
    assert.equal(!index.ok && index.code, 'PROOF_NOT_AVAILABLE', told)
    return 0
  }
  assert.ok(index.ok, told)
  assert.equal(index.value.leaf.l1InfoTreeIndex, deposit.usableIndex, told)
  assert.equal(index.value.firstCoveringIndex, deposit.firstCoveringIndex, told)
  const leafIndex = asL1InfoTreeIndex(deposit.usableIndex)
  const proof = indexed.ask((shards) => getClaimProof(shards, { ...asked, leafIndex }))
  assert.ok(proof.ok, told)
  const branches = {
    localExitRootBranch: siblings(proof.value.localExitRootBranch),
    rollupExitRootBranch: siblings(proof.value.rollupExitRootBranch),
  }
  assert.ok(verifiesOnChain(indexed.world, deposit, leafIndex, branches), told)
  return deposit.readyForClaim ? 1 : 0
}

function checkClaims(indexed: IndexedWorld, networkId: NetworkId, random: () => number): void {
  const all = expectedClaims(indexed.world, networkId)
  for (const from of [undefined, ...CLAIMERS]) {
    const expected = all.filter(
      (claim) => from === undefined || [claim.caller, claim.transactionSender].includes(from),
    )
    const pageSize = 1 + Math.floor(random() * 8)
    const pageNumber = 1 + Math.floor(random() * (expected.length / pageSize + 1))
    const query = {
      networkId,
      pageNumber,
      pageSize,
      ...(from === undefined ? {} : { fromAddress: hexToBytes(from) }),
    }
    const answer = indexed.ask((shards) => getClaims(shards, query))
    assert.ok(answer.ok)
    const told = `claims on ${networkId} from ${from}, page ${pageNumber} of ${pageSize}`
    assert.equal(answer.value.total, expected.length, told)
    const first = (pageNumber - 1) * pageSize
    assert.deepEqual(
      answer.value.rows.map(plainClaim),
      expected.slice(first, first + pageSize).map(({ isByNobody, ...row }) => row),
      told,
    )
  }
}

const siblings = (branch: Uint8Array) =>
  Array.from({ length: 32 }, (_, level) => toHex(branch.subarray(32 * level, 32 * level + 32)))

/** One world from its seed: grown, reorganised, indexed in steps and compared after each. @returns ready rows proven. */
async function checkWorld(seed: number): Promise<number> {
  const random = randomNumbers(seed ^ 0x5eed)
  const source = new RandomWorld(seed)
  const closing: Array<() => void | Promise<void>> = []
  let proven = 0
  try {
    const indexed = new IndexedWorld({ after: (body) => closing.unshift(body) }, source.world)
    for (let round = 0; round < 5; round++) {
      for (let steps = 0; steps < 25; steps++) source.step()
      if (round % 2 === 1) source.reorg()
      const finalizedLag = Math.floor(random() * 6)
      indexed.syncAll({ finalizedLag, batchBlocks: 1 + Math.floor(random() * 9) })
      const finalizedL1Block = Math.max(0, source.world.network(0).head.number - finalizedLag)
      proven += checkEverything(indexed, finalizedL1Block, random)
    }
  } finally {
    for (const close of closing) await close()
  }
  return proven
}

test('whatever the chains do, every filter, page and total equals the model, and each index given proves', async () => {
  let proven = 0
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      proven += await checkWorld(seed)
    }),
    { numRuns: 8, includeErrorInReport: true, endOnFailure: true },
  )
  assert.ok(proven > 100, `only ${proven} ready rows were proven`)
})
