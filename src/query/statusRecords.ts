import type { RecordDefinition, RecordOf } from './recordFields.js'
import { bridgeDefinition, tokenMappingDefinition } from './records.js'

/** What is answered to whoever asks where something is: the way of one bridge, and what a search finds. */

/** Fewer bridges than that say little. */
export const MIN_TYPICAL_SAMPLE = 20

/** Most bridges of a transaction that are shown. */
export const MAX_STATUSES = 100
export const MAX_SEARCH_RESULTS = 100

/** The way of one bridge from the deposit to the claim, in the order of its stages. */
export const bridgeStages = [
  'bridged',
  'final',
  'settled',
  'in_l1_info_tree',
  'injected',
  'claimable',
  'claimed',
] as const

export type BridgeStage = (typeof bridgeStages)[number]

const stageStates = ['done', 'waiting', 'removed', 'unset', 'blocked', 'unknown'] as const

export type StageState = (typeof stageStates)[number]

const awaitedEvents = [
  'finality',
  'settlement',
  'global_exit_root',
  'injection',
  'claim',
  'sync',
  'recovery',
  'emergency_end',
] as const

export type AwaitedEvent = (typeof awaitedEvents)[number]

const typicalTimeDefinition = {
  title: 'TypicalTime',
  description:
    'How long the stage took for the newest 1,000 bridges of this source and destination that have come so far; absent where fewer than 20 tell it.',
  fields: {
    since: {
      wire: 'since',
      kind: 'text',
      words: bridgeStages,
      description: 'The stage from whose end the time counts.',
    },
    medianSec: { wire: 'median_seconds', kind: 'count', description: 'Half of them took no longer.' },
    p90Sec: { wire: 'p90_seconds', kind: 'count', description: 'Nine of ten took no longer.' },
    sampleSize: {
      wire: 'sample_size',
      kind: 'count',
      minimum: MIN_TYPICAL_SAMPLE,
      description: 'Bridges that tell it.',
    },
  },
} as const satisfies RecordDefinition

export type TypicalTime = RecordOf<typeof typicalTimeDefinition>

const bridgeStageDefinition = {
  title: 'BridgeStage',
  description:
    'One stage of the way. Block, time and transaction are absent where there is none or none is stored.',
  fields: {
    stage: {
      wire: 'stage',
      kind: 'text',
      words: bridgeStages,
      description:
        'Its name. `settled` is only there for bridges from an L2, `injected` only for those to one.',
    },
    state: {
      wire: 'state',
      kind: 'text',
      words: stageStates,
      description:
        '`done`, `waiting`; `removed`: was injected and taken out again; `unset`: the claim was taken back; `blocked`: a claim of an older deposit with this count stands in the way for good; `unknown`: the destination is not indexed here.',
    },
    networkId: { wire: 'network_id', kind: 'networkId', description: 'Network on which it happens.' },
    blockNumber: {
      wire: 'block_number',
      kind: 'blockNumber',
      isOptional: true,
      description: 'Block in which it happened, on that network.',
    },
    timestampSec: {
      wire: 'block_timestamp',
      kind: 'unixSeconds',
      isOptional: true,
      description:
        'Unix seconds of that block. Absent for injections of which no event tells, once their block is no longer stored.',
    },
    transactionHash: {
      wire: 'tx_hash',
      kind: 'hash',
      isOptional: true,
      description:
        'Transaction in which it happened. Absent for injections of which no event tells, and for leaves, settlements and injections that an older build has stored.',
    },
    l1InfoTreeIndex: {
      wire: 'l1_info_tree_index',
      kind: 'l1InfoTreeIndex',
      isOptional: true,
      description: 'Leaf of the L1 info tree: the first that covers the deposit, the one that is injected.',
    },
    globalExitRoot: {
      wire: 'global_exit_root',
      kind: 'hash',
      isOptional: true,
      description: 'Global exit root of that leaf.',
    },
    typical: { wire: 'typical', record: typicalTimeDefinition, isOptional: true },
  },
} as const satisfies RecordDefinition

export type BridgeStageRecord = RecordOf<typeof bridgeStageDefinition>

const awaitedDefinition = {
  title: 'AwaitedEvent',
  description: 'What has to happen for the bridge to go on.',
  fields: {
    event: {
      wire: 'event',
      kind: 'text',
      words: awaitedEvents,
      description:
        '`finality` of `block_number`; `settlement` of the source on the L1; `global_exit_root`: an update of it on the L1; `injection`; `claim`; `sync`: this service compares the network with its chain; `recovery` of a halted network; `emergency_end` of the bridge.',
    },
    networkId: { wire: 'network_id', kind: 'networkId', description: 'Network on which it has to happen.' },
    blockNumber: {
      wire: 'block_number',
      kind: 'blockNumber',
      isOptional: true,
      description: 'Block that has to become final.',
    },
  },
} as const satisfies RecordDefinition

export type AwaitedRecord = RecordOf<typeof awaitedDefinition>

/** What a status says of the bridge itself, as `/bridges` says it. */
export const bridgeFieldsOfStatus = [
  'transactionHash',
  'depositCount',
  'sourceNetwork',
  'destinationNetwork',
  'globalIndex',
  'readyForClaim',
  'claimTransactionHash',
  'l1InfoTreeIndex',
  'claimMatches',
] as const

/** The named fields, in the order of their names. */
export function pick<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>
}

const bridgeStatusDefinition = {
  title: 'BridgeStatus',
  description: 'Where one bridge is on its way. Fields that `/bridges` has as well say the same.',
  fields: {
    ...pick(bridgeDefinition.fields, bridgeFieldsOfStatus),
    currentStage: {
      wire: 'current_stage',
      kind: 'text',
      words: bridgeStages,
      description: 'The stage that it has to reach next; `claimed` also once nothing is left to reach.',
    },
    waitsFor: { wire: 'waits_for', record: awaitedDefinition, isNullable: true },
    stages: { wire: 'stages', record: bridgeStageDefinition, isList: true },
  },
} as const satisfies RecordDefinition

export type BridgeStatusRecord = RecordOf<typeof bridgeStatusDefinition>

export const bridgeStatusResponseDefinition = {
  title: 'BridgeStatusResponse',
  description: 'The way of one bridge, or of each bridge of a transaction.',
  fields: {
    statuses: { wire: 'statuses', record: bridgeStatusDefinition, isList: true },
    total: {
      wire: 'total',
      kind: 'count',
      description: `Bridges that were asked for; the first ${MAX_STATUSES} of a transaction are shown.`,
    },
  },
} as const satisfies RecordDefinition

export type BridgeStatusAnswer = RecordOf<typeof bridgeStatusResponseDefinition>

/** What a search may find. */
const searchTypes = ['bridge', 'archived_bridge', 'claim', 'address', 'token'] as const

const count = (wire: string, description: string) =>
  ({ wire, kind: 'count', isOptional: true, description }) as const

const searchResultDefinition = {
  title: 'SearchResult',
  description: 'One thing that the text names, and where it is. Which fields it has depends on its type.',
  fields: {
    type: {
      wire: 'type',
      kind: 'text',
      words: searchTypes,
      description:
        '`archived_bridge`: a deposit that a cut took off the exit tree, so that no list has it any more.',
    },
    networkId: {
      wire: 'network_id',
      kind: 'networkId',
      description: 'Network on which it is: `network_id` of the endpoint that tells more of it.',
    },
    sourceNetwork: {
      wire: 'origin_network',
      kind: 'networkId',
      isOptional: true,
      description: 'Of bridges and claims: source network of the deposit.',
    },
    depositCount: { ...bridgeDefinition.fields.depositCount, isOptional: true },
    transactionHash: {
      wire: 'tx_hash',
      kind: 'hash',
      isOptional: true,
      description: 'Transaction of the bridge or of the claim.',
    },
    address: {
      wire: 'address',
      kind: 'address',
      isOptional: true,
      description: 'The address, EIP-55; of a token the wrapped one on `network_id`.',
    },
    bridgesSent: count(
      'bridges_sent',
      'Bridges from this address: `total` of `/bridges` with `from_address`.',
    ),
    bridgesReceived: count('bridges_received', 'Bridges to it: the same with `to_address`.'),
    claimsMade: count('claims_made', 'Claims by it: `total` of `/claims` with `from_address`.'),
    claimsReceived: count('claims_received', 'Claims to it: the same with `to_address`.'),
    tokenNetwork: {
      ...bridgeDefinition.fields.tokenNetwork,
      description: 'Home network of the token.',
      isOptional: true,
    },
    tokenAddress: {
      ...bridgeDefinition.fields.tokenAddress,
      description: 'Token on its home network.',
      isOptional: true,
    },
    name: { ...tokenMappingDefinition.fields.name, isOptional: true },
    symbol: { ...tokenMappingDefinition.fields.symbol, isOptional: true },
    decimals: { ...tokenMappingDefinition.fields.decimals, isOptional: true },
    isCurrent: { ...tokenMappingDefinition.fields.isCurrent, isOptional: true },
  },
} as const satisfies RecordDefinition

export type SearchResult = RecordOf<typeof searchResultDefinition>

export const searchResponseDefinition = {
  title: 'SearchResponse',
  description: 'All that the text names; nothing for what is not indexed here.',
  fields: {
    results: { wire: 'results', record: searchResultDefinition, isList: true },
    isComplete: {
      wire: 'is_complete',
      kind: 'boolean',
      description: `False where there are more than ${MAX_SEARCH_RESULTS} results: \`/bridges\`, \`/claims\` and \`/token-mappings\` have all.`,
    },
  },
} as const satisfies RecordDefinition

export type SearchAnswer = RecordOf<typeof searchResponseDefinition>
