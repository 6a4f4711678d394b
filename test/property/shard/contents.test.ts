import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sender } from '../../../src/protocol/chainEvent.js'
import { entriesOfKind, exitRootOf, findRootAtBlockEnd } from '../../../src/shard/snapshot/hashRuns.js'
import { decodeInjectedGerEntry, decodeUint32 } from '../../../src/store/layout/smallRows.js'
import { hashKinds } from '../../../src/store/layout/tables.js'
import type { ReadView } from '../../../src/store/shardStore.types.js'
import {
  hex,
  readClaimLinks,
  readClaims,
  readCounters,
  readDeposits,
  readLists,
  readMappings,
} from '../../support/shardContents.js'
import type { ModelClaim, ModelDeposit, ShardModel } from '../../support/shardModel.js'
import { assertForRandomShards } from './randomShard.js'

const everything = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }

test('after reorgs, with and without undo, rows, lists, links, roots and totals equal those of a plain model', async () => {
  let deposits = 0
  let regrown = 0
  await assertForRandomShards(25, 8, (shard, chain) => {
    shard.read((view) => assertIsModel(view, chain.model))
    deposits += chain.model.deposits.length
    regrown += chain.model.regrown().flat().length
  })
  assert.ok(deposits > 200, `${deposits} deposits`)
  assert.ok(regrown > 0, 'no deposit came back')
})

function assertIsModel(view: ReadView, model: ShardModel): void {
  assert.deepEqual(readDeposits(view), model.deposits.map(plainDeposit))
  assert.deepEqual(
    readClaims(view),
    model.claims.map((claim) => plainClaim(claim)),
  )
  assert.deepEqual(readClaimLinks(view), expectedLinks(model))
  assert.deepEqual(readLists(view), expectedLists(model))
  assert.deepEqual(
    readMappings(view),
    model.mappings.map((mapping) => ({ ...mapping })),
  )
  const roots = [...entriesOfKind(view, hashKinds.localExitRoots)].map((words) => {
    const { root, ...entry } = exitRootOf(words)
    assert.deepEqual(findRootAtBlockEnd(view, root), model.localExitRoots.get(hex(root)))
    return [hex(root), entry]
  })
  assert.deepEqual(Object.fromEntries(roots), Object.fromEntries(model.localExitRoots))
  assert.deepEqual(readRegrown(view, model.lineage), model.regrown())
  const injections = view
    .list('injectedGers', everything)
    .map(({ value }) => hex(decodeInjectedGerEntry(value).globalExitRoot))
  assert.deepEqual(injections, model.injections)
  const inForce = view
    .list('gerStates', everything)
    .filter(({ value }) => value[4] === 1)
    .map(({ key }) => hex(key))
  assert.deepEqual(inForce, [...model.gersInForce].sort())
  const counters = readCounters(view)
  assert.equal(counters.emergencyState, model.isEmergency ? 1 : 0)
  assert.equal(counters.archivedDeposits, model.archived.length)
  assert.equal(counters.claimsOutOfForce, model.claims.filter((claim) => !claim.isInForce).length)
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

function plainSender(sender: Sender | null) {
  return sender && { caller: hex(sender.caller), transactionSender: hex(sender.transactionSender) }
}

function plainDeposit({ leaf, ...deposit }: ModelDeposit) {
  return {
    leafType: leaf.leafType,
    originNetwork: leaf.originNetwork as number,
    originAddress: hex(leaf.originAddress),
    destinationNetwork: leaf.destinationNetwork as number,
    destinationAddress: hex(leaf.destinationAddress),
    amount: leaf.amount,
    metadata: hex(leaf.metadata),
    transactionHash: hex(deposit.transactionHash),
    blockNumber: deposit.blockNumber,
    logIndex: deposit.logIndex,
    isForwardLeaf: deposit.isForwardLeaf,
    sender: plainSender(deposit.sender),
  }
}

function plainClaim(claim: ModelClaim) {
  return {
    sourceNetwork: claim.sourceNetwork,
    depositCount: claim.depositCount,
    transactionHash: hex(claim.transactionHash),
    blockNumber: claim.blockNumber,
    logIndex: claim.logIndex,
    isSetByAdministrator: claim.isSetByAdministrator,
    destinationAddress: claim.destinationAddress && hex(claim.destinationAddress),
    amount: claim.amount,
    sender: plainSender(claim.sender),
    isInForce: claim.isInForce,
  }
}

function expectedLinks(model: ShardModel): Record<string, string> {
  const links: Record<string, string> = {}
  model.claims.forEach((claim, ordinal) => {
    if (!claim.isInForce) return
    links[`${claim.sourceNetwork}:${claim.depositCount}`] = `${ordinal} ${hex(claim.transactionHash)}`
  })
  return links
}

function expectedLists(model: ShardModel): Record<string, number[]> {
  const lists: Record<string, number[]> = {}
  const add = (kind: string, key: string, ordinal: number) => {
    const list = lists[`${kind}:${key}`] ?? []
    lists[`${kind}:${key}`] = list
    if (list.at(-1) !== ordinal) list.push(ordinal)
  }
  const network = (id: number) => id.toString(16).padStart(8, '0')
  model.deposits.forEach(({ leaf, transactionHash, sender, isForwardLeaf }, ordinal) => {
    add('depositsByDestinationNetwork', network(leaf.destinationNetwork), ordinal)
    add('depositsByDestinationAddress', hex(leaf.destinationAddress), ordinal)
    add('depositsByTransaction', hex(transactionHash.subarray(0, 8)), ordinal)
    if (leaf.leafType !== 0) add('depositsByLeafType', Buffer.of(leaf.leafType).toString('hex'), ordinal)
    add('depositsBySender', hex(sender!.caller), ordinal)
    add('depositsBySender', hex(sender!.transactionSender), ordinal)
    // The listed row is the stored row.
    if (isForwardLeaf && leaf.leafType === 1) add('depositsBySender', hex(leaf.originAddress), ordinal)
  })
  model.archived.forEach(({ leafHash }, ordinal) => {
    add('archivedByLeafHash', hex(leafHash), ordinal)
  })
  model.claims.forEach(({ sourceNetwork, transactionHash, destinationAddress, sender }, ordinal) => {
    add('claimsBySourceNetwork', network(sourceNetwork), ordinal)
    add('claimsByTransaction', hex(transactionHash.subarray(0, 8)), ordinal)
    if (destinationAddress) add('claimsByDestinationAddress', hex(destinationAddress), ordinal)
    else add('claimsSetByAdministrator', '', ordinal)
    if (sender) add('claimsBySender', hex(sender.caller), ordinal)
    if (sender) add('claimsBySender', hex(sender.transactionSender), ordinal)
  })
  model.mappings.forEach(({ origin, wrapped }, ordinal) => {
    const [originNetwork, address] = origin.split(':')
    add('mappingsByOriginToken', network(Number(originNetwork)) + address, ordinal)
    add('mappingsByWrappedToken', wrapped, ordinal)
  })
  return lists
}
