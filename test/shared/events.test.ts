import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { toEventSelector } from 'viem/utils'
import { eventTopics } from '../../src/events/eventTopics.js'
import { sharedPath } from '../support/sharedFolder.js'

interface EventFact {
  readonly canonical: string
  readonly topic0: string
}

/** Events of the contracts that change nothing that the service stores. */
const withoutEffect = [
  // Second logs of something that another event reports: a claim, a settlement, a new chain.
  'DetailedClaimEvent',
  'DetailedClaimEvent',
  'UpdatedClaimedGlobalIndexHashChain',
  'VerifyPessimisticStateTransition',
  'CreateNewAggchain',
  // Before etrog: without an exit root.
  'VerifyBatches',
  'VerifyBatchesTrustedAggregator',
  // Token balances and batches.
  'SetInitialLocalBalanceTreeAmount',
  'SetLocalBalanceTree',
  'OnSequenceBatches',
  'RollbackBatches',
  // Local exit roots injected without a global exit root: the service gives no proofs under them.
  'UpdateLERHashChainValue',
  'UpdateRemovalLERHashChainValue',
  // Votes of another contract. The manager's own event is the injection.
  'ProposedGlobalExitRoot',
  'ConsolidatedGlobalExitRoot',
  // Roles, types, versions.
  'AcceptProxiedTokensManagerRole',
  'TransferProxiedTokensManagerRole',
  'UpdateProxiedTokensManager',
  'SetBridgeManager',
  'AcceptEmergencyBridgePauserRole',
  'TransferEmergencyBridgePauserRole',
  'AcceptEmergencyBridgeUnpauserRole',
  'TransferEmergencyBridgeUnpauserRole',
  'AddNewRollupType',
  'AddNewRollupType',
  'ObsoleteRollupType',
  'UpdateRollup',
  'InitMigration',
  'CompletedMigration',
  'UpdateRollupManagerVersion',
  'SetTrustedAggregator',
  'SetGlobalExitRootUpdater',
  'SetGlobalExitRootRemover',
  'AcceptGlobalExitRootUpdater',
  'AcceptGlobalExitRootRemover',
  'TransferGlobalExitRootUpdater',
  'TransferGlobalExitRootRemover',
]

test('every event of every contract generation is decoded, or is on the list of events without effect', () => {
  const facts = JSON.parse(readFileSync(sharedPath('spec', 'events.json'), 'utf8')) as EventFact[]
  const ours = new Set<string>(Object.values(eventTopics))
  const others = facts.filter(({ topic0 }) => !ours.has(topic0))
  const names = others.map(({ canonical }) => canonical.slice(0, canonical.indexOf('(')))
  assert.deepEqual(names.sort(), [...withoutEffect].sort())
  assert.equal(facts.length, ours.size + withoutEffect.length)
  for (const { canonical, topic0 } of facts) assert.equal(toEventSelector(canonical), topic0, canonical)
})
