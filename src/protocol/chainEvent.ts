import type { BlockNumber, DepositCount, LeafCount, NetworkId } from './units.js'

/** 32 bytes. */
export type Hash = Uint8Array
/** 20 bytes. */
export type Address = Uint8Array

/** Where an event stands in its chain. */
export interface EventPosition {
  readonly blockNumber: BlockNumber
  readonly logIndex: number
  readonly transactionHash: Hash
}

/**
 * Who made a deposit or a claim. An event has `null` instead while its sender is unknown: backfill stores it so, and the
 * sender is found later. `caller` is the account that called the bridge, `transactionSender` is tx.from.
 */
export interface Sender {
  readonly caller: Address
  readonly transactionSender: Address
  /** No trace was available: `caller` is tx.from until a trace can be had. */
  readonly isProvisional?: boolean
}

export interface DepositEvent extends EventPosition {
  readonly type: 'deposit'
  /** 0 asset, 1 message. */
  readonly leafType: number
  /** As emitted: the token network of an asset, the source network of a message. */
  readonly originNetwork: NetworkId
  /** As emitted: the token address of an asset, the sender of a message. */
  readonly originAddress: Address
  readonly destinationNetwork: NetworkId
  readonly destinationAddress: Address
  /** uint256, base units. */
  readonly amount: bigint
  readonly metadata: Uint8Array
  readonly depositCount: DepositCount
  readonly sender: Sender | null
}

export interface ClaimEvent extends EventPosition {
  readonly type: 'claim'
  /** `v1`: pre-etrog, `globalIndex` is the bare deposit count. `v2`: the whole global index, unused bits included. */
  readonly generation: 'v1' | 'v2'
  /** uint256 as emitted. */
  readonly globalIndex: bigint
  readonly originNetwork: NetworkId
  readonly originAddress: Address
  readonly destinationAddress: Address
  readonly amount: bigint
  readonly sender: Sender | null
}

/** UnsetClaim, UpdatedUnsetGlobalIndexHashChain: the claim is no longer in force. */
export interface ClaimUnsetEvent extends EventPosition {
  readonly type: 'claimUnset'
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /** The hash chain of unset global indexes behind it. UnsetClaim names none. */
  readonly hashChain?: Hash
}

/** SetClaim: an administrator marked the deposit as claimed, without a ClaimEvent. */
export interface ClaimSetEvent extends EventPosition {
  readonly type: 'claimSet'
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /** Nobody called to claim: `caller` repeats `transactionSender`. */
  readonly sender: Sender | null
}

/** NewWrappedToken: the bridge deployed a wrapped token. */
export interface WrappedTokenEvent extends EventPosition {
  readonly type: 'wrappedToken'
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
  readonly wrappedTokenAddress: Address
  readonly metadata: Uint8Array
}

/** SetSovereignTokenAddress, or SetSovereignWETHAddress: that one has origin network 0 and the zero address. */
export interface SovereignTokenEvent extends EventPosition {
  readonly type: 'sovereignToken'
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
  readonly sovereignTokenAddress: Address
  readonly isNotMintable: boolean
}

/** RemoveLegacySovereignTokenAddress. */
export interface LegacyTokenRemovedEvent extends EventPosition {
  readonly type: 'legacyTokenRemoved'
  readonly sovereignTokenAddress: Address
}

/** MigrateLegacyToken: an account changed its balance of a sovereign token that was replaced into the new one. */
export interface TokenMigratedEvent extends EventPosition {
  readonly type: 'tokenMigrated'
  readonly account: Address
  readonly legacyTokenAddress: Address
  readonly updatedTokenAddress: Address
  readonly amount: bigint
}

/** UpdateL1InfoTree: one new L1 info leaf. Its parent hash and timestamp are those of the block's header. */
export interface L1InfoLeafEvent extends EventPosition {
  readonly type: 'l1InfoLeaf'
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
}

/** UpdateL1InfoTreeV2: the tree's root and leaf count after the leaf of the UpdateL1InfoTree just before it. */
export interface L1InfoRootEvent extends EventPosition {
  readonly type: 'l1InfoRoot'
  readonly l1InfoRoot: Hash
  readonly leafCount: LeafCount
  /** The parent hash that is part of the leaf. */
  readonly previousBlockHash: Hash
  readonly timestampSec: number
}

/** InitL1InfoRootMap: the tree's root and leaf count at the upgrade to v8. It adds no leaf. */
export interface L1InfoRootMapInitEvent extends EventPosition {
  readonly type: 'l1InfoRootMapInit'
  readonly l1InfoRoot: Hash
  readonly leafCount: LeafCount
}

/** Pre-etrog UpdateGlobalExitRoot. It adds no L1 info leaf. */
export interface V1GlobalExitRootEvent extends EventPosition {
  readonly type: 'v1GlobalExitRoot'
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
}

/** CreateNewRollup, AddExistingRollup. */
export interface RollupAddedEvent extends EventPosition {
  readonly type: 'rollupAdded'
  /** rollupID = network id, ≥ 1. */
  readonly networkId: NetworkId
  readonly chainId: bigint
  readonly rollupAddress: Address
  /** AddExistingRollup may set one that no event names: the indexer reads it from the contract. 32 zero bytes when none. */
  readonly initialLocalExitRoot: Hash
}

/**
 * A rollup's local exit root was settled. `pending`: VerifyBatches may leave the root as pending state, so that it counts
 * only if the rollup exit root of the same transaction includes it.
 */
export interface RollupSettledEvent extends EventPosition {
  readonly type: 'rollupSettled'
  readonly networkId: NetworkId
  readonly localExitRoot: Hash
  readonly certainty: 'applied' | 'pending'
}

/** InsertGlobalExitRoot, UpdateHashChainValue, or an injection that polling found: a legacy manager emits no event. */
export interface GlobalExitRootInjectedEvent extends EventPosition {
  readonly type: 'gerInjected'
  readonly globalExitRoot: Hash
}

/** RemoveLastGlobalExitRoot, UpdateRemovalHashChainValue. */
export interface GlobalExitRootRemovedEvent extends EventPosition {
  readonly type: 'gerRemoved'
  readonly globalExitRoot: Hash
}

/** One leaf that ForwardLET adds without a BridgeEvent. */
export interface ForwardLeaf {
  readonly leafType: number
  readonly originNetwork: NetworkId
  readonly originAddress: Address
  readonly destinationNetwork: NetworkId
  readonly destinationAddress: Address
  readonly amount: bigint
  readonly metadata: Uint8Array
}

/** BackwardLET: the local exit tree is cut to `newLeafCount`. */
export interface BackwardLetEvent extends EventPosition {
  readonly type: 'backwardLet'
  readonly previousLeafCount: LeafCount
  readonly previousRoot: Hash
  readonly newLeafCount: LeafCount
  readonly newRoot: Hash
}

/** ForwardLET: leaves are appended to the local exit tree. */
export interface ForwardLetEvent extends EventPosition {
  readonly type: 'forwardLet'
  readonly previousLeafCount: LeafCount
  readonly previousRoot: Hash
  readonly newLeafCount: LeafCount
  readonly newRoot: Hash
  readonly newLeaves: readonly ForwardLeaf[]
  readonly sender: Sender | null
}

/** EmergencyStateActivated / EmergencyStateDeactivated of the bridge. */
export interface EmergencyStateEvent extends EventPosition {
  readonly type: 'emergencyState'
  readonly active: boolean
}

/** Everything that a log can say. An event owns its byte fields: they are no views of a buffer that is reused. */
export type ChainEvent =
  | DepositEvent
  | ClaimEvent
  | ClaimUnsetEvent
  | ClaimSetEvent
  | WrappedTokenEvent
  | SovereignTokenEvent
  | LegacyTokenRemovedEvent
  | TokenMigratedEvent
  | L1InfoLeafEvent
  | L1InfoRootEvent
  | L1InfoRootMapInitEvent
  | V1GlobalExitRootEvent
  | RollupAddedEvent
  | RollupSettledEvent
  | GlobalExitRootInjectedEvent
  | GlobalExitRootRemovedEvent
  | BackwardLetEvent
  | ForwardLetEvent
  | EmergencyStateEvent

/** The fields of a block header that the indexer needs. */
export interface BlockHeader {
  readonly number: BlockNumber
  readonly hash: Hash
  /**
   * Absent when unknown: in backfill, hash and time of most blocks come with their logs and no header is read.
   * Always known for a block with an L1 info leaf, for blocks near the head, and for the last block of a batch.
   */
  readonly parentHash?: Hash
  readonly timestampSec: number
}

/**
 * Many logs in one piece of memory. Deposits and claims of far history come by the million: the writer reads their fields from
 * here by row, which is the number of a log, and no object is made of any.
 */
export interface LogColumns {
  readonly bytes: Uint8Array
  /** The same memory as 32-bit words: every ABI word begins at one of them. */
  readonly words: Int32Array
  blockNumber(row: number): number
  logIndex(row: number): number
  /** Byte of `bytes` at which the transaction's hash begins. */
  transactionHashAt(row: number): number
  /** Byte of `bytes` at which the event's data begin. */
  dataStart(row: number): number
}

/** BridgeEvents of one block, one after another: rows `from` … `to` − 1, in the encoding that contracts write. */
export interface DepositRows {
  readonly type: 'depositRows'
  readonly logs: LogColumns
  readonly from: number
  readonly to: number
}

/** ClaimEvents of etrog and later, as `DepositRows`. */
export interface ClaimRows {
  readonly type: 'claimRows'
  readonly logs: LogColumns
  readonly from: number
  readonly to: number
}

export type EventRows = DepositRows | ClaimRows

export function isRows(event: { readonly type: string }): event is EventRows {
  return event.type === 'depositRows' || event.type === 'claimRows'
}

/** What stands in a block's list of events: an event, or many in far history. */
export type BlockEvent = ChainEvent | EventRows

/** One block that has events, in log order. */
export interface IndexedBlock<Event extends BlockEvent = ChainEvent> {
  readonly header: BlockHeader
  readonly events: readonly Event[]
}

/**
 * A stretch of one chain, ready to be stored in one transaction.
 * `head` is the header of the last block covered: the new checkpoint. `blocks` holds only blocks with events, ascending.
 */
export interface BlockBatch {
  readonly fromBlock: BlockNumber
  readonly head: BlockHeader
  readonly blocks: readonly IndexedBlock<BlockEvent>[]
  /** Newest block that counts as final under the network's finality setting; never above `head`. */
  readonly finalizedBlock: BlockNumber
  /** The shard can't rewind block by block to below this one: no undo is kept for the blocks at or below it. */
  readonly undoFloor: BlockNumber
  /**
   * Blocks above this one, up to `undoFloor`, can be taken back only in whole batches. Such undo is cheap to keep, and
   * suffices to go back to before a batch and read from there again. Absent: there is no such undo.
   */
  readonly batchUndoFloor?: BlockNumber
  /** From this block on, log indices are positions within a transaction. Absent: they are positions within the block. */
  readonly perTransactionFrom?: BlockNumber
}
