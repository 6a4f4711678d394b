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
 * Who made a deposit or a claim. `null` in an event while unknown (backfill only): it is resolved later, in order.
 * `caller` is the account that called the bridge, `transactionSender` is tx.from.
 */
export interface Sender {
  readonly caller: Address
  readonly transactionSender: Address
  /** The caller is tx.from because no trace was available; it is asked for again. */
  readonly isProvisional?: boolean
}

export interface DepositEvent extends EventPosition {
  readonly type: 'deposit'
  /** 0 asset, 1 message. */
  readonly leafType: number
  /** Token's home network (asset) or source network (message), as emitted. */
  readonly originNetwork: NetworkId
  /** Token's address at home (asset) or sender of the message, as emitted. */
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
  /** `v1`: pre-etrog, the index is the bare deposit count. `v2`: the whole global index, dirty bits included. */
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
}

/** SetClaim: claimed by an administrator, without ClaimEvent. */
export interface ClaimSetEvent extends EventPosition {
  readonly type: 'claimSet'
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /** Nobody claimed: `caller` repeats the transaction's sender. */
  readonly sender: Sender | null
}

/** NewWrappedToken. */
export interface WrappedTokenEvent extends EventPosition {
  readonly type: 'wrappedToken'
  readonly originNetwork: NetworkId
  readonly originTokenAddress: Address
  readonly wrappedTokenAddress: Address
  readonly metadata: Uint8Array
}

/** SetSovereignTokenAddress, and SetSovereignWETHAddress with origin network 0 and the zero address. */
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

/** UpdateL1InfoTree: one new leaf of the L1 info tree; parent hash and timestamp come from the block header. */
export interface L1InfoLeafEvent extends EventPosition {
  readonly type: 'l1InfoLeaf'
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
}

/** UpdateL1InfoTreeV2: what the contract says of the tree after the leaf just before it. */
export interface L1InfoRootEvent extends EventPosition {
  readonly type: 'l1InfoRoot'
  readonly l1InfoRoot: Hash
  readonly leafCount: LeafCount
  /** Parent block hash inside the leaf. */
  readonly previousBlockHash: Hash
  readonly timestampSec: number
}

/** InitL1InfoRootMap: the tree at the upgrade to v8; adds no leaf. */
export interface L1InfoRootMapInitEvent extends EventPosition {
  readonly type: 'l1InfoRootMapInit'
  readonly l1InfoRoot: Hash
  readonly leafCount: LeafCount
}

/** Pre-etrog UpdateGlobalExitRoot: no leaf of the L1 info tree. */
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
  /** AddExistingRollup may set one that is in no event: read from the contract by the indexer. 32 zero bytes when none. */
  readonly initialLocalExitRoot: Hash
}

/**
 * A rollup's local exit root was settled. `pending`: VerifyBatches with a pending-state time-out may leave it for later;
 * it counts only if the rollup exit root of the same transaction says so.
 */
export interface RollupSettledEvent extends EventPosition {
  readonly type: 'rollupSettled'
  readonly networkId: NetworkId
  readonly localExitRoot: Hash
  readonly certainty: 'applied' | 'pending'
}

/** InsertGlobalExitRoot, UpdateHashChainValue, or a root found by polling a legacy manager. */
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

/** Everything that a log can tell us. Byte fields are owned by the event (never views of a buffer that is reused). */
export type ChainEvent =
  | DepositEvent
  | ClaimEvent
  | ClaimUnsetEvent
  | ClaimSetEvent
  | WrappedTokenEvent
  | SovereignTokenEvent
  | LegacyTokenRemovedEvent
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

/** Header fields that the indexer needs. */
export interface BlockHeader {
  readonly number: BlockNumber
  readonly hash: Hash
  /**
   * 32 zero bytes for a block of the far history that needed no header of its own: its hash and time came with its
   * logs. Always real for a block with an L1 info leaf, near the head, and in the header of a range.
   */
  readonly parentHash: Hash
  readonly timestampSec: number
}

/** One block that has events, in log order. */
export interface IndexedBlock {
  readonly header: BlockHeader
  readonly events: readonly ChainEvent[]
}

/**
 * A stretch of one chain, ready to be stored in one transaction.
 * `head` is the header of the last block covered: the new checkpoint. `blocks` holds only blocks with events, ascending.
 */
export interface BlockBatch {
  readonly fromBlock: BlockNumber
  readonly head: BlockHeader
  readonly blocks: readonly IndexedBlock[]
  /** Newest block that counts as final under the network's finality setting; never above `head`. */
  readonly finalizedBlock: BlockNumber
  /** Blocks at or below this one can't be asked back one by one. */
  readonly undoFloor: BlockNumber
  /**
   * Blocks at or below `undoFloor` and above this one can still be asked back, whole batches at a time: cheap to keep, and
   * enough to read history again. Absent: they can't.
   */
  readonly batchUndoFloor?: BlockNumber
  /** First block from which on log indices are positions by transaction; absent while there is none. */
  readonly perTransactionFrom?: BlockNumber
}

/** Headers of the far history may come without their parent's hash, as zeros. Block 0 has no parent. */
export function tellsParent({ number, parentHash }: BlockHeader): boolean {
  return number === 0 || parentHash.some((byte) => byte !== 0)
}
