import type { HaltReason } from '../board/haltReason.js'
import type { StatusRow } from '../board/statusBoard.js'
import { ClusterUnavailableError } from '../cluster/clusterFaults.js'
import type { CommandLog } from '../cluster/commandLog.js'
import type { KeyBoard, Revision } from '../cluster/keyBoard.js'
import { LEASE_TIMING, takeLease } from '../cluster/lease.js'
import type { LogSequence } from '../cluster/logStream.js'
import { RetryableError } from '../errors/chainErrors.js'
import { BoardNotes } from '../shard/boardNotes.js'
import type { Proposer } from '../shard/proposer.js'
import type { LogSettings, TableStretch } from '../shard/shardLog.types.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import type { Clock } from '../telemetry/clocks.js'
import { LogFollower } from './logFollower.js'
import { LogProposer, OvertakenError } from './logProposer.js'
import { StepDown } from './stepDown.js'
import { TermProposer } from './termProposer.js'

/** Time between two marks. With so many entries each, a store of a gigabyte was compared once in some hours. */
const MARK_EVERY_MS = 30_000
const ENTRIES_PER_MARK = 256
/** Whoever was asked to step down leaves the lease to others for so long: they look for it four times a second. */
const AFTER_STEP_DOWN_MS = 1_000

/** Halts for which the machine of one instance is to blame: others may be well. */
const OF_ONE_MACHINE: readonly HaltReason[] = [
  'disk_full',
  'data_folder_lost',
  'corrupt_store',
  'newer_command',
  'log_full',
  'diverged',
  'behind_log',
]

/** What whoever leads a network works with. */
export interface Term {
  readonly proposer: Proposer
  /** This network's row of the status board. Halts and the head's place that are written to it reach all instances. */
  readonly row: StatusRow
  /** Of its lease: later ones are bigger. */
  readonly revision: Revision
  /** Aborted when the term is over. */
  readonly signal: AbortSignal
}

export interface ReplicaOptions {
  readonly log: CommandLog
  readonly leases: KeyBoard
  readonly writer: ShardWriter
  /** Of the status board that `writer` publishes on. */
  readonly row: StatusRow
  /** This instance's own. With them it begins a log that nobody has begun. */
  readonly settings: LogSettings
  readonly clock: Clock
  /** Id of this process, not empty: another one after each start. */
  readonly holder: string
  /** @returns 16 bytes that no other command has. */
  readonly newId: () => Uint8Array
  /** False: follows only. */
  readonly mayLead: boolean
  /** How much longer than others this instance leaves a lease alone: those that lead fewer networks come first. */
  readonly reluctanceMs?: () => number
  /** Called when everything up to a message was read and applied. */
  readonly onRead?: (sequence: LogSequence) => void
  /** Called when a message was left out because it is no command, whichever build reads it. */
  readonly onLeftOut?: (sequence: LogSequence, problem: string) => void
  /** Called while this instance leads: after each command whether the log had room for it, and at the end of a term with true. */
  readonly onRoom?: (hasRoom: boolean) => void
  /**
   * Proposes what the chain says until the term is over. Called anew for each term: what the last one remembered of the shard is old,
   * since others have changed it in between.
   */
  readonly lead: (term: Term) => Promise<void>
}

/**
 * The life of one network in one instance of a cluster: follows its log, and leads whenever it holds the lease. Ends when the signal is
 * aborted; the shard may be closed then.
 * @throws what `LogFollower.follow` throws, and what `lead` throws while its term goes on.
 */
export async function runReplica(options: ReplicaOptions, signal: AbortSignal): Promise<void> {
  const stop = new AbortController()
  const life = AbortSignal.any([signal, stop.signal])
  const follower = new LogFollower(options)
  const marks = new Marks(options.writer)
  const stepDown = new StepDown(options.clock)
  const following = follower.follow(life).finally(() => stop.abort())
  // Met below, when the last term is over.
  following.catch(() => undefined)
  try {
    if (!options.mayLead) await following
    while (!life.aborted) await leadOnce(options, { follower, marks, stepDown }, life)
  } finally {
    stop.abort()
    await following
  }
}

/** What outlives the terms of an instance. */
interface Parts {
  readonly follower: LogFollower
  readonly marks: Marks
  readonly stepDown: StepDown
}

/** Waits for the lease, and leads until it is lost, another instance has proposed or should try, or life ends. */
async function leadOnce(
  options: ReplicaOptions,
  { follower, marks, stepDown }: Parts,
  life: AbortSignal,
): Promise<void> {
  const { leases, settings, holder, clock, row, writer, lead } = options
  const early = new AbortController()
  let signal: AbortSignal = life
  try {
    await stepDown.stayAway(life)
    const lease = await takeLease(
      leases,
      String(settings.networkId),
      holder,
      LEASE_TIMING,
      clock,
      life,
      options.reluctanceMs,
    )
    signal = AbortSignal.any([life, lease.ended, early.signal])
    try {
      const log = await LogProposer.open({ ...options, follower, signal }, settings)
      const proposer = new TermProposer(log, (reason) => early.abort(reason))
      const noted = writer.noted()
      const notes = new BoardNotes({ row, noted, untold: OF_ONE_MACHINE, proposer, clock, signal })
      try {
        await notes.takeOver()
        void marks.propose(proposer, clock, signal)
        void stepDown.watch(row, signal, (reason) => early.abort(reason))
        await lead({ proposer, row: notes.row, revision: lease.term, signal })
      } finally {
        notes.end()
      }
    } finally {
      options.onRoom?.(true)
      const wasTaken = lease.wasTaken()
      await lease.release()
      if (wasTaken) await clock.sleep(AFTER_STEP_DOWN_MS, life)
    }
  } catch (error) {
    const isOver =
      signal.aborted || error instanceof OvertakenError || error instanceof ClusterUnavailableError
    if (!isOver) throw error
  }
}

/** What the shards of all instances are compared by, stretch after stretch, through all terms of this instance. */
class Marks {
  readonly #writer: Pick<ShardWriter, 'mark' | 'stretchAfter'>
  #stretch: TableStretch = { table: 'meta', from: Uint8Array.of(0), entries: ENTRIES_PER_MARK }

  constructor(writer: Pick<ShardWriter, 'mark' | 'stretchAfter'>) {
    this.#writer = writer
  }

  /** Gives the log marks until the signal is aborted. Never throws: what ends it ends the term, and is met there. */
  async propose(proposer: TermProposer, clock: Clock, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(MARK_EVERY_MS, signal)
        await proposer
          .proposeMade(() => {
            this.#stretch = this.#writer.stretchAfter(this.#stretch)
            return { type: 'mark', mark: this.#writer.mark(this.#stretch) }
          })
          .catch(onlyWhenFull)
      }
    } catch {
      // The term is over.
    }
  }
}

/** A log without room for a mark may have room later. @throws every other error. */
function onlyWhenFull(error: unknown): void {
  if (!(error instanceof RetryableError)) throw error
}
