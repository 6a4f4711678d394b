import type { Address, Hash, Sender } from '../protocol/chainEvent.js'
import type { BlockNumber, ClaimOrdinal, DepositCount, NetworkId } from '../protocol/units.js'

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

/**
 * A deposit or claim, and the log whose transaction tells its sender: its own, or for a leaf of ForwardLET that repeats a deposit
 * which was cut off, that deposit's. After a reorg or a cut its ordinal may name another row, of another log.
 */
export interface RowLog {
  readonly kind: 'deposit' | 'claim'
  readonly ordinal: DepositCount | ClaimOrdinal
  readonly transactionHash: Hash
  readonly logIndex: number
  readonly blockNumber: BlockNumber
}

/** A deposit or claim whose sender is still to be found. */
export interface UnresolvedSender extends RowLog {
  /** All deposits, claims, set claims and ForwardLETs of the transaction, this one included, by log index. */
  readonly transactionLogs: readonly TransactionLog[]
}

/** The sender of a row of this log, and of no other one. */
export interface RowSender extends RowLog {
  /** null: no endpoint knows the transaction. Rows without a sender, or with a provisional one, are noted and asked for again. */
  readonly sender: Sender | null
}

/** A row whose sender is unknown or provisional, and is asked for again. */
export interface NotedSender extends UnresolvedSender {
  /** True: no endpoint knew the transaction. False: the caller is tx.from because no trace was available. */
  readonly isUnknown: boolean
}

/** Which noted rows are read. */
export interface NotedSendersRange {
  readonly limit: number
  readonly after?: Pick<NotedSender, 'kind' | 'ordinal'> | undefined
  /** Not those with a provisional sender. All notes are read for that. */
  readonly onlyUnknown?: boolean
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
