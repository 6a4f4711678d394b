import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { entriesOfKind, exitRootOf, findRootAtBlockEnd } from '../../../src/shard/snapshot/hashRuns.js'
import { decodeInjectedGerEntry, decodeUint32 } from '../../../src/store/layout/smallRows.js'
import { hashKinds } from '../../../src/store/layout/tables.js'
import type { ReadView } from '../../../src/store/shardStore.types.js'
import { archivedIn, claimKey, type FakeState, localExitRootOf } from '../../support/fakeState.js'
import { toHex } from '../../support/indexedBlocks.js'
import { naiveRoot } from '../../support/naiveTree.js'
import type { RandomChain } from '../../support/randomChain.js'
import {
  readClaimLinks,
  readClaims,
  readCounters,
  readDeposits,
  readLists,
  readMappings,
} from '../../support/shardContents.js'
import { assertForRandomShards } from './randomShard.js'

const everything = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }

test('after reorgs, with and without undo, rows, lists, links, roots and totals are those of the contracts', async () => {
  let deposits = 0
  let regrown = 0
  await assertForRandomShards(25, 8, (shard, chain) => {
    shard.read((view) => assertIsStateOf(view, chain))
    deposits += chain.state.deposits.length
    regrown += regrownIn(chain.state).flat().length
  })
  assert.ok(deposits > 200, `${deposits} deposits`)
  assert.ok(regrown > 0, 'no deposit came back')
})

function assertIsStateOf(view: ReadView, chain: RandomChain): void {
  const { state } = chain
  assert.deepEqual(
    readDeposits(view),
    state.deposits.map(({ networkId, leaf, globalIndex, ...row }) => row),
  )
  assert.deepEqual(readClaims(view), expectedClaims(state))
  assert.deepEqual(readClaimLinks(view), expectedLinks(state))
  assert.deepEqual(readLists(view), expectedLists(state))
  assert.deepEqual(readMappings(view), expectedMappings(state))
  const expectedRoots = storedRoots(chain)
  const roots = [...entriesOfKind(view, hashKinds.localExitRoots)].map((words) => {
    const { root, ...entry } = exitRootOf(words)
    assert.deepEqual(findRootAtBlockEnd(view, root), expectedRoots.get(toHex(root)))
    return [toHex(root), entry]
  })
  assert.deepEqual(Object.fromEntries(roots), Object.fromEntries(expectedRoots))
  const regrown = regrownIn(state)
  assert.deepEqual(readRegrown(view, regrown.length), regrown)
  const injections = view
    .list('injectedGers', everything)
    .map(({ value }) => toHex(decodeInjectedGerEntry(value).globalExitRoot))
  assert.deepEqual(injections, state.injections)
  const inForce = view
    .list('gerStates', everything)
    .filter(({ value }) => value[4] === 1)
    .map(({ key }) => toHex(key))
  assert.deepEqual(inForce, [...state.globalExitRoots.keys()].sort())
  const counters = readCounters(view)
  assert.equal(counters.emergencyState, state.emergency ? 1 : 0)
  assert.equal(counters.archivedDeposits, archivedIn(state).length)
  assert.equal(counters.claimsOutOfForce, state.claimHistory.length - state.claims.size)
}

function readRegrown(view: ReadView, lineages: number): number[][] {
  const regrown = Array.from({ length: lineages }, (): number[] => [])
  for (const { key, value } of view.list('regrownStretches', everything)) {
    const end = decodeUint32(value)
    const counts = regrown[Buffer.from(key).readUInt16BE(0)]!
    for (let count = Buffer.from(key).readUInt32BE(2); count < end; count++) counts.push(count)
  }
  return regrown
}

/** By lineage: counts above every later cut at which it had the present leaf. */
function regrownIn({ treeMoves, deposits }: FakeState): number[][] {
  const cuts = treeMoves.filter(({ isCut }) => isCut)
  return cuts.map(({ before }, lineage) => {
    const lowestCut = Math.min(...cuts.slice(lineage).map(({ after }) => after.length))
    const isRegrown = ({ leaf, depositCount }: (typeof before)[number]) =>
      depositCount >= lowestCut && deposits[depositCount]?.leaf === leaf
    return before.filter(isRegrown).map(({ depositCount }) => depositCount)
  })
}

/** Exit root → lineage and leaf count, the newest where a root occurred twice: after each cut and regrowth, and at block ends. */
function storedRoots({ network }: RandomChain): Map<Hex, { lineage: number; leafCount: number }> {
  const roots = new Map<Hex, { lineage: number; leafCount: number }>()
  let lineage = 0
  network.blocks.slice(1).forEach(({ state }, parent) => {
    const before = network.blocks[parent]!.state
    for (const { isCut, after } of state.treeMoves.slice(before.treeMoves.length)) {
      if (isCut) lineage++
      roots.set(naiveRoot(after.map(({ leaf }) => leaf)), { lineage, leafCount: after.length })
    }
    // A block that cuts the tree and regrows it to the same length ends with another root.
    if (state.deposits !== before.deposits)
      roots.set(localExitRootOf(state), { lineage, leafCount: state.deposits.length })
  })
  return roots
}

function expectedClaims({ claimHistory, claims }: FakeState) {
  return claimHistory.map((claim) => {
    const { networkId, originNetwork, originAddress, destinationAddress, amount, ...row } = claim
    const content = row.isSetByAdministrator
      ? {}
      : { originNetwork, originAddress, destinationAddress, amount }
    return {
      ...row,
      ...content,
      isInForce: claims.get(claimKey(row.sourceNetwork, row.depositCount)) === claim,
    }
  })
}

function expectedLinks({ claimHistory, claims }: FakeState): Record<string, string> {
  const links = [...claims].map(([key, claim]) => [
    key,
    `${claimHistory.indexOf(claim)} ${claim.transactionHash.slice(2)}`,
  ])
  return Object.fromEntries(links)
}

function expectedMappings({ tokenMappings }: FakeState) {
  return tokenMappings.map((each) => {
    const { networkId, ...row } = each
    const ofSameToken = ({ originNetwork, originTokenAddress }: typeof each) =>
      originNetwork === row.originNetwork && originTokenAddress === row.originTokenAddress
    return { ...row, isCurrent: tokenMappings.findLast(ofSameToken) === each }
  })
}

function expectedLists(state: FakeState): Record<string, number[]> {
  const { deposits, claimHistory, tokenMappings } = state
  const lists: Record<string, number[]> = {}
  const add = (kind: string, key: string, ordinal: number) => {
    const name = `${kind}:${key.replace('0x', '')}`
    lists[name] ??= []
    const list = lists[name]
    if (list.at(-1) !== ordinal) list.push(ordinal)
  }
  const network = (id: number) => id.toString(16).padStart(8, '0')
  deposits.forEach((deposit, ordinal) => {
    add('depositsByDestinationNetwork', network(deposit.destinationNetwork), ordinal)
    add('depositsByDestinationAddress', deposit.destinationAddress, ordinal)
    add('depositsByTransaction', deposit.transactionHash.slice(0, 18), ordinal)
    if (deposit.leafType !== 0) add('depositsByLeafType', `0${deposit.leafType}`, ordinal)
    add('depositsBySender', deposit.caller, ordinal)
    add('depositsBySender', deposit.transactionSender, ordinal)
    // The listed row is the stored row.
    if (deposit.isForwardLeaf && deposit.leafType === 1)
      add('depositsBySender', deposit.originAddress, ordinal)
  })
  archivedIn(state).forEach(({ leaf }, ordinal) => {
    add('archivedByLeafHash', leaf, ordinal)
  })
  claimHistory.forEach((claim, ordinal) => {
    add('claimsBySourceNetwork', network(claim.sourceNetwork), ordinal)
    add('claimsByTransaction', claim.transactionHash.slice(0, 18), ordinal)
    if (claim.isSetByAdministrator) add('claimsSetByAdministrator', '', ordinal)
    else add('claimsByDestinationAddress', claim.destinationAddress, ordinal)
    add('claimsBySender', claim.caller, ordinal)
    add('claimsBySender', claim.transactionSender, ordinal)
  })
  tokenMappings.forEach(({ originNetwork, originTokenAddress, wrappedTokenAddress }, ordinal) => {
    add('mappingsByOriginToken', network(originNetwork) + originTokenAddress.slice(2), ordinal)
    add('mappingsByWrappedToken', wrappedTokenAddress, ordinal)
  })
  return lists
}
