import type { HaltReason } from '../board/haltReason.js'
import type { HeadPlace } from '../board/statusBoard.js'
import type { BlockHeader, Hash } from '../protocol/chainEvent.js'
import type { BlockNumber } from '../protocol/units.js'
import type { ContractState } from './contractState.types.js'
import type { NotedSender, NotedSendersRange, SenderNotes, UnresolvedSender } from './senders.types.js'
import type { CommandOutcome, ShardCommand, StartOvers } from './shardCommand.types.js'
import type { LogPlace, LogSettings, ShardMark, TableStretch } from './shardLog.types.js'

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

/** What notes have told of a network: why it stands still, and where its chain's head is. */
export interface NotedState {
  readonly halt: HaltReason
  readonly headPlace: HeadPlace
}

/**
 * The only writer of one network's shard: reads, and one door for changes. All methods are synchronous. The network's row on the
 * status board shows a commit when the method returns.
 */
export interface ShardWriter {
  /**
   * Applies one command in one transaction, and returns after the commit. Whoever has no use for the refusal calls `applyOrThrow`.
   * @param place of the command in the log that the shard follows, stored in the same transaction; undefined: it follows none.
   * @throws InvariantError when the store contradicts itself, or was given this place before; DivergedError when it differs from a mark of its log; FatalError for a command
   *   without a place when the shard follows a log; errors of LMDB and of the disk. The shard is as it was then.
   */
  apply(command: ShardCommand, place?: LogPlace): CommandOutcome
  /** Whether a note or a finality is stored already, so that the command would change nothing. False for all other commands. */
  saysNothingNew(command: ShardCommand): boolean
  checkpoint(): BlockHeader | undefined
  /** The first checkpoint that the shard ever had; undefined before there is one, and in stores of older builds. */
  origin(): BlockHeader | undefined
  /** Newest stored header at or below `block`. Only blocks with events and last blocks of batches have one. */
  headerAtOrBelow(block: BlockNumber): BlockHeader | undefined
  /** The oldest block that `revertTo` can go back to. */
  oldestAncestor(): BlockHeader | undefined
  counts(): ShardCounts
  /** Root of the local exit tree at the checkpoint; fresh memory. */
  localExitRoot(): Hash
  /** The values that the contracts' getters must return at the checkpoint. */
  readonly contractState: ContractState
  /** undefined when the shard has never started over. */
  startOvers(): StartOvers | undefined
  /** The first block whose log indices are numbered per transaction instead of per block; undefined while there is none. */
  perTransactionFrom(): BlockNumber | undefined
  /** The next deposits and claims without a sender, oldest first, at most `limit`. */
  unresolvedSenders(limit: number): UnresolvedSender[]
  /** Numbers of rows whose senders are asked for again. */
  senderNotes(): SenderNotes
  /** At most `limit` noted rows in the order of kind and ordinal: those after `after`, then those from the start. */
  notedSenders(range: NotedSendersRange): NotedSender[]
  /** Number of L1 info leaves that polling is done with; undefined while it has found nothing. */
  polledLeaves(): number | undefined
  /** As a fresh shard has it: no halt, in step. */
  noted(): NotedState
  /** The place of the newest command that was given to the shard, applied or refused; undefined: none was, or it follows no log. */
  logPlace(): LogPlace | undefined
  /** What the first command of its log said. */
  logSettings(): LogSettings | undefined
  /** What the shard holds now, for other shards that follow the same log. */
  mark(stretch: TableStretch): ShardMark
  /** The stretch to mark after this one. Round and round they cover every table. */
  stretchAfter(stretch: TableStretch): TableStretch
  close(): Promise<void>
}

/** What whoever proposes commands reads of the shard in which they end. */
export type ShardReads = Omit<ShardWriter, 'apply' | 'close'>
