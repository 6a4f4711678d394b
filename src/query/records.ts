import type { Hash } from '../protocol/chainEvent.js'
import { LISTED_METADATA_BYTES } from '../protocol/metadata.js'
import type { RowOutput, RowWriter } from './packedRows.js'
import type { RecordDefinition, RecordOf } from './recordFields.js'
import { type RowTemplate, templateOf } from './rowTemplate.js'
import { amount, blockTime, canonicalGlobalIndex, ofToken, receiver } from './sharedFields.js'

/** The rows of lists, each defined once, in the order of the wire: the fields of the interface, then the additive ones. */

const OF_LONG_METADATA = {
  metadataLength: {
    wire: 'metadata_length',
    kind: 'count',
    isOptional: true,
    minimum: LISTED_METADATA_BYTES + 1,
    description: 'Bytes of it. Only where `metadata` is null.',
  },
  metadataHash: {
    wire: 'metadata_hash',
    kind: 'hash',
    isOptional: true,
    description: 'Its keccak-256. Only where `metadata` is null.',
  },
} as const

/** With a comma by hand: `toLocaleString` loads the tables of languages, 12 ms of CPU time in each thread. */
const LISTED_BYTES = String(LISTED_METADATA_BYTES).replace(/(?=\d{3}$)/, ',')
const METADATA = `As emitted, whole. Null above ${LISTED_BYTES} bytes: then length and hash tell of it`

/** A deposit as the API shows it. */
export const bridgeDefinition = {
  title: 'Bridge',
  description: 'One deposit. `origin_network` and `deposit_count` name it.',
  fields: {
    transactionHash: { wire: 'tx_hash', kind: 'hash', description: 'Transaction of the deposit.' },
    depositCount: {
      wire: 'deposit_count',
      kind: 'depositCount',
      description: '0-based leaf index in the exit tree of the source network.',
    },
    sourceNetwork: {
      wire: 'origin_network',
      kind: 'networkId',
      description:
        'Source network: the one whose bridge emitted the event. Not the home network of the token.',
    },
    destinationNetwork: {
      wire: 'destination_network',
      kind: 'networkId',
      description: 'Network where the deposit is claimed.',
    },
    // The event's originAddress is the token of an asset, but the sender of a message: here it is always the sender.
    originAddress: {
      wire: 'origin_address',
      kind: 'address',
      isNullable: true,
      description: 'Sender: the account that called the bridge, EIP-55. Null until it is resolved.',
    },
    destinationAddress: receiver,
    amount,
    timestampSec: blockTime,
    readyForClaim: {
      wire: 'ready_for_claim',
      kind: 'boolean',
      description: 'True when executing the claim now passes.',
    },
    blockNumber: {
      wire: 'block_number',
      kind: 'blockNumber',
      description: 'Block of the deposit on the source network.',
    },
    logIndex: {
      wire: 'log_index',
      kind: 'uint32',
      description: 'Place of the deposit among the logs of its block.',
    },
    leafType: { wire: 'leaf_type', kind: 'uint8', description: '0 asset, 1 message.' },
    ...ofToken,
    metadata: {
      wire: 'metadata',
      kind: 'bytes',
      isNullable: true,
      description: `${METADATA}, unless exactly one \`deposit_count\` is asked for and 16 MiB hold it.`,
    },
    ...OF_LONG_METADATA,
    transactionSender: {
      wire: 'tx_sender',
      kind: 'address',
      isNullable: true,
      description: 'Sender of the transaction, EIP-55. Null until it is resolved.',
    },
    globalIndex: canonicalGlobalIndex,
    claimTransactionHash: {
      wire: 'claim_tx_hash',
      kind: 'hash',
      isNullable: true,
      description: 'Transaction of the claim in force.',
    },
    l1InfoTreeIndex: {
      wire: 'l1_info_tree_index',
      kind: 'l1InfoTreeIndex',
      isNullable: true,
      description: 'Smallest L1 info tree index to use for the proof.',
    },
    claimMatches: {
      wire: 'claim_matches',
      kind: 'onlyFalse',
      isOptional: true,
      description:
        'Only where the claim is of an older deposit with this count, which a cut took off the exit tree: this one can never be claimed.',
    },
  },
} as const satisfies RecordDefinition

export type BridgeFields = RecordOf<typeof bridgeDefinition>

/** What our own API does not tell of a deposit, but others do. */
export interface MoreBridgeFields {
  /** The deposit's leaf of the local exit tree. */
  readonly leafHash: Hash
  /** 16 bytes, big-endian: 48 bits of the block's time in milliseconds, 40 of the source network, 40 of the deposit count. */
  readonly ulid: Uint8Array
  /** 0, 1 when it is ready, 2 when it was claimed. */
  readonly claimStage: number
  /** Null until it is claimed. */
  readonly claimedGlobalIndex: Uint8Array | null
}

/** The rest is absent unless the template asks for a part of it. */
export interface BridgeRecord extends BridgeFields, Partial<MoreBridgeFields> {}
export const bridgeTemplate = templateOf(bridgeDefinition)

/** A claim in force as the API shows it. */
export const claimDefinition = {
  title: 'Claim',
  description: 'One claim in force.',
  fields: {
    transactionHash: { wire: 'tx_hash', kind: 'hash', description: 'Transaction of the claim.' },
    globalIndex: { wire: 'global_index', kind: 'hash', description: 'As emitted.' },
    amount,
    timestampSec: blockTime,
    bridgeTransactionHash: {
      wire: 'bridge_tx_hash',
      kind: 'hash',
      isNullable: true,
      description:
        'Transaction of the deposit whose content was claimed; null while none such is indexed here.',
    },
    blockNumber: { wire: 'block_number', kind: 'blockNumber', description: 'Block of the claim.' },
    logIndex: {
      wire: 'log_index',
      kind: 'uint32',
      description: 'Place of the claim among the logs of its block.',
    },
    sourceNetwork: {
      wire: 'origin_network',
      kind: 'networkId',
      description: 'Source network of the claimed deposit.',
    },
    depositCount: {
      wire: 'deposit_count',
      kind: 'depositCount',
      description: 'Deposit count of the claimed deposit.',
    },
    destinationNetwork: {
      wire: 'destination_network',
      kind: 'networkId',
      description: 'Network of the claim.',
    },
    destinationAddress: receiver,
    ...ofToken,
    // Null: unresolved, or set by an administrator.
    caller: {
      wire: 'from_address',
      kind: 'address',
      isNullable: true,
      description: 'Claimer: the account that called the bridge. Null when not known.',
    },
    transactionSender: {
      wire: 'tx_sender',
      kind: 'address',
      isNullable: true,
      description: 'Sender of the transaction. Null when not known.',
    },
  },
} as const satisfies RecordDefinition

export type ClaimFields = RecordOf<typeof claimDefinition>

export interface ClaimRecord extends ClaimFields {
  /** Metadata of the claimed deposit, of any length. Absent unless the template asks for it, and where that deposit is not known. */
  readonly depositMetadata?: Uint8Array
  /** Whether the claimed deposit is a message. Absent as above. */
  readonly isMessage?: boolean
}
export const claimTemplate = templateOf(claimDefinition)

const OF_METADATA = 'Decoded from metadata; null where it does not decode'

export const tokenMappingDefinition = {
  title: 'TokenMapping',
  description: 'A token and the token that stands for it elsewhere.',
  fields: {
    transactionHash: { wire: 'tx_hash', kind: 'hash', description: 'Transaction that made the mapping.' },
    blockNumber: { wire: 'block_number', kind: 'blockNumber', description: 'Block of the mapping.' },
    logIndex: {
      wire: 'log_index',
      kind: 'uint32',
      description: 'Place of the mapping among the logs of its block.',
    },
    timestampSec: blockTime,
    originNetwork: { wire: 'origin_network', kind: 'networkId', description: 'Home network of the token.' },
    originTokenAddress: {
      wire: 'origin_token_address',
      kind: 'address',
      description: 'Token on its home network.',
    },
    wrappedNetwork: {
      wire: 'wrapped_network',
      kind: 'networkId',
      description: 'Network that holds the wrapped token.',
    },
    wrappedTokenAddress: { wire: 'wrapped_token_address', kind: 'address', description: 'Wrapped token.' },
    metadata: { wire: 'metadata', kind: 'bytes', isNullable: true, description: `${METADATA}.` },
    ...OF_LONG_METADATA,
    name: {
      wire: 'name',
      kind: 'text',
      isNullable: true,
      description: `${OF_METADATA} or has more than 256 characters.`,
    },
    symbol: {
      wire: 'symbol',
      kind: 'text',
      isNullable: true,
      description: `${OF_METADATA} or has more than 256 characters.`,
    },
    decimals: { wire: 'decimals', kind: 'uint8', isNullable: true, description: `${OF_METADATA}.` },
    isNotMintable: {
      wire: 'is_not_mintable',
      kind: 'boolean',
      description: 'True for a sovereign token that the bridge may not mint.',
    },
    tokenType: { wire: 'token_type', kind: 'uint8', maximum: 1, description: '0 wrapped, 1 sovereign.' },
    isCurrent: { wire: 'is_current', kind: 'boolean', description: 'False once replaced or removed.' },
  },
} as const satisfies RecordDefinition

export type TokenMappingRecord = RecordOf<typeof tokenMappingDefinition>
export const tokenMappingTemplate = templateOf(tokenMappingDefinition)

export const paginationDefinition = {
  title: 'Pagination',
  description: 'Where a page stands in its list.',
  fields: {
    page: { wire: 'page', kind: 'uint32', minimum: 1, description: 'Page number returned.' },
    limit: { wire: 'limit', kind: 'uint32', minimum: 1, maximum: 1000, description: 'Page size applied.' },
    total: { wire: 'total', kind: 'count', description: 'Number of matching records.' },
    nextCursor: {
      wire: 'next_cursor',
      kind: 'text',
      isNullable: true,
      description: 'Value of `cursor` for the page behind this one; null on the last page.',
    },
  },
} as const satisfies RecordDefinition

/** One page of a list, newest first unless asked otherwise. */
export interface Page<T> extends RecordOf<typeof paginationDefinition> {
  readonly rows: readonly T[]
  /** How the rows are to be spelled, as came with the query. */
  readonly template: RowTemplate
  /**
   * Writes rows `from` to `to` − 1 from where they are stored, in the place of `rows`, which are made when they are read.
   * @returns whether these were the last rows.
   */
  writeRows?(output: RowOutput<T>, from: number, to: number): boolean
  /**
   * Whether no row has metadata that is longer than those of our own lists, however the template spells it: a page of such rows is
   * never refused for its length. False also where that would have to be looked up in other ways.
   */
  hasShortRows?(rowWriter: RowWriter): boolean
}
