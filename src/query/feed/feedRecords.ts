import { LISTED_METADATA_BYTES } from '../../protocol/metadata.js'
import type { Field, RecordDefinition, RecordOf } from '../recordFields.js'
import { bridgeDefinition, claimDefinition, tokenMappingDefinition } from '../records.js'

/*
 * Events of the feed, each defined once, in the order of the wire. What a list shows of the same thing has the same name here; what is not
 * known when an event is written, such as readiness, has no field.
 */

/** What every event begins with. */
const eventOf = <Type extends string>(type: Type) =>
  ({
    id: { wire: 'id', kind: 'text', description: 'Its place in the feeds: `network.feed:sequence`.' },
    type: { wire: 'type', kind: 'text', words: [type], description: 'What happened.' },
  }) as const

const networkOf = (description: string) =>
  ({ wire: 'network_id', kind: 'networkId', description }) as const satisfies Field

const ofFeed = networkOf('Network whose feed this is.')
const logIndex = {
  wire: 'log_index',
  kind: 'uint32',
  description: 'Place among the logs of the block.',
} as const
const blockNumber = { wire: 'block_number', kind: 'blockNumber', description: 'Block of it.' } as const
const sourceNetwork = {
  wire: 'origin_network',
  kind: 'networkId',
  description: 'Source network of the deposit.',
} as const
const depositCount = {
  wire: 'deposit_count',
  kind: 'depositCount',
  description: 'Deposit count at the source network.',
} as const
const isNullable = { isNullable: true } as const

const { metadata, metadataLength, metadataHash } = tokenMappingDefinition.fields
const { originAddress, transactionSender, leafType, destinationNetwork, amount } = bridgeDefinition.fields
const { timestampSec: blockTime, destinationAddress: receiver } = bridgeDefinition.fields
const { globalIndex: canonicalGlobalIndex, tokenNetwork, tokenAddress } = bridgeDefinition.fields
const ofToken = { tokenNetwork, tokenAddress }

/** Type of an event → what it tells. `reorg` and `start_over` take back what was told before; what stays is told again behind them. */
export const feedDefinitions = {
  bridge: {
    title: 'BridgeEvent',
    description: 'A deposit was made, or a reorg has brought it back.',
    fields: {
      ...eventOf('bridge'),
      networkId: networkOf('Source network.'),
      depositCount,
      destinationNetwork,
      transactionHash: { wire: 'tx_hash', kind: 'hash', description: 'Transaction of the deposit.' },
      blockNumber,
      logIndex,
      timestampSec: blockTime,
      originAddress: { ...originAddress, description: 'Sender, EIP-55. Null where it is not known yet.' },
      destinationAddress: receiver,
      amount,
      leafType,
      ...ofToken,
      metadata,
      metadataLength,
      metadataHash,
      transactionSender: {
        ...transactionSender,
        description: 'Sender of the transaction. Null where it is not known yet.',
      },
      globalIndex: canonicalGlobalIndex,
    },
  },
  claim: {
    title: 'ClaimEvent',
    description:
      'A claim came into force, or, with `in_force` false, was unset. Of several for one deposit the newest counts.',
    fields: {
      ...eventOf('claim'),
      networkId: networkOf('Network of the claim.'),
      sourceNetwork,
      depositCount,
      globalIndex: claimDefinition.fields.globalIndex,
      isInForce: { wire: 'in_force', kind: 'boolean', description: 'False: the claim was unset.' },
      transactionHash: { wire: 'tx_hash', kind: 'hash', description: 'Transaction that did it.' },
      blockNumber,
      logIndex,
      timestampSec: blockTime,
      amount: {
        ...amount,
        ...isNullable,
        description: `${amount.description} Null where it was set or unset.`,
      },
      destinationAddress: { ...receiver, ...isNullable },
      tokenNetwork: { ...ofToken.tokenNetwork, ...isNullable },
      tokenAddress: { ...ofToken.tokenAddress, ...isNullable },
      caller: claimDefinition.fields.caller,
      transactionSender: claimDefinition.fields.transactionSender,
    },
  },
  claimable: {
    title: 'ClaimableEvent',
    description:
      'A deposit to this network can be claimed now, as far as contracts tell: what stands in the way of all of them is told by `halted`.',
    fields: {
      ...eventOf('claimable'),
      networkId: networkOf('Destination network.'),
      sourceNetwork,
      depositCount,
      transactionHash: { wire: 'bridge_tx_hash', kind: 'hash', description: 'Transaction of the deposit.' },
      destinationAddress: receiver,
      leafType,
      globalIndex: canonicalGlobalIndex,
      l1InfoTreeIndex: {
        wire: 'l1_info_tree_index',
        kind: 'l1InfoTreeIndex',
        description: 'L1 info tree index to use for the proof.',
      },
    },
  },
  unclaimable: {
    title: 'UnclaimableEvent',
    description: 'A deposit that could be claimed cannot be any more, although nobody has claimed it.',
    fields: {
      ...eventOf('unclaimable'),
      networkId: networkOf('Destination network.'),
      sourceNetwork,
      depositCount,
      destinationAddress: receiver,
      globalIndex: canonicalGlobalIndex,
    },
  },
  token_mapping: {
    title: 'TokenMappingEvent',
    description: 'A token mapping was made or changed.',
    fields: {
      ...eventOf('token_mapping'),
      wrappedNetwork: networkOf('Network that holds the wrapped token.'),
      transactionHash: { wire: 'tx_hash', kind: 'hash', description: 'Transaction that made the mapping.' },
      blockNumber,
      logIndex,
      timestampSec: blockTime,
      originNetwork: tokenMappingDefinition.fields.originNetwork,
      originTokenAddress: tokenMappingDefinition.fields.originTokenAddress,
      wrappedTokenAddress: tokenMappingDefinition.fields.wrappedTokenAddress,
      metadata,
      metadataLength,
      metadataHash,
      isNotMintable: tokenMappingDefinition.fields.isNotMintable,
      tokenType: tokenMappingDefinition.fields.tokenType,
      isCurrent: tokenMappingDefinition.fields.isCurrent,
      isRemoved: { wire: 'is_removed', kind: 'boolean', description: 'True once it was removed.' },
    },
  },
  sync: {
    title: 'SyncEvent',
    description: 'How far the network is indexed.',
    fields: {
      ...eventOf('sync'),
      networkId: ofFeed,
      blockNumber: { wire: 'block_number', kind: 'blockNumber', description: 'Last indexed block.' },
      timestampSec: blockTime,
      finalBlock: {
        wire: 'finalized_block',
        kind: 'blockNumber',
        isNullable: true,
        description: 'Newest final block; null while there is none.',
      },
      isHistory: {
        wire: 'is_history',
        kind: 'boolean',
        description:
          'True: history was read, or what can be claimed was worked out anew, without an event for each thing. Read the lists again.',
      },
    },
  },
  reorg: {
    title: 'ReorgEvent',
    description:
      'Gone are the bridges of this network from `deposit_count` on and, unless `is_cut`, its claims and token mappings above `ancestor_block`. What has come back follows.',
    fields: {
      ...eventOf('reorg'),
      networkId: ofFeed,
      ancestor: {
        wire: 'ancestor_block',
        kind: 'blockNumber',
        isNullable: true,
        description: 'Last block that stays; null: none does. Where `is_cut`, the block of the cut.',
      },
      depositCount: {
        wire: 'deposit_count',
        kind: 'depositCount',
        description: 'First deposit count that is gone.',
      },
      isCut: {
        wire: 'is_cut',
        kind: 'boolean',
        description: 'True: the bridge took deposits off its exit tree (BackwardLET), and no block is gone.',
      },
    },
  },
  start_over: {
    title: 'StartOverEvent',
    description: 'The network is read again from its first block: all that was told of it is void.',
    fields: { ...eventOf('start_over'), networkId: ofFeed },
  },
  halted: {
    title: 'HaltedEvent',
    description: 'Nothing on this network may be relied on until `resumed` names the same reason.',
    fields: {
      ...eventOf('halted'),
      networkId: ofFeed,
      reason: {
        wire: 'reason',
        kind: 'text',
        description: '`catching_up`, `behind`, `emergency_state`, or why the network is halted.',
      },
    },
  },
  resumed: {
    title: 'ResumedEvent',
    description: 'A reason of `halted` holds no more.',
    fields: {
      ...eventOf('resumed'),
      networkId: ofFeed,
      reason: { wire: 'reason', kind: 'text', description: 'As `halted` has named it.' },
    },
  },
} as const satisfies Readonly<Record<string, RecordDefinition>>

export type FeedEventType = keyof typeof feedDefinitions

export const feedEventTypes = Object.keys(feedDefinitions) as readonly FeedEventType[]

export type FeedRecord = {
  readonly [Type in FeedEventType]: RecordOf<(typeof feedDefinitions)[Type]>
}[FeedEventType]

/** How the feed that an event is of, or a position in it, is named: its 48 bits in hexadecimal. */
export function feedName(feedId: number): string {
  return feedId.toString(16).padStart(12, '0')
}

/** Longest text of an event: metadata in hexadecimal, and the other fields. */
export const LONGEST_EVENT_BYTES = 2 * LISTED_METADATA_BYTES + 2_000

/** Consecutive events of one network's feed, and which of them there are. */
export interface FeedPage {
  /** 48 bits; 0 with no events where the shard has no feed. */
  readonly feedId: number
  /** Of the oldest event that is kept; one more than `newest` where there is none. */
  readonly oldest: number
  readonly newest: number
  readonly events: readonly { readonly sequence: number; readonly record: FeedRecord }[]
}
