import type { BridgeStage, BridgeStatus, TypicalTime } from '../client/bridgeClient.js'
import { duration } from './spelling.js'
import type { NameOf, StageName } from './words.js'

/** When a bridge that waits can be claimed, by how long others took. One answer: the head of a bridge and its stages tell the same. */

export interface Forecast {
  /** Seconds until each stage that is left is usually reached, where that can be told. 0: it is usually reached by now. */
  readonly leftSec: ReadonlyMap<StageName, number>
  /** Seconds from the deposit until the claim is possible, by medians; undefined where a stage between has none. */
  readonly wholeSec: number | undefined
  /** The stage that has taken longer than nine of ten, if one has: nobody can tell what comes after it. */
  readonly late: { readonly soFarSec: number; readonly typical: TypicalTime } | undefined
}

/** Stages whose times are not kept, since they come with another one, as a rule: both are in one transaction, or the one is all that the other waits for. */
const SAME_TIME: { readonly [S in StageName]?: StageName } = {
  in_l1_info_tree: 'settled',
  claimable: 'injected',
}

export function forecast({ stages }: Pick<BridgeStatus, 'stages'>, nowSec: number): Forecast {
  /** When each stage was reached, or usually is. */
  const reachedSec = new Map<StageName, number>()
  const usualSec = new Map<StageName, number>([['bridged', 0]])
  const leftSec = new Map<StageName, number>()
  let late: Forecast['late']
  for (const { stage, state, typical, blockTimestamp } of stages) {
    if (stage === 'claimed') break
    const since = typical?.since ?? SAME_TIME[stage]
    if (since !== undefined) {
      const usual = usualSec.get(since)
      if (usual !== undefined) usualSec.set(stage, usual + (typical?.medianSeconds ?? 0))
    }
    if (state === 'done') {
      if (blockTimestamp !== undefined) reachedSec.set(stage, blockTimestamp)
      continue
    }
    const begunSec = since === undefined ? undefined : reachedSec.get(since)
    if (state !== 'waiting' || begunSec === undefined) continue
    if (typical === undefined) {
      const left = leftSec.get(since!)
      if (left === undefined) continue
      leftSec.set(stage, left)
      reachedSec.set(stage, begunSec)
      continue
    }
    const soFarSec = nowSec - begunSec
    if (soFarSec > typical.p90Seconds) {
      late ??= { soFarSec, typical }
      continue
    }
    const left = Math.max(0, typical.medianSeconds - soFarSec)
    leftSec.set(stage, left)
    reachedSec.set(stage, nowSec + left)
  }
  return { leftSec, wholeSec: usualSec.get('claimable'), late }
}

/** Of which nobody knows how long they take, or which the sentence before says all of. */
const WITHOUT_TIME = ['claim', 'sync', 'recovery', 'emergency_end']

function hasTime({ waitsFor, claimTxHash }: BridgeStatus): boolean {
  return claimTxHash === null && waitsFor !== null && !WITHOUT_TIME.includes(waitsFor.event)
}

/** When it can be claimed, in a sentence; undefined where it can be already, never will be, or nobody can tell. */
export function claimTime(status: BridgeStatus, nowSec: number, nameOf: NameOf): string | undefined {
  const { currentStage, destinationNetwork } = status
  if (!hasTime(status)) return undefined
  if (currentStage === 'claimable') return 'After that it is ready to claim.'
  const { leftSec, wholeSec, late } = forecast(status, nowSec)
  if (late !== undefined)
    return `This step takes longer than usual: ${duration(late.soFarSec)} so far, while nine of ten bridges took no more than ${duration(late.typical.p90Seconds)}.`
  const usual = wholeSec === undefined ? '' : ` (usually ${duration(wholeSec)} in all)`
  const left = leftSec.get('claimable')
  if (left !== undefined) return `Ready to claim ${inAbout(left)}${usual}.`
  const recorded = leftSec.get('in_l1_info_tree')
  if (recorded !== undefined && destinationNetwork === 0)
    return `Ready to claim ${inAbout(recorded)}, plus the time until its block on ${nameOf(0)} is final.`
  return wholeSec === undefined
    ? undefined
    : `Usually ready to claim ${duration(wholeSec)} after it was sent.`
}

/** Why nobody is told when it can be claimed; undefined where there is nothing to tell. */
export function whyNoTime(status: BridgeStatus, nowSec: number, nameOf: NameOf): string | undefined {
  return hasTime(status) && claimTime(status, nowSec, nameOf) === undefined
    ? 'How long until it is ready to claim cannot be told: too few bridges have gone this way.'
    : undefined
}

/** When a stage is reached that is not, for its place in the timeline; undefined where nobody can tell. */
export function stageTime(
  { stage }: Pick<BridgeStage, 'stage'>,
  isCurrent: boolean,
  { leftSec, late }: Forecast,
): string | undefined {
  const left = leftSec.get(stage)
  if (left !== undefined) return inAbout(left)
  if (!isCurrent || stage === 'claimed') return undefined
  return late === undefined ? 'now' : 'longer than usual'
}

/** To the minute: more would promise more than medians tell. */
function inAbout(seconds: number): string {
  if (seconds === 0) return 'any minute now'
  return seconds < 60 ? 'in less than a minute' : `in about ${duration(60 * Math.round(seconds / 60))}`
}
