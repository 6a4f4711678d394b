import type { Address, BlockBatch, BlockHeader, Hash, Sender } from '../protocol/chainEvent.js'
import type { BlockNumber, ClaimOrdinal, DepositCount, NetworkId } from '../protocol/units.js'
import type { ContractState } from './contractState.types.js'

/** Totals of a shard. They are stored, so that nobody counts rows. */
export interface ShardCounts {
  readonly deposits: number
  /** Claims in force. */
  readonly claims: number
  readonly l1InfoLeaves: number
  readonly unresolvedSenders: number
  /** Injections of global exit roots; a root that is injected again after its removal counts again. */
  readonly gerInjections: number
}

/** One bridge log of a transaction, with the fields that tell its call from the transaction's other calls. */
export interface TransactionLog {
  readonly logIndex: number
  readonly kind: 'deposit' | 'claim' | 'claimSet' | 'forwardLet'
  /** Deposits: 1 = a message, whose `originAddress` is its sender. */
  readonly leafType?: number
  /** Messages only. */
  readonly originAddress?: Address
  readonly depositCount?: DepositCount
  /** Claims: as emitted. In V1 events this is the deposit count alone. */
  readonly globalIndex?: bigint
  readonly destinationNetwork?: NetworkId
  readonly destinationAddress?: Address
  readonly amount?: bigint
}

/** A deposit or claim whose sender is still to be found. */
export interface UnresolvedSender {
  readonly kind: 'deposit' | 'claim'
  readonly ordinal: DepositCount | ClaimOrdinal
  readonly transactionHash: Hash
  readonly logIndex: number
  readonly blockNumber: BlockNumber
  /** All deposits, claims, set claims and ForwardLETs of the transaction, this one included, by log index. */
  readonly transactionLogs: readonly TransactionLog[]
}

export interface RowSender {
  readonly kind: 'deposit' | 'claim'
  readonly ordinal: DepositCount | ClaimOrdinal
  /** null: no endpoint knows the transaction. Rows without a sender, or with a provisional one, are noted and asked for again. */
  readonly sender: Sender | null
}

/** A row whose sender is unknown or provisional, and is asked for again. */
export interface NotedSender extends UnresolvedSender {
  /** True: no endpoint knew the transaction. False: the caller is tx.from because no trace was available. */
  readonly isUnknown: boolean
}

/** A later answer about a noted row. */
export interface CorrectedSender {
  /** The row as `notedSenders` returned it. */
  readonly row: NotedSender
  readonly sender: Sender
}

/** Numbers of noted rows. */
export interface SenderNotes {
  readonly provisional: number
  readonly unknown: number
}

/** How often a shard has started over. Stored, so that a restart does not forget it. */
export interface StartOvers {
  readonly count: number
  /** Unix milliseconds before which there is no next one. undefined: it is not known yet whether the last one helped. */
  readonly notBeforeMs: number | undefined
}

/**
 * The only writer of one network's shard. All methods are synchronous and atomic: they return after the commit, or throw
 * and leave the shard as it was. The network's row on the status board moves after the commit.
 */
export interface ShardWriter {
  checkpoint(): BlockHeader | undefined
  /** The first checkpoint that the shard ever had; undefined before there is one, and in stores of older builds. */
  origin(): BlockHeader | undefined
  /** Newest stored header at or below `block`. Only blocks with events and last blocks of batches have one. */
  headerAtOrBelow(block: BlockNumber): BlockHeader | undefined
  counts(): ShardCounts
  /** Root of the local exit tree at the checkpoint; fresh memory. */
  localExitRoot(): Hash
  /** The values that the contracts' getters must return at the checkpoint. */
  readonly contractState: ContractState
  /**
   * Stores one batch that follows the checkpoint.
   * @throws ChainDataError when counts or roots in the events do not follow from what is stored: nothing was stored.
   * @throws InvariantError when the store contradicts itself.
   */
  applyBlocks(batch: BlockBatch): void
  /**
   * Undoes every block above `ancestor` in one transaction. `ancestor` must have a stored header.
   * @throws FatalError `reorg_too_deep` when a block above `ancestor` has no undo any more.
   */
  revertTo(ancestor: BlockNumber): void
  /** The oldest block that `revertTo` can go back to. */
  oldestAncestor(): BlockHeader | undefined
  /**
   * Removes everything in one transaction, except what identifies the chain. A new epoch starts, as with any reorg.
   * @param startOvers stored in the same transaction.
   */
  startOver(startOvers: StartOvers): void
  /** undefined when the shard has never started over. */
  startOvers(): StartOvers | undefined
  noteStartOvers(startOvers: StartOvers): void
  /**
   * Stores whether the network is catching up. While it is, claims may be in blocks that it has not read yet, so no deposit to it
   * is ready. Survives restarts.
   */
  noteCatchingUp(isCatchingUp: boolean): void
  /** The first block whose log indices are numbered per transaction instead of per block; undefined while there is none. */
  perTransactionFrom(): BlockNumber | undefined
  /** Raises the newest final block without storing blocks. A lower block is ignored. */
  setFinalized(block: BlockNumber): void
  /** The next deposits and claims without a sender, oldest first, at most `limit`. */
  unresolvedSenders(limit: number): UnresolvedSender[]
  /** Stores senders in order. The first of each kind must be the row at that kind's watermark. */
  resolveSenders(resolved: readonly RowSender[]): void
  /** Numbers of rows whose senders are asked for again. */
  senderNotes(): SenderNotes
  /** At most `limit` noted rows in the order of kind and ordinal: those after `after`, then those from the start. */
  notedSenders(limit: number, after?: Pick<NotedSender, 'kind' | 'ordinal'>): NotedSender[]
  /**
   * Stores later answers about noted rows. A sender that is not provisional ends the note. Rows that are no longer noted, or were
   * replaced by other rows meanwhile, do not change.
   */
  correctSenders(corrected: readonly CorrectedSender[]): void
  /** Number of L1 info leaves that polling is done with; undefined while it has found nothing. */
  polledLeaves(): number | undefined
  /**
   * Stores global exit roots that the manager knew at the checkpoint when it was asked. Undoing the checkpoint's block undoes them
   * and `polledLeaves`.
   */
  addPolledGers(globalExitRoots: readonly Hash[], polledLeaves: number): void
  close(): Promise<void>
}
