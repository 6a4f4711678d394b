import type { Hash } from '../protocol/chainEvent.js'
import type { ChecksumAddress } from '../protocol/checksumAddress.js'
import type { MetadataDigest, TokenMetadata } from '../protocol/metadata.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../protocol/units.js'
import type { PackedRows } from './packedRows.js'

/** A deposit as the API shows it. Bytes are valid until the end of the task that made the record. */
export interface BridgeRecord {
  readonly transactionHash: Hash
  readonly depositCount: DepositCount
  /** Network whose bridge emitted the event. */
  readonly sourceNetwork: NetworkId
  readonly destinationNetwork: NetworkId
  /** Account that called the bridge; null while unresolved. */
  readonly caller: ChecksumAddress | null
  readonly transactionSender: ChecksumAddress | null
  readonly destinationAddress: ChecksumAddress
  /** 32 bytes, big-endian. */
  readonly amount: Uint8Array
  readonly timestampSec: number
  readonly blockNumber: BlockNumber
  readonly logIndex: number
  readonly leafType: number
  readonly tokenNetwork: NetworkId
  readonly tokenAddress: ChecksumAddress
  /** Its digest where it is longer than is shown. */
  readonly metadata: Uint8Array | MetadataDigest
  readonly readyForClaim: boolean
  readonly claimTransactionHash: Hash | null
  readonly l1InfoTreeIndex: L1InfoTreeIndex | null
  /** False: the claim in force of this global index paid other content: that of a deposit which a cut removed from the tree. */
  readonly claimMatches: boolean
}

/** A claim in force as the API shows it. */
export interface ClaimRecord {
  readonly transactionHash: Hash
  /** 32 bytes, as emitted. */
  readonly globalIndex: Uint8Array
  readonly amount: Uint8Array
  readonly timestampSec: number
  readonly bridgeTransactionHash: Hash | null
  readonly blockNumber: BlockNumber
  readonly logIndex: number
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  readonly destinationNetwork: NetworkId
  readonly destinationAddress: ChecksumAddress
  readonly tokenNetwork: NetworkId
  readonly tokenAddress: ChecksumAddress
  /** null: unresolved, or set by an administrator. */
  readonly caller: ChecksumAddress | null
  /** null: unresolved. */
  readonly transactionSender: ChecksumAddress | null
}

export interface TokenMappingRecord {
  readonly transactionHash: Hash
  readonly blockNumber: BlockNumber
  readonly logIndex: number
  readonly timestampSec: number
  readonly originNetwork: NetworkId
  readonly originTokenAddress: ChecksumAddress
  readonly wrappedNetwork: NetworkId
  readonly wrappedTokenAddress: ChecksumAddress
  /** Its digest where it is longer than is shown. */
  readonly metadata: Uint8Array | MetadataDigest
  /** What the metadata say of the token. */
  readonly token: TokenMetadata
  readonly isNotMintable: boolean
  /** 0 wrapped, 1 sovereign. */
  readonly tokenType: number
  readonly isCurrent: boolean
}

/** One leaf of the L1 info tree with everything around it. */
export interface L1InfoLeafRecord {
  readonly l1InfoTreeIndex: L1InfoTreeIndex
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
  readonly globalExitRoot: Hash
  readonly previousBlockHash: Hash
  readonly timestampSec: number
  readonly blockNumber: BlockNumber
  readonly hash: Hash
}

export interface L1InfoTreeIndexRecord {
  readonly leaf: L1InfoLeafRecord
  readonly firstCoveringIndex: L1InfoTreeIndex
}

export interface ClaimProofRecord {
  /** 32 × 32 bytes, leaf level first. */
  readonly localExitRootBranch: Uint8Array
  /** 32 × 32 bytes, leaf level first; all zero for network 0. */
  readonly rollupExitRootBranch: Uint8Array
  readonly leaf: L1InfoLeafRecord
  /** 32 bytes, canonical. */
  readonly globalIndex: Uint8Array
  readonly leafHash: Hash
  /** True when neither half can change any more: finalised on the L1 and unchanged by any reorg that may be followed. */
  readonly isFinal: boolean
}

/** The claim call of one deposit, ready to sign. */
export interface ClaimTransactionRecord {
  readonly to: ChecksumAddress
  readonly data: Uint8Array
  readonly chainId: bigint
  readonly leafType: number
  readonly sourceNetwork: NetworkId
  readonly destinationNetwork: NetworkId
  readonly depositCount: DepositCount
  readonly globalIndex: Uint8Array
  readonly l1InfoTreeIndex: L1InfoTreeIndex
}

/** One page of a list, newest first unless asked otherwise. */
export interface Page<T> {
  readonly rows: readonly T[]
  readonly page: number
  readonly limit: number
  readonly total: number
  /** Continues the list behind this page; null on the last one. */
  readonly nextCursor: string | null
  /** The same rows as stored bytes, where they can be written without records in between: then `rows` are made when read. */
  readonly packed?: PackedRows<T>
}
