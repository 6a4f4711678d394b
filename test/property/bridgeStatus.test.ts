import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { hexToBytes } from 'viem/utils'
import { type HeadPlace, headPlaces, statusRow } from '../../src/board/statusBoard.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import { getBridgeStatus } from '../../src/shard/queries/getBridgeStatus.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaimProof } from '../../src/shard/queries/getClaimProof.js'
import { getClaims } from '../../src/shard/queries/getClaims.js'
import { getClaimTransaction } from '../../src/shard/queries/getClaimTransaction.js'
import { getL1InfoTreeIndex } from '../../src/shard/queries/getL1InfoTreeIndex.js'
import { getSearch } from '../../src/shard/queries/getSearch.js'
import { type PlainWay, plainWay, wayOf } from '../support/bridgeWay.js'
import type { FakeWorld } from '../support/fakeChain.js'
import {
  type ExpectedDeposit,
  expectedDeposits,
  localExitRootUnder,
  pays,
} from '../support/fakeChainModel.js'
import { archivedIn, claimKey } from '../support/fakeState.js'
import { toHex } from '../support/indexedBlocks.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { RandomWorld } from '../support/randomWorld.js'
import { randomNumbers } from '../support/testNumbers.js'

/** How often each state of each stage was seen, as `injected removed`. */
type Seen = Map<string, number>

/** Everything about one deposit that other endpoints tell must be what its status tells. */
function compareWithOthers(indexed: IndexedWorld, networkId: NetworkId, count: number, way: PlainWay): void {
  const told = `network ${networkId}, deposit ${count}`
  const depositCount = asDepositCount(count)
  const one = { networkId, depositCount }
  const paging = { pageNumber: 1, pageSize: 100 }
  const list = indexed.ask((shards) => {
    const answer = getBridges(shards, { ...paging, networkId, depositCounts: [depositCount] })
    assert.ok(answer.ok)
    return answer.value.rows[0]!
  })
  const waitsFor = way.waitsFor as { event: string; networkId: number; blockNumber?: number } | null
  const { stages, currentStage } = way
  assert.deepEqual(
    [way.readyForClaim, way.l1InfoTreeIndex, way.claimTransactionHash, way.claimMatches],
    [
      list.readyForClaim,
      list.l1InfoTreeIndex,
      list.claimTransactionHash && toHex(list.claimTransactionHash),
      list.claimMatches,
    ],
    told,
  )
  assert.deepEqual(
    stages.bridged,
    {
      ...{ state: 'done', networkId, blockNumber: list.blockNumber, timestampSec: list.timestampSec },
      transactionHash: toHex(list.transactionHash),
    },
    told,
  )
  // Ready, and no other, waits for a claim.
  assert.equal(list.readyForClaim, waitsFor?.event === 'claim', told)
  if (list.claimTransactionHash === null)
    assert.equal(stages.claimable!.state === 'done', list.readyForClaim, told)
  const isEnded = stages.claimed!.state === 'done' || stages.claimed!.state === 'blocked'
  assert.equal(list.claimTransactionHash !== null, isEnded, told)
  if (isEnded) assert.deepEqual([currentStage, waitsFor], ['claimed', null], told)

  const index = indexed.ask((shards) => getL1InfoTreeIndex(shards, one))
  const call = indexed.ask((shards) => getClaimTransaction(shards, one))
  assert.equal(index.ok, way.l1InfoTreeIndex !== null, told)
  if (index.ok) {
    const leaf = stages.in_l1_info_tree!
    const accepted = stages.injected?.state === 'done' ? stages.injected : leaf
    assert.equal(leaf.l1InfoTreeIndex, index.value.firstCoveringIndex, told)
    assert.equal(accepted.l1InfoTreeIndex, index.value.l1InfoTreeIndex, told)
    assert.equal(accepted.globalExitRoot, toHex(index.value.globalExitRoot), told)
    const leafIndex = asL1InfoTreeIndex(way.l1InfoTreeIndex as number)
    assert.ok(indexed.ask((shards) => getClaimProof(shards, { ...one, leafIndex })).ok, told)
    assert.equal(call.ok, stages.claimed!.state !== 'unknown', told)
  } else {
    assert.equal(call.ok, false, told)
    const [, halted] = /^Network (\d+) is halted/.exec(index.message) ?? []
    const [, block] = /, above the final block \d+$/.test(index.message)
      ? /is in block (\d+),/.exec(index.message)!
      : []
    if (halted !== undefined && !isEnded) assert.equal(waitsFor?.event, 'recovery', told)
    if (/is in none of/.test(index.message)) assert.equal(stages.in_l1_info_tree!.state, 'waiting', told)
    if (/accepts no L1 info leaf/.test(index.message))
      assert.match(stages.injected!.state, /^(waiting|removed)$/, told)
    // A leaf that is not final yet is waited for, unless the deposit's own block comes first.
    if (block !== undefined && !isEnded && waitsFor?.event !== 'recovery')
      assert.deepEqual(
        [waitsFor?.event, waitsFor?.networkId, waitsFor?.blockNumber],
        ['finality', 0, currentStage === 'final' ? list.blockNumber : Number(block)],
        told,
      )
  }
  if (!indexed.world.networkIds.includes(list.destinationNetwork)) {
    assert.equal(stages.claimed!.state, 'unknown', told)
    return
  }
  const claims = indexed.ask((shards) => {
    const query = { ...paging, networkId: list.destinationNetwork, globalIndex: list.globalIndex }
    const answer = getClaims(shards, query)
    assert.ok(answer.ok)
    return answer.value.rows.filter((row) => row.sourceNetwork === networkId && row.depositCount === count)
  })
  assert.equal(claims.length, isEnded ? 1 : 0, told)
  for (const { blockNumber, timestampSec, transactionHash, destinationNetwork } of claims)
    assert.deepEqual(
      stages.claimed,
      {
        ...{ state: stages.claimed!.state, networkId: destinationNetwork, blockNumber, timestampSec },
        transactionHash: toHex(transactionHash),
      },
      told,
    )
}

/** States of stages by brute force from the history of the fake chains. */
function expectedStates(
  world: FakeWorld,
  deposit: ExpectedDeposit,
  finalized: (networkId: number) => number,
): Readonly<Record<string, string>> {
  const { networkId, destinationNetwork, depositCount, blockNumber } = deposit
  const isServed = world.networkIds.includes(destinationNetwork)
  const covered = deposit.firstCoveringIndex !== null ? 'done' : 'waiting'
  const claimed = !isServed
    ? 'unknown'
    : deposit.claimTransactionHash === null
      ? wasClaimed(world, deposit)
        ? 'unset'
        : 'waiting'
      : deposit.claimMatches
        ? 'done'
        : 'blocked'
  const isOpen = claimed === 'waiting' || claimed === 'unset'
  return {
    bridged: 'done',
    final: blockNumber <= finalized(networkId) ? 'done' : 'waiting',
    ...(networkId === 0 ? {} : { settled: covered }),
    in_l1_info_tree: covered,
    ...(destinationNetwork === 0 ? {} : { injected: injectionOf() }),
    claimable: isOpen ? (deposit.readyForClaim ? 'done' : 'waiting') : claimed,
    claimed,
  }

  function injectionOf(): string {
    if (!isServed) return 'unknown'
    const leaves = world.network(0).head.state.l1InfoLeaves.filter((leaf) => {
      const root = localExitRootUnder(world, leaf, networkId)
      const under = root === undefined ? [] : world.network(networkId).head.state.localExitRoots.get(root)
      return under?.[depositCount] === deposit.leaf
    })
    const { blocks, head } = world.network(destinationNetwork)
    if (leaves.some((leaf) => head.state.globalExitRoots.has(leaf.globalExitRoot))) return 'done'
    const wasIn = leaves.some((leaf) =>
      blocks.some(({ state }) => state.globalExitRoots.has(leaf.globalExitRoot)),
    )
    return wasIn ? 'removed' : 'waiting'
  }
}

/** Whether any block of the destination ended with a claim of this deposit, and not of an archived one with its count. */
function wasClaimed(world: FakeWorld, deposit: ExpectedDeposit): boolean {
  const { networkId, depositCount } = deposit
  const isReused = archivedIn(world.network(networkId).head.state).some(
    (cut) => cut.depositCount === depositCount,
  )
  // The newest of its claims tells.
  const last = world
    .network(deposit.destinationNetwork)
    .blocks.map(({ state }) => state.claims.get(claimKey(networkId, depositCount)))
    .filter((claim) => claim !== undefined)
    .at(-1)
  return last !== undefined && (!isReused || last.isSetByAdministrator || pays(deposit, last))
}

function checkAll(indexed: IndexedWorld, lag: number, isUndisturbed: boolean, seen: Seen): void {
  const { world } = indexed
  const finalized = (networkId: number) => Math.max(0, world.network(networkId).head.number - lag)
  for (const networkId of world.networkIds.map(asNetworkId))
    for (const deposit of expectedDeposits(world, networkId, { finalizedL1Block: finalized(0) })) {
      const { depositCount } = deposit
      const told = `network ${networkId}, deposit ${depositCount}`
      const way = wayOf(indexed, networkId, depositCount)
      compareWithOthers(indexed, networkId, depositCount, way)
      if (!isUndisturbed) continue
      const states = Object.fromEntries(
        Object.entries(way.stages).map(([stage, { state }]) => [stage, state]),
      )
      assert.deepEqual(states, expectedStates(world, deposit, finalized), told)
      assert.equal(way.stages.in_l1_info_tree!.l1InfoTreeIndex ?? null, deposit.firstCoveringIndex, told)
      for (const [stage, state] of Object.entries(states)) {
        const name = `${stage} ${state}`
        seen.set(name, (seen.get(name) ?? 0) + 1)
      }
    }
}

/** A transaction's statuses are those of its deposits, and a search finds the same ones. */
function checkTransactions(indexed: IndexedWorld): void {
  const { world } = indexed
  for (const networkId of world.networkIds)
    for (const transactionHash of new Set(
      world
        .network(networkId)
        .deposits()
        .map((deposit) => deposit.transactionHash),
    )) {
      // Transactions of the fake networks have hashes of their own.
      const own = world
        .network(networkId)
        .deposits()
        .filter((deposit) => deposit.transactionHash === transactionHash)
        .map(({ depositCount }) => depositCount)
      indexed.ask((shards) => {
        const answer = getBridgeStatus(shards, { transactionHash: hexToBytes(transactionHash) })
        assert.ok(answer.ok)
        assert.deepEqual(
          answer.value.statuses.map(plainWay),
          own.map((depositCount) => {
            const alone = getBridgeStatus(shards, {
              networkId: asNetworkId(networkId),
              depositCount: asDepositCount(depositCount),
            })
            assert.ok(alone.ok)
            return plainWay(alone.value.statuses[0]!)
          }),
        )
        const found = getSearch(shards, { transactionHash: hexToBytes(transactionHash) })
        assert.ok(found.ok)
        assert.deepEqual(
          found.value.results
            .filter(({ type }) => type === 'bridge')
            .map((result) => [result.networkId, result.depositCount]),
          own.map((depositCount) => [networkId, depositCount]),
        )
      })
    }
}

/** Something that makes data doubtful without a commit. @returns what ends it. */
function disturb(indexed: IndexedWorld, random: () => number): () => void {
  const { networkIds } = indexed.world
  const networkId = networkIds[Math.floor(random() * networkIds.length)]!
  const row = statusRow(indexed.status, networkId)
  const kind = Math.floor(random() * 4)
  if (kind === 0) {
    indexed.halt(networkId, 'exit_root_mismatch')
    return () => indexed.halt(networkId, 'none')
  }
  if (kind === 1) {
    indexed.halt(networkId, 'disk_full')
    return () => indexed.halt(networkId, 'none')
  }
  if (kind === 2) {
    const places: HeadPlace[] = [headPlaces.below, headPlaces.belowFinal, headPlaces.unseen]
    row.setHeadPlace(places[Math.floor(random() * places.length)]!)
    return () => row.setHeadPlace(headPlaces.inStep)
  }
  indexed.writer(networkId).noteCatchingUp(true)
  return () => indexed.writer(networkId).noteCatchingUp(false)
}

async function checkWorld(seed: number, seen: Seen): Promise<void> {
  const random = randomNumbers(seed ^ 0x57a7)
  const source = new RandomWorld(seed)
  const { networkIds } = source.world
  const finals = new Map<number, number>()
  const closing: Array<() => void | Promise<void>> = []
  try {
    const indexed = new IndexedWorld({ after: (body) => closing.unshift(body) }, source.world)
    for (let round = 0; round < 5; round++) {
      for (let steps = 0; steps < 25; steps++) source.step()
      if (round % 2 === 1) source.reorg()
      // Finality does not go back with the lag: what was final stays so while its block does.
      const room = networkIds.map((id) => source.world.network(id).head.number - (finals.get(id) ?? 0))
      const lag = Math.max(0, Math.min(Math.floor(random() * 6), ...room))
      for (const id of networkIds) finals.set(id, Math.max(0, source.world.network(id).head.number - lag))
      indexed.syncAll({ finalizedLag: lag, batchBlocks: 1 + Math.floor(random() * 9) })
      checkAll(indexed, lag, true, seen)
      checkTransactions(indexed)
      const settle = disturb(indexed, random)
      checkAll(indexed, lag, false, seen)
      settle()
    }
  } finally {
    for (const close of closing) await close()
  }
}

test('whatever the chains do, a status says what the other endpoints say, and each stage is what the history of the chains says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), (seed) => checkWorld(seed, new Map())),
    { numRuns: 8, includeErrorInReport: true, endOnFailure: true },
  )
})

test('worlds with removed roots, claims that were unset, and claims of archived deposits are told alike', async () => {
  const seen: Seen = new Map()
  for (const seed of [4, 9, 16, 21]) await checkWorld(seed, seen)
  for (const rare of ['injected removed', 'claimed unset', 'claimed blocked', 'claimed unknown'])
    assert.ok((seen.get(rare) ?? 0) > 2, `${rare}: ${JSON.stringify([...seen])}`)
})
