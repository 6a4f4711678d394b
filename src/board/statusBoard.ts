import { createIndexerCounts, type IndexerCountsHandle } from '../telemetry/counts/indexerCounts.js'
import { type HaltReason, haltReasons, isInDoubt } from './haltReason.js'

/**
 * Health and sync numbers of every network in one SharedArrayBuffer. An indexer thread writes its own network's row, the
 * front thread and the pool read all rows. Every field is a 64-bit integer moved with Atomics, so no read is torn.
 */
const fields = [
  /** Increases with each commit, and with each change of `headPlace`, which is published as a commit is. */
  'commits',
  /** 1 from before readers can see a commit until `commits` has moved: what they read meanwhile may be older or newer than `commits`. */
  'committing',
  /** Number of the newest commit of the store that this row includes; unknown while there is none. */
  'publishedCommit',
  /** Number of rewinds of the shard. Answers made in another epoch are void. */
  'epoch',
  /** Newest block that an endpoint has reported. */
  'headBlock',
  /** Unix seconds of that block. */
  'headTimestampSec',
  /** Last block whose data is stored; unknown while there is none. */
  'syncedBlock',
  'syncedTimestampSec',
  /** Newest block that counts as final. */
  'finalizedBlock',
  'depositCount',
  'claimCount',
  /** `depositCount()` of the contract at a block we have indexed; unknown until it is read. */
  'contractDepositCount',
  /** Deposits and claims whose sender is not resolved yet. */
  'unresolvedSenders',
  /** 1 while claims may be missing: no deposit to this network is ready then, even with the checkpoint at the head. */
  'catchingUp',
  /** 1 once the checkpoint has reached the head; 0 again only when the network starts over. */
  'caughtUp',
  /** Position in `haltReasons`; 0 = running. */
  'haltReason',
  /** Number of threads that are changing `haltReason` now: readers may see the new reason before the count of changes has moved. */
  'halting',
  /** 1 while no endpoint of the network answers. */
  'rpcDown',
  /** One of `headPlaces`: where the chain's head is, compared with the stored blocks. No deposit to a network whose head is below them is ready. */
  'headPlace',
  /** 1 while the bridge is in emergency state. */
  'emergencyState',
  /** Number of reorgs followed since the process started. */
  'reorgs',
  /** Unix milliseconds of the last commit, shown to people; unknown while there is none. */
  'lastCommitMs',
  /** `monotonicMs()` of the last commit, for measuring durations; unknown while there is none. */
  'progressMs',
  /** Number of heartbeats of the indexer thread. The main thread measures how long the number has not moved. */
  'heartbeats',
  /** Leaves of the L1 info tree (network 0). */
  'l1InfoLeafCount',
  /** Size of the store's file in bytes. */
  'storeBytes',
  /** `commits` of the L1's row up to which this network's contract was asked for global exit roots; unknown where its events name them. */
  'polledL1Commits',
  /** How often this network has started over since the process started. */
  'startOvers',
  /** 1 when the last audit got its answers from the contracts, 0 when no endpoint could give them; unknown before the first audit. */
  'contractsCompared',
  /** `commits` of the L1's row up to which this network's tree was searched for its settled local exit roots; unknown before that. */
  'searchedL1Commits',
  /** Deposits and claims whose caller is taken from tx.from until a trace is available. */
  'provisionalSenders',
  /** Deposits and claims whose transaction no endpoint knows. */
  'unknownSenders',
  /** Those of `unknownSenders` that are new enough to keep `is_synced` false. */
  'awaitedSenders',
  /**
   * Words of 256 deposits that the other networks may have in all before claims must be compared with the contract here; unknown while
   * nothing was compared since the start: no bound.
   */
  'comparedClaimWords',
  /** Which feed of events the shard has: 48 random bits. */
  'feedId',
  /** Sequence of the oldest event of the feed that is kept. */
  'feedOldest',
  /** Sequence of its newest event, set after the two above; 0 before the first. */
  'feedNewest',
  /**
   * Sequence of the feed behind which events stand that lists of this instance may not show yet: they were worked out from shards of other
   * networks that are newer than this instance's. Unknown while there is none.
   */
  'feedAhead',
  /** 1 while this instance leads the network in its cluster. The fields below are those of a cluster only. */
  'leads',
  /** Sequence up to which the log was read and applied. */
  'logSequence',
  /** Sequence of the last message that the log is known to have. */
  'logEnd',
  /** Time that the shard is behind the log, at most. */
  'logLagMs',
  /** `monotonicMs()` when the servers last told the end of the log; unknown before. */
  'logHeardMs',
  /** Verified snapshots of the network that the servers have. */
  'snapshots',
  /** Place in the log of the newest one; unknown while there is none. */
  'snapshotSequence',
  /** Unix milliseconds when it was made, by its maker's clock; unknown while there is none. */
  'snapshotMadeMs',
  /** What it takes in the object store; unknown while there is none. */
  'snapshotBytes',
  /** Snapshots that this instance could not make, or not take over, since the process started. */
  'snapshotFailures',
] as const

export type StatusField = (typeof fields)[number]

/** Fields that may be unknown, as they are at first. The others are 0 at first. */
const maybeUnknown = [
  'publishedCommit',
  'headBlock',
  'headTimestampSec',
  'syncedBlock',
  'syncedTimestampSec',
  'finalizedBlock',
  'contractDepositCount',
  'polledL1Commits',
  'contractsCompared',
  'searchedL1Commits',
  'comparedClaimWords',
  'feedAhead',
  'logSequence',
  'logEnd',
  'logHeardMs',
  'snapshotSequence',
  'snapshotMadeMs',
  'snapshotBytes',
  'lastCommitMs',
  'progressMs',
] as const satisfies readonly StatusField[]

type MaybeUnknownField = (typeof maybeUnknown)[number]
type ValueOf<Field extends StatusField> = Field extends MaybeUnknownField ? number | undefined : number

/** How an unknown field is written in the shared memory, and nowhere else. */
const UNKNOWN = -1

/** Values of `headPlace`. The higher the value, the more of the stored blocks may be gone from the chain. */
export const headPlaces = {
  /** At or above the checkpoint, or below it only for a moment. */
  inStep: 0,
  /** Stays below the checkpoint: the stored blocks above the head may be gone. */
  below: 1,
  /** Also below a block that was served as final. */
  belowFinal: 2,
  /** Since the start no head at or above the checkpoint was seen: the chain may have been put back while the service was down. */
  unseen: 3,
} as const

export type HeadPlace = (typeof headPlaces)[keyof typeof headPlaces]

const FIELD_INDEX = Object.fromEntries(fields.map((field, index) => [field, index])) as Record<
  StatusField,
  number
>

/**
 * How long a reader waits for the row to include a commit that its snapshot already has: mostly 0.1 ms is enough. The wait also
 * frees a core for an indexer thread that was scheduled away. The limit is for an indexer thread that has died.
 */
const LONGEST_WAIT_MS = 100

/** Fields whose change may change answers. The board counts their writes, so that readers compare one number. */
const COUNTED: ReadonlySet<StatusField> = new Set([
  'commits',
  'committing',
  'epoch',
  'headPlace',
  'haltReason',
  'halting',
])

/** One network's row. All numbers are safe integers. */
export interface StatusRow {
  /** @returns undefined where it is unknown. */
  get<Field extends StatusField>(field: Field): ValueOf<Field>
  set<Field extends StatusField>(field: Field, value: ValueOf<Field>): void
  add(field: Exclude<StatusField, MaybeUnknownField>, delta: number): void
  headPlace(): HeadPlace
  /** Also makes kept answers void, as a commit does. Only for the network's indexer thread, and for main before that starts. */
  setHeadPlace(place: HeadPlace): void
  /** Records that this row now includes commit `commit` of the store, and wakes the threads that wait for it. */
  publishCommit(commit: number): void
  /** Wakes the threads that wait for commits (`CommitWatch`) because the feed has grown without one. */
  announceFeed(): void
  /** Blocks the thread until the row includes commit `commit`, 100 ms at most. Returns at once while the row has published none. */
  awaitCommit(commit: number): void
  haltReason(): HaltReason
  setHaltReason(reason: HaltReason): void
  /** Sets the reason only if it still is `from`, since another thread may set one at any time. @returns whether it was `from`. */
  replaceHaltReason(from: HaltReason, reason: HaltReason): boolean
}

/** What is sent to other threads: plain data with the shared memory inside. */
export interface StatusBoardHandle {
  readonly networkIds: readonly number[]
  readonly memory: SharedArrayBuffer
  /** What indexer threads count, for metrics and the status of endpoints. */
  readonly counts: IndexerCountsHandle
}

/** The main thread calls it once, before any other thread starts. */
export function createStatusBoard(networkIds: readonly number[]): StatusBoardHandle {
  // One more cell, for the count of changes.
  const memory = new SharedArrayBuffer(8 * (fields.length * networkIds.length + 1))
  const handle = { networkIds, memory, counts: createIndexerCounts(networkIds) }
  for (const networkId of networkIds) {
    const row = statusRow(handle, networkId)
    for (const field of maybeUnknown) row.set(field, undefined)
  }
  return handle
}

/** @throws RangeError for a network that the board has no row for. */
export function statusRow(handle: StatusBoardHandle, networkId: number): StatusRow {
  const position = handle.networkIds.indexOf(networkId)
  if (position < 0) throw new RangeError(`network ${networkId} has no row on the status board`)
  const cells = new BigInt64Array(handle.memory, 8 * fields.length * position, fields.length)
  const changes = changeCell(handle)
  // Called after the write of the field: a reader that still sees the old count looks again once it has moved.
  const count = (field: StatusField): void => {
    if (COUNTED.has(field)) Atomics.add(changes, 0, 1)
    if (field === 'commits' || field === 'halting') Atomics.notify(changes, 0)
  }
  const get = <Field extends StatusField>(field: Field): ValueOf<Field> => {
    const value = Number(Atomics.load(cells, FIELD_INDEX[field]))
    // Every other field counts from 0 up.
    return (value === UNKNOWN ? undefined : value) as ValueOf<Field>
  }
  const set = (field: StatusField, value: number | undefined): void => {
    Atomics.store(cells, FIELD_INDEX[field], BigInt(value ?? UNKNOWN))
    count(field)
  }
  const add = (field: StatusField, delta: number): void => {
    Atomics.add(cells, FIELD_INDEX[field], BigInt(delta))
    count(field)
  }
  return {
    get,
    set,
    add,
    headPlace: () => get('headPlace') as HeadPlace,
    setHeadPlace: (place) => {
      // Other threads act on the new place as soon as they can read it. `committing` makes the kept answers void before that.
      set('committing', 1)
      set('headPlace', place)
      add('commits', 1)
      set('committing', 0)
    },
    publishCommit: (commit) => {
      set('publishedCommit', commit)
      Atomics.notify(cells, FIELD_INDEX.publishedCommit)
    },
    announceFeed: () => {
      Atomics.add(changes, 0, 1)
      Atomics.notify(changes, 0)
    },
    awaitCommit: (commit) => {
      const published = get('publishedCommit')
      if (published !== undefined && published < commit)
        Atomics.wait(cells, FIELD_INDEX.publishedCommit, BigInt(published), LONGEST_WAIT_MS)
    },
    haltReason: () => haltReasons[get('haltReason')] ?? 'internal_error',
    setHaltReason: (reason) => {
      add('halting', 1)
      set('haltReason', haltReasons.indexOf(reason))
      add('halting', -1)
    },
    replaceHaltReason: (from, reason) => {
      add('halting', 1)
      const [before, after] = [BigInt(haltReasons.indexOf(from)), BigInt(haltReasons.indexOf(reason))]
      const found = Atomics.compareExchange(cells, FIELD_INDEX.haltReason, before, after)
      add('halting', -1)
      return found === before
    },
  }
}

/**
 * Whether the network has stored blocks that were not yet compared with the chain's head: no deposit to it is ready, which seeing the head may
 * end.
 */
export function awaitsHead(row: StatusRow): boolean {
  return (
    row.get('syncedBlock') !== undefined &&
    row.headPlace() === headPlaces.unseen &&
    !isInDoubt(row.haltReason())
  )
}

/** Whether the head stays below the stored blocks. */
export function isPutBack(row: StatusRow): boolean {
  const place = row.headPlace()
  return place === headPlaces.below || place === headPlaces.belowFinal
}

/** @returns a function that reads the count of writes to `COUNTED` fields of all networks. The count wraps at 2^32. */
export function changeReader(handle: StatusBoardHandle): () => number {
  const cell = changeCell(handle)
  return () => Atomics.load(cell, 0)
}

/**
 * Wakes those of one thread that wait when any network has committed, or a halt has begun or ended, without looks. At most one waiter of the
 * thread stands in V8's list: one that no commit ended serves the next calls. It keeps neither the event loop nor the thread alive.
 */
export class CommitWatch {
  private readonly changes: Int32Array<SharedArrayBuffer>
  private readonly wakes = new Set<() => void>()
  private isWaiting = false

  constructor(handle: StatusBoardHandle) {
    this.changes = changeCell(handle)
  }

  /** To be taken before the rows are read, and passed to `onCommit` afterwards: so no commit is missed in between. */
  count(): number {
    return Atomics.load(this.changes, 0)
  }

  /**
   * Calls `wake` once, and not before this returns, after a commit that `count` did not include when it was `seen`. It may be called
   * without one.
   * @returns a function after which it is not called any more.
   */
  onCommit(seen: number, wake: () => void): () => void {
    const once = (): void => {
      if (this.wakes.delete(once)) wake()
    }
    this.wakes.add(once)
    if (!this.isWaiting) this.wait(seen)
    // The waiter may have come after a commit that this caller has not seen.
    else if (this.count() !== seen) queueMicrotask(once)
    return () => {
      this.wakes.delete(once)
    }
  }

  private wait(seen: number): void {
    const { async: isAsync, value } = Atomics.waitAsync(this.changes, 0, seen)
    this.isWaiting = true
    void (isAsync ? value : Promise.resolve()).then(() => {
      this.isWaiting = false
      for (const wake of [...this.wakes]) wake()
    })
  }
}

function changeCell({ networkIds, memory }: StatusBoardHandle): Int32Array<SharedArrayBuffer> {
  return new Int32Array(memory, 8 * fields.length * networkIds.length, 1)
}
