import type { AwaitedEvent, BridgeStage, BridgeStatus, NetworkSync } from '../client/bridgeClient.js'
import { grouped } from './spelling.js'

/** What is told in words. Plain ones: the protocol's own stand under "Details". */

export type Tone = 'good' | 'busy' | 'ready' | 'bad' | 'quiet'

export interface StateWords {
  readonly tone: Tone
  readonly word: string
}

/** The state of a row of bridges. */
export type BridgeState = 'waiting' | 'ready' | 'claimed' | 'blocked'

export const bridgeStates: { readonly [S in BridgeState]: StateWords } = {
  waiting: { tone: 'busy', word: 'Waiting' },
  ready: { tone: 'ready', word: 'Ready to claim' },
  claimed: { tone: 'good', word: 'Claimed' },
  blocked: { tone: 'bad', word: 'Blocked' },
}

/** Of a row that its network has taken back, by a reorg or a cut of its exit tree. */
export const takenBack: StateWords = { tone: 'quiet', word: 'Taken back' }

export function bridgeState(bridge: {
  readonly readyForClaim: boolean
  readonly claimTxHash: string | null
  readonly claimMatches?: false
}): BridgeState {
  if (bridge.claimMatches === false) return 'blocked'
  if (bridge.claimTxHash !== null) return 'claimed'
  return bridge.readyForClaim ? 'ready' : 'waiting'
}

export interface NetworkWords extends StateWords {
  /** What it means for a user; undefined where all is well. */
  readonly meaning?: string
}

/** Halts by which what was read of a network and what its contracts say are two things. */
const DISPUTES = [
  'deposit_count_gap',
  'exit_root_mismatch',
  'l1_info_root_mismatch',
  'missing_log',
  'rollup_exit_root_mismatch',
]

/** The state of a network, the worst first. */
export function networkWords(sync: NetworkSync, name: string): NetworkWords {
  const reasons = sync.reasons ?? []
  const why = sync.halted?.replaceAll('_', ' ')
  if (sync.halted !== null && DISPUTES.includes(sync.halted))
    return {
      tone: 'bad',
      word: 'Disputed',
      meaning: `What was read of ${name} disagrees with its contracts (${why}). Nothing more is read, its bridges get no proofs, and none of them counts as ready, until both agree again. Lists show what was stored before.`,
    }
  if (sync.halted !== null)
    return {
      tone: 'bad',
      word: 'Stopped',
      meaning: `Reading ${name} has stopped (${why}). Lists show what was stored before; what is ready, and proofs, may be held back until an operator has looked.`,
    }
  if (reasons.includes('emergency_state'))
    return {
      tone: 'bad',
      word: 'Bridge paused',
      meaning: `The bridge contract of ${name} is in its emergency state. Nothing can be claimed there until that ends.`,
    }
  if (reasons.includes('rpc'))
    return {
      tone: 'bad',
      word: 'No contact',
      meaning: `No node of ${name} answers. What is shown was true when one last did; a bridge to it may have been claimed since.`,
    }
  if (reasons.includes('cluster'))
    return {
      tone: 'busy',
      word: 'Cut off',
      meaning: `This server has lost touch with the others that read ${name}. What is shown may be older than what they show.`,
    }
  if (reasons.includes('behind'))
    return {
      tone: 'busy',
      word: 'Node behind',
      meaning: `The nodes of ${name} show an older block than was seen before. Nothing to it counts as ready until they are back.`,
    }
  if (reasons.includes('stalled'))
    return {
      tone: 'busy',
      word: 'Chain stands still',
      meaning: `${name} has made no block for a while. What is shown is complete; nothing new can happen there until it goes on.`,
    }
  if (!sync.isSynced)
    return {
      tone: 'busy',
      word: 'Catching up',
      meaning: `${name} is still being read. Its lists are not complete yet, and nothing to it counts as ready.`,
    }
  if (sync.contractsCompared === false)
    return {
      tone: 'quiet',
      word: 'Up to date, unchecked',
      meaning: `What is stored of ${name} could not be compared with its contracts the last time. It may well be right.`,
    }
  return { tone: 'good', word: 'Up to date' }
}

/** Whether a number of bridges that are ready on a network says something, or its state is that none counts as ready, or none can be claimed. */
export function tellsReady(sync: NetworkSync): boolean {
  return sync.isSynced && networkWords(sync, '').tone !== 'bad'
}

/** The number of a bridge in words: `number 25 from network 0 (Layer 1)` is what 0:25 means. */
export function numberMeaning(networkId: number, depositCount: number, nameOf: NameOf): string {
  const name = nameOf(networkId)
  const from = name === `Network ${networkId}` ? `network ${networkId}` : `network ${networkId} (${name})`
  return `number ${grouped(depositCount)} from ${from}`
}

export type StageName = BridgeStage['stage']
export type NameOf = (networkId: number) => string

/** A stage once it is done, and while it is not: the words alone tell which. */
export function stageTitle(
  { stage, networkId, state }: Pick<BridgeStage, 'stage' | 'networkId' | 'state'>,
  nameOf: NameOf,
): string {
  const name = nameOf(networkId)
  if (state === 'removed') return `No longer known on ${name}`
  if (state === 'unset') return `Claim on ${name} taken back`
  if (state === 'blocked') return 'Blocked by an older claim'
  const isDone = state === 'done'
  switch (stage) {
    case 'bridged':
      return `Sent on ${name}`
    case 'final':
      return isDone ? `Final on ${name}` : `To become final on ${name}`
    case 'settled':
      return isDone ? `Settled on ${name}` : `To settle on ${name}`
    case 'in_l1_info_tree':
      return isDone ? `Recorded on ${name}` : `To be recorded on ${name}`
    case 'injected':
      return isDone ? `Known on ${name}` : `To become known on ${name}`
    case 'claimable':
      return isDone ? 'Ready to claim' : 'To become ready to claim'
    case 'claimed':
      return isDone ? `Claimed on ${name}` : `To be claimed on ${name}`
  }
}

/** What the stage is for: the sentence under "Details". */
export const stageMeanings: { readonly [S in StageName]: string } = {
  bridged: 'The deposit is in a block of the network that it left.',
  final: 'Its block can no longer be replaced.',
  settled:
    'The network that it left has proven its state on layer 1 (a local exit root that covers the deposit is settled).',
  in_l1_info_tree: 'Layer 1 has recorded a root that covers the deposit (a leaf of the L1 info tree).',
  injected: 'The destination accepts that root (the global exit root is injected).',
  claimable: 'A proof exists that the destination accepts, and nobody has claimed.',
  claimed: 'The claim is in a block of the destination.',
}

/** What happens now, in one sentence. */
export function nowSentence(status: BridgeStatus, nameOf: NameOf): string {
  if (status.claimMatches === false)
    return 'It can never be claimed: an older deposit that had its number was claimed, and the contract remembers claims by number.'
  if (status.claimTxHash !== null) return `Done: it was claimed on ${nameOf(status.destinationNetwork)}.`
  const { waitsFor } = status
  if (waitsFor === null)
    return `This service does not read ${nameOf(status.destinationNetwork)}, so it cannot tell what happens there.`
  return awaitedSentence(waitsFor, status, nameOf)
}

function awaitedSentence(
  { event, networkId, blockNumber }: AwaitedEvent,
  status: BridgeStatus,
  nameOf: NameOf,
): string {
  const name = nameOf(networkId)
  switch (event) {
    case 'finality':
      return blockNumber === undefined
        ? `Waiting for ${name} to make its block final.`
        : `Waiting for block ${grouped(blockNumber)} on ${name} to become final.`
    case 'settlement':
      return `Waiting for ${nameOf(status.originNetwork)} to prove it to ${name} (to settle).`
    case 'global_exit_root':
      return `Waiting for ${name} to record it. The next deposit or settlement there does.`
    case 'injection':
      return `Waiting for ${name} to learn of it from ${nameOf(0)}.`
    case 'claim':
      return `It can be claimed on ${name} now.`
    case 'sync':
      return `This service still compares ${name} with its chain. After that it knows whether it can be claimed.`
    case 'recovery':
      return `Reading ${name} has stopped, so this is how it stood before.`
    case 'emergency_end':
      return `The bridge of ${name} is paused. It can be claimed after that.`
  }
}
