import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BridgeStage, BridgeStatus } from '../../../src/client/bridgeClient.js'
import { claimTime, forecast, stageTime, whyNoTime } from '../../../src/explorer/claimTime.js'

const nameOf = (networkId: number): string => (networkId === 0 ? 'Layer 1' : `Network ${networkId}`)

const SENT = 1_000
const MIN = 60

/** From network 1 to network 2: usually settled 15 minutes after it was sent, and known 12 minutes after that; nine of ten within 20 each. */
const stages: readonly BridgeStage[] = [
  { stage: 'bridged', state: 'done', networkId: 1, blockTimestamp: SENT },
  { stage: 'final', state: 'done', networkId: 1 },
  {
    stage: 'settled',
    state: 'waiting',
    networkId: 0,
    typical: { since: 'bridged', medianSeconds: 15 * MIN, p90Seconds: 20 * MIN, sampleSize: 40 },
  },
  { stage: 'in_l1_info_tree', state: 'waiting', networkId: 0 },
  {
    stage: 'injected',
    state: 'waiting',
    networkId: 2,
    typical: { since: 'in_l1_info_tree', medianSeconds: 12 * MIN, p90Seconds: 20 * MIN, sampleSize: 40 },
  },
  { stage: 'claimable', state: 'waiting', networkId: 2 },
  { stage: 'claimed', state: 'waiting', networkId: 2 },
]

const settling: BridgeStatus = {
  txHash: `0x${'11'.repeat(32)}`,
  depositCount: 7,
  originNetwork: 1,
  destinationNetwork: 2,
  globalIndex: 7n,
  readyForClaim: false,
  claimTxHash: null,
  l1InfoTreeIndex: null,
  currentStage: 'settled',
  waitsFor: { event: 'settlement', networkId: 0 },
  stages: [...stages],
}

/** Settled `afterMin` minutes after it was sent. */
function injecting(afterMin: number): BridgeStatus {
  const at = { state: 'done', blockTimestamp: SENT + afterMin * MIN } as const
  return {
    ...settling,
    currentStage: 'injected',
    waitsFor: { event: 'injection', networkId: 2 },
    stages: stages.map((stage, position) => (position === 2 || position === 3 ? { ...stage, ...at } : stage)),
  }
}

/** The status as it would be without these stages' usual times. */
function withoutTimes(status: BridgeStatus): BridgeStatus {
  return { ...status, stages: status.stages.map(({ typical: _, ...stage }) => stage) }
}

const whenOf = (status: BridgeStatus, minutes: number): string | undefined =>
  claimTime(status, SENT + minutes * MIN, nameOf)

test('a waiting bridge has one answer to when it can be claimed: how much longer, of how much in all', () => {
  assert.equal(whenOf(settling, 5), 'Ready to claim in about 22 min (usually 27 min in all).')
  assert.equal(whenOf(injecting(10), 15), 'Ready to claim in about 7 min (usually 27 min in all).')
  assert.equal(whenOf(injecting(10), 21.5), 'Ready to claim in less than a minute (usually 27 min in all).')
})

test('a step that takes longer than half of them did, but not than nine of ten, may end any minute', () => {
  assert.equal(whenOf(injecting(10), 25), 'Ready to claim any minute now (usually 27 min in all).')
  assert.equal(whenOf(settling, 18), 'Ready to claim in about 12 min (usually 27 min in all).')
})

test('a step that takes longer than nine of ten did promises nothing', () => {
  assert.equal(
    whenOf(injecting(10), 31),
    'This step takes longer than usual: 21 min so far, while nine of ten bridges took no more than 20 min.',
  )
})

test('without a history nobody is told a time, but why', () => {
  const unknown = withoutTimes(settling)
  assert.equal(whenOf(unknown, 7), undefined)
  assert.match(whyNoTime(unknown, SENT, nameOf)!, /cannot be told: too few bridges have gone this way/)
  assert.equal(whyNoTime(settling, SENT, nameOf), undefined)
})

test('to layer 1 the time until the block there is final is named, as nobody has kept it', () => {
  const toL1: BridgeStatus = {
    ...settling,
    destinationNetwork: 0,
    stages: settling.stages.filter(({ stage }) => stage !== 'injected'),
  }
  assert.equal(
    whenOf(toL1, 5),
    'Ready to claim in about 10 min, plus the time until its block on Layer 1 is final.',
  )
  const recorded: BridgeStatus = {
    ...toL1,
    currentStage: 'claimable',
    waitsFor: { event: 'finality', networkId: 0, blockNumber: 99 },
  }
  assert.equal(whenOf(recorded, 20), 'After that it is ready to claim.')
})

test('what can be claimed, was, never will be, or waits for an operator has no time', () => {
  assert.equal(whenOf({ ...settling, waitsFor: { event: 'claim', networkId: 2 } }, 5), undefined)
  assert.equal(whenOf({ ...settling, waitsFor: { event: 'recovery', networkId: 2 } }, 5), undefined)
  assert.equal(whenOf({ ...settling, waitsFor: null }, 5), undefined)
  assert.equal(whenOf({ ...settling, claimTxHash: '0x12' }, 5), undefined)
  assert.equal(whyNoTime({ ...settling, claimTxHash: '0x12' }, SENT, nameOf), undefined)
})

test('the stages say the same as the answer above them', () => {
  const timesAt = (status: BridgeStatus, minutes: number): (string | undefined)[] => {
    const times = forecast(status, SENT + minutes * MIN)
    return status.stages
      .filter(({ state }) => state !== 'done')
      .map((stage) => stageTime(stage, stage.stage === status.currentStage, times))
  }
  const [ten, twenty] = ['in about 10 min', 'in about 22 min']
  assert.deepEqual(timesAt(settling, 5), [ten, ten, twenty, twenty, undefined])
  assert.deepEqual(timesAt(injecting(10), 31), ['longer than usual', undefined, undefined])
  assert.deepEqual(timesAt(withoutTimes(injecting(10)), 31), ['now', undefined, undefined])
  const ready: BridgeStatus = { ...injecting(10), currentStage: 'claimed' }
  assert.deepEqual(timesAt(withoutTimes(ready), 31), [undefined, undefined, undefined], 'a claim has no time')
})
