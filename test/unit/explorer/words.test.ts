import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BridgeStatus, NetworkSync } from '../../../src/client/bridgeClient.js'
import {
  bridgeState,
  networkWords,
  nowSentence,
  numberMeaning,
  stageTitle,
  tellsReady,
} from '../../../src/explorer/words.js'
import { bridgeStages } from '../../../src/query/statusRecords.js'

const nameOf = (networkId: number): string => `Network ${networkId}`

const status: BridgeStatus = {
  txHash: `0x${'11'.repeat(32)}`,
  depositCount: 7,
  originNetwork: 1,
  destinationNetwork: 2,
  globalIndex: 7n,
  readyForClaim: false,
  claimTxHash: null,
  l1InfoTreeIndex: null,
  currentStage: 'injected',
  waitsFor: { event: 'injection', networkId: 2 },
  stages: [],
}

test('a waiting bridge says what it waits for', () => {
  assert.equal(nowSentence(status, nameOf), 'Waiting for Network 2 to learn of it from Network 0.')
})

test('what is claimed, blocked or out of sight says so, whatever it waits for', () => {
  assert.match(nowSentence({ ...status, claimTxHash: '0x12' }, nameOf), /^Done: it was claimed on Network 2/)
  assert.match(nowSentence({ ...status, claimMatches: false }, nameOf), /^It can never be claimed/)
  assert.match(nowSentence({ ...status, waitsFor: null }, nameOf), /^This service does not read Network 2/)
})

test('a row is blocked before it is claimed, and claimed before it is ready', () => {
  assert.equal(bridgeState({ readyForClaim: false, claimTxHash: '0x12', claimMatches: false }), 'blocked')
  assert.equal(bridgeState({ readyForClaim: false, claimTxHash: '0x12' }), 'claimed')
  assert.equal(bridgeState({ readyForClaim: true, claimTxHash: null }), 'ready')
  assert.equal(bridgeState({ readyForClaim: false, claimTxHash: null }), 'waiting')
})

const sync: NetworkSync = {
  networkId: 1,
  currentBlock: 10,
  syncedBlock: 10,
  isSynced: true,
  finalizedBlock: 8,
  lagSeconds: 0,
  headAgeSeconds: 1,
  halted: null,
  contractDepositCount: 3,
  contractsCompared: true,
  indexedDepositCount: 3,
  indexedClaimCount: 1,
  unresolvedSenders: 0,
  endpoints: [],
}

test('a network that is well needs no meaning; every other state has one, the worst is told first', () => {
  assert.deepEqual(networkWords(sync, 'X'), { tone: 'good', word: 'Up to date' })
  const worst = [
    networkWords({ ...sync, halted: 'missing_log', isSynced: false, reasons: ['halted', 'lag'] }, 'X'),
    networkWords({ ...sync, halted: 'disk_full', isSynced: false, reasons: ['emergency_state'] }, 'X'),
    networkWords({ ...sync, isSynced: false, reasons: ['emergency_state', 'rpc'] }, 'X'),
    networkWords({ ...sync, isSynced: false, reasons: ['rpc', 'behind'] }, 'X'),
    networkWords({ ...sync, isSynced: false, reasons: ['behind'] }, 'X'),
    networkWords({ ...sync, reasons: ['stalled'] }, 'X'),
    networkWords({ ...sync, isSynced: false }, 'X'),
    networkWords({ ...sync, contractsCompared: false }, 'X'),
  ]
  assert.deepEqual(
    worst.map(({ word }) => word),
    [
      'Disputed',
      'Stopped',
      'Bridge paused',
      'No contact',
      'Node behind',
      'Chain stands still',
      'Catching up',
      'Up to date, unchecked',
    ],
  )
  for (const { meaning } of worst) assert.ok((meaning?.length ?? 0) > 40)
})

test('what is ready on a network is counted only where its state lets it be claimed', () => {
  assert.equal(tellsReady(sync), true)
  assert.equal(tellsReady({ ...sync, reasons: ['stalled'] }), true)
  assert.equal(tellsReady({ ...sync, isSynced: false }), false)
  assert.equal(tellsReady({ ...sync, isSynced: false, halted: 'exit_root_mismatch' }), false)
  assert.equal(tellsReady({ ...sync, reasons: ['emergency_state'] }), false)
})

test('the number of a bridge says its network, and the name of that where it has another', () => {
  const named = (networkId: number): string => (networkId === 0 ? 'Layer 1' : nameOf(networkId))
  assert.equal(numberMeaning(1, 25, named), 'number 25 from network 1')
  assert.equal(numberMeaning(0, 1_025, named), 'number 1,025 from network 0 (Layer 1)')
})

test('every stage of the API has a title', () => {
  for (const stage of bridgeStages)
    for (const state of ['done', 'waiting', 'removed', 'unset', 'blocked', 'unknown'] as const)
      assert.match(stageTitle({ stage, networkId: 1, state }, nameOf), /^[A-Z][a-zA-Z0-9 ]+$/)
})

test('the words of a stage tell whether it is done', () => {
  for (const stage of bridgeStages.filter((stage) => stage !== 'bridged')) {
    const titles = (['done', 'waiting'] as const).map((state) =>
      stageTitle({ stage, networkId: 1, state }, nameOf),
    )
    assert.notEqual(titles[0], titles[1], stage)
    assert.doesNotMatch(titles[0]!, /^To /)
    assert.match(titles[1]!, /^To /)
  }
})
