import type { HaltReason } from '../board/haltReason.js'
import type { HeadPlace } from '../board/statusBoard.js'
import type { Address, BlockBatch, Hash } from '../protocol/chainEvent.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../protocol/units.js'
import type { FoundExitRoot } from './localExitRoots.types.js'
import type { CorrectedSender, RowSender } from './senders.types.js'
import type { LogSettings, ShardMark } from './shardLog.types.js'

/** How often a shard has started over. Stored, so that a restart does not forget it. */
export interface StartOvers {
  readonly count: number
  /** Unix milliseconds before which there is no next one. undefined: it is not known yet whether the last one helped. */
  readonly notBeforeMs: number | undefined
}

/** Claims of the first `deposits` deposits of a source network. */
export interface ComparedClaims {
  readonly sourceNetwork: NetworkId
  readonly deposits: number
}

/** A deposit of another network that can be claimed on this one. */
export interface ClaimableDeposit {
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  readonly transactionHash: Hash
  readonly destinationAddress: Address
  readonly leafType: number
  /** The leaf to prove it under. */
  readonly l1InfoTreeIndex: L1InfoTreeIndex
}

/** Which snapshot of a shard something was worked out from. */
export interface SnapshotVersion {
  readonly networkId: NetworkId
  readonly commits: number
  readonly epoch: number
}

/** What has changed among the deposits that can be claimed here since the last time. Both lists ascend by source and deposit count. */
export interface ClaimableNews {
  /** The snapshots of all shards that it was worked out from. */
  readonly madeFrom: readonly SnapshotVersion[]
  /**
   * `history`: what could be claimed already when the network had caught up; the feed is not told of it one by one. `historyEnd`: the last
   * of it. `news`: what came after.
   */
  readonly stage: 'history' | 'historyEnd' | 'news'
  /** Before these, so that a deposit that is other than it was is in both. */
  readonly unclaimable: readonly Pick<ClaimableDeposit, 'sourceNetwork' | 'depositCount'>[]
  readonly claimable: readonly ClaimableDeposit[]
}

/**
 * A change of one network's shard, as plain data: no functions, no handles, and no bytes that somebody writes to later. So whoever
 * applies it may keep it, or read it in another process. Only events of far history may be rows of
 * packed logs (`EventRows`): what writes a command down makes columns of them.
 *
 * What a shard holds follows from its commands alone. Two shards that were given the same ones hold the same bytes.
 */
export type ShardCommand =
  /** Stores one batch that follows the checkpoint. */
  | { readonly type: 'applyBlocks'; readonly batch: BlockBatch }
  /**
   * Undoes every block above `ancestor`, which must have a stored header. `reorgSeenAtSec`: the chain has dropped these blocks, and the
   * proposer noticed it at these Unix seconds, which are stored as the last reorg; absent when blocks are only read again.
   */
  | { readonly type: 'revertTo'; readonly ancestor: BlockNumber; readonly reorgSeenAtSec?: number }
  /** Removes everything except what identifies the chain. Readers see it as a reorg of every block. */
  | { readonly type: 'startOver'; readonly startOvers: StartOvers }
  | { readonly type: 'noteStartOvers'; readonly startOvers: StartOvers }
  /**
   * Stores whether the network is catching up. While it is, claims may be in blocks that it has not read yet, so no deposit to it
   * is ready. Survives restarts.
   */
  | { readonly type: 'noteCatchingUp'; readonly isCatchingUp: boolean }
  /**
   * Stores, by source network, of how many of its first deposits the claims were compared with the contract: deposits above are not
   * ready. Numbers never fall. Nothing is stored until all claims were compared once (`isWhole`), so that the network's first readiness
   * comes at once. Survives restarts.
   */
  | {
      readonly type: 'noteClaimsCompared'
      readonly compared: readonly ComparedClaims[]
      readonly isWhole: boolean
    }
  /** Raises the newest final block without storing blocks, to the checkpoint at most. A lower block is ignored. */
  | { readonly type: 'setFinalized'; readonly block: BlockNumber }
  /** Stores senders in order. The first of each kind must be the row at that kind's watermark, and each row must be of the log that is named. */
  | { readonly type: 'resolveSenders'; readonly resolved: readonly RowSender[] }
  /**
   * Stores later answers about noted rows. A sender that is not provisional ends the note. Rows that are no longer noted, or were
   * replaced by other rows meanwhile, do not change.
   */
  | { readonly type: 'correctSenders'; readonly corrected: readonly CorrectedSender[] }
  /**
   * Stores global exit roots that the manager knew at the checkpoint when it was asked, and the number of L1 info leaves that polling
   * is done with. Undoing the checkpoint's block undoes both.
   */
  | {
      readonly type: 'addPolledGers'
      readonly globalExitRoots: readonly Hash[]
      readonly polledLeaves: number
    }
  /** Stores roots that were settled inside a block. Undoing the checkpoint's block undoes them. */
  | { readonly type: 'addSettledRoots'; readonly found: readonly FoundExitRoot[] }
  /** The first command of a log, for a shard that holds nothing yet. From then on the shard changes by commands of its log only. */
  | { readonly type: 'begin'; readonly settings: LogSettings }
  /** Changes nothing: a shard that differs from the mark has a `DivergedError`, which is no outcome. */
  | { readonly type: 'mark'; readonly mark: ShardMark }
  /** Stores why the network stands still, or, with `none`, that it goes on. Survives restarts, reverts and starts over. */
  | { readonly type: 'noteHalt'; readonly reason: HaltReason }
  /** Tells the feed which deposits to this network can be claimed here now, and which cannot any more. Changes no answer. */
  | { readonly type: 'noteClaimable'; readonly news: ClaimableNews }
  /** Stores where the chain's head is, compared with the stored blocks. The same holds. */
  | { readonly type: 'noteHeadPlace'; readonly place: HeadPlace }

/** The chain's own data contradict what is stored: a halt reason each. */
export type ContradictionReason = Extract<
  HaltReason,
  | 'deposit_count_gap'
  | 'start_block_too_late'
  | 'local_exit_tree_event'
  | 'exit_root_mismatch'
  | 'l1_info_root_mismatch'
  | 'rollup_exit_root_mismatch'
  | 'missing_log'
>

/** The command was made for another state of the shard than the one that it met. */
export type MisfitReason =
  /** The batch does not begin behind the checkpoint. */
  | 'not_next'
  /** A block names another parent than the block before it. */
  | 'not_parent'
  /** The batch's blocks do not ascend, or lie outside of it, or a block above its head is final. */
  | 'disordered_batch'
  /** A block with an L1 info leaf does not name its parent, of which the leaf is made. */
  | 'parent_unknown'
  /** An event of the L1's contracts in a block of an L2. */
  | 'event_of_l1'
  /** There is no such block to go back to: it is above the checkpoint, or its header is not stored. */
  | 'unknown_ancestor'
  /** The sender is not of the row at the watermark. */
  | 'not_at_watermark'
  /** The sender is of a row that is not stored. */
  | 'unknown_row'
  /** The sender is of another log than the one that its row was stored from. */
  | 'other_row'
  /** The shard has no block yet. */
  | 'nothing_stored'
  /** The first command of a log came to a shard that has begun, or holds something. */
  | 'already_begun'
  /** Another command of a log came first. */
  | 'not_begun'
  /** The shard has changed since the command was worked out from it. */
  | 'outdated'

/** `reorg_too_deep`: undo does not reach back to the ancestor. */
export type RefusalReason = ContradictionReason | MisfitReason | 'reorg_too_deep'

/** Everything that the command says is stored, or was stored before. */
export interface Applied {
  readonly type: 'applied'
}

/** Nothing was changed. The same command meets the same refusal until another one is applied. */
export interface Refused {
  readonly type: 'refused'
  readonly reason: RefusalReason
  /** One line for a log: what the command says, and what is stored. */
  readonly message: string
}

export type CommandOutcome = Applied | Refused
