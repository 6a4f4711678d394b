import type { Address, BlockBatch, BlockHeader, Hash, Sender } from '../protocol/chainEvent.js'
import type { BlockNumber, ClaimOrdinal, DepositCount, NetworkId } from '../protocol/units.js'
import type { ContractState } from './contractState.types.js'

/** Numbers that are kept, not counted. */
export interface ShardCounts {
  readonly deposits: number
  readonly claims: number
  readonly l1InfoLeaves: number
  readonly unresolvedSenders: number
  /** Global exit roots that the network's manager was told of, again after a removal. */
  readonly gerInjections: number
}

/** One bridge log of a transaction, with what tells its call from the others. */
export interface TransactionLog {
  readonly logIndex: number
  readonly kind: 'deposit' | 'claim' | 'claimSet' | 'forwardLet'
  /** Deposits: 1 = a message, whose `originAddress` is its sender. */
  readonly leafType?: number
  /** Messages only. */
  readonly originAddress?: Address
  readonly depositCount?: DepositCount
  /** Claims: as emitted (V1: the bare index). */
  readonly globalIndex?: bigint
  readonly destinationNetwork?: NetworkId
  readonly destinationAddress?: Address
  readonly amount?: bigint
}

/** A deposit or claim whose sender backfill left open, in order. */
export interface UnresolvedSender {
  readonly kind: 'deposit' | 'claim'
  readonly ordinal: DepositCount | ClaimOrdinal
  readonly transactionHash: Hash
  readonly logIndex: number
  readonly blockNumber: BlockNumber
  /** All deposits, claims, set claims and ForwardLETs of the transaction, by log index: this one, and those beside it. */
  readonly transactionLogs: readonly TransactionLog[]
}

export interface ResolvedSender {
  readonly kind: 'deposit' | 'claim'
  readonly ordinal: DepositCount | ClaimOrdinal
  /** null: no endpoint knows the transaction. This and a provisional one are noted, to be asked for again. */
  readonly sender: Sender | null
}

/** A row with a resolved sender that is not certain and is asked for again. */
export interface NotedSender extends UnresolvedSender {
  /** True: no endpoint knew its transaction. False: its caller is tx.from because no trace was available. */
  readonly isUnknown: boolean
}

/** A later answer about a noted row. */
export interface CorrectedSender {
  /** As it was listed. */
  readonly row: NotedSender
  readonly sender: Sender
}

/** Noted rows. */
export interface SenderNotes {
  readonly fallback: number
  readonly unknown: number
}

/** How often a shard was emptied to be read again; a restart must not forget it. */
export interface StartOvers {
  readonly count: number
  /** Since 1970: the next one at the earliest. undefined: nobody knows yet what the last one was good for. */
  readonly notBeforeMs: number | undefined
}

/**
 * The only writer of one network's shard. All methods are synchronous and atomic: they return after the commit, or throw
 * and leave the shard as it was. `tip` / `epoch` and the counters on the status board move after the commit.
 */
export interface ShardWriter {
  checkpoint(): BlockHeader | undefined
  /** The first block that the shard stood on; undefined before, and in stores of older builds. */
  origin(): BlockHeader | undefined
  /** Newest stored header at or below `block` (the store keeps those of blocks with events and of batch ends). */
  headerAtOrBelow(block: BlockNumber): BlockHeader | undefined
  counts(): ShardCounts
  /** Root of the local exit tree at the checkpoint; fresh memory. */
  localExitRoot(): Hash
  /** What the contracts' own getters must say at the checkpoint. */
  readonly contractState: ContractState
  /**
   * Stores one batch that follows the checkpoint.
   * @throws ChainDataError when the events contradict the chain's arithmetic (counts, roots): nothing was stored.
   * @throws InvariantError when the store contradicts itself.
   */
  applyBlocks(batch: BlockBatch): void
  /**
   * Undoes every block above `ancestor`, which must have a stored header; one transaction.
   * @throws FatalError `reorg_too_deep` when undo for a block above `ancestor` is no longer kept.
   */
  revertTo(ancestor: BlockNumber): void
  /** The oldest block that `revertTo` can go back to. */
  oldestAncestor(): BlockHeader | undefined
  /**
   * Takes everything back, however old, in one transaction; what tells the chain stays. An epoch begins, as with any reorg.
   * @param startOvers what is noted with it.
   */
  startOver(startOvers: StartOvers): void
  /** undefined: none ever. */
  startOvers(): StartOvers | undefined
  noteStartOvers(startOvers: StartOvers): void
  /**
   * While it is catching up with history, a claim of what it tells may wait in blocks that it has not read: nothing with this
   * destination is ready. Kept over restarts.
   */
  noteCatchingUp(isCatchingUp: boolean): void
  /** First stored block from which on log indices are positions by transaction; undefined while there is none. */
  perTransactionFrom(): BlockNumber | undefined
  /** Moves finality without new blocks. Lower than before is ignored. */
  setFinalized(block: BlockNumber): void
  /** The next deposits and claims without a sender, oldest first, at most `limit`. */
  unresolvedSenders(limit: number): UnresolvedSender[]
  /** Fills senders in; each kind must continue at its watermark, in order. */
  resolveSenders(resolved: readonly ResolvedSender[]): void
  /** How many rows are noted. */
  senderNotes(): SenderNotes
  /** Noted rows in the order of kind and ordinal, at most `limit`, those behind `after` first and then from the start. */
  notedSenders(limit: number, after?: Pick<NotedSender, 'kind' | 'ordinal'>): NotedSender[]
  /**
   * Stores what was told of noted rows; a sender that is not provisional ends the note. Rows that are no longer noted, or are
   * others by now, are left as they are.
   */
  correctSenders(corrected: readonly CorrectedSender[]): void
  /** Leaves of the L1 info tree that polling has settled; undefined while it has found nothing. */
  polledLeaves(): number | undefined
  /**
   * Stores global exit roots that the manager was found to know at the checkpoint, by asking it. They are undone with the
   * checkpoint's block, and `polledLeaves` with them.
   */
  addPolledGers(globalExitRoots: readonly Hash[], polledLeaves: number): void
  close(): Promise<void>
}
