import { type HaltReason, haltReasons } from './haltReason.js'

/**
 * Health and sync numbers of every network in one SharedArrayBuffer. An indexer thread writes its own network's row, the
 * front thread and the pool read all rows. Every field is a 64-bit integer moved with Atomics, so no read is torn.
 */
const fields = [
  /** Increases with each commit, and with everything else that makes kept answers void. */
  'tip',
  /** 1 from before a commit's data can be read until `tip` has moved: what is read meanwhile may be older or newer than `tip`. */
  'committing',
  /** Number of the newest commit of the store that the row tells of; −1 = of none. */
  'toldCommit',
  /** Grows with each reorg and each cut of the exit tree; answers of another epoch are void. */
  'epoch',
  /** Newest block that the chain's RPC told of; −1 = unknown. */
  'headBlock',
  /** Unix seconds of that block; −1 = unknown. */
  'headTimestampSec',
  /** Last block whose data is stored; −1 = none. */
  'syncedBlock',
  'syncedTimestampSec',
  /** Newest block that counts as final; −1 = unknown. */
  'finalizedBlock',
  'depositCount',
  'claimCount',
  /** `depositCount()` of the contract at a block we have indexed; −1 = not read. */
  'contractDepositCount',
  /** Deposits and claims whose sender is not resolved yet. */
  'unresolvedSenders',
  /** 1 while claims may be missing, so that nothing is ready here, wherever the checkpoint stands. */
  'catchingUp',
  /** 1 once the checkpoint has been at the head; goes back only when everything is read again. */
  'caughtUp',
  /** Position in `haltReasons`; 0 = running. */
  'haltReason',
  /** Threads that change `haltReason` at the moment: it may be read already, and nobody was told to look. */
  'halting',
  /** 1 while no endpoint of the network answers. */
  'rpcDown',
  /** One of `headPlaces`: the chain's head compared with the stored blocks. Nothing is ready on a network whose head is below them. */
  'headPlace',
  /** 1 while the bridge is in emergency state. */
  'emergencyState',
  /** Number of reorgs followed since the process started. */
  'reorgs',
  /** Milliseconds since 1970 of the last commit, for people; 0 = none. */
  'lastCommitMs',
  /** `monotonicMs()` of the last commit; 0 = none. */
  'progressMs',
  /** Number of heartbeats of the indexer thread. The reader measures how long none came. */
  'heartbeats',
  /** Leaves of the L1 info tree (network 0). */
  'l1InfoLeafCount',
  /** Bytes of the store's file in use. */
  'storeBytes',
  /** `tip` of the L1's shard up to which this network was asked for global exit roots; −1 = its events tell of them. */
  'polledL1Tip',
  /** Number of times that the store was emptied to be read again since the process started. */
  'startOvers',
  /** 1 when the last comparison with the contracts' own state was answered, 0 when no endpoint could tell; −1 = none yet. */
  'contractsCompared',
  /** `tip` of the L1's shard up to which this network's settled exit roots were searched in its tree; −1 = not yet. */
  'searchedL1Tip',
  /** Rows whose caller is tx.from until a trace is available. */
  'provisionalSenders',
  /** Rows whose transaction no endpoint knows. */
  'unknownSenders',
  /** Those of them that are so new that they still keep `is_synced` false. */
  'awaitedSenders',
] as const

export type StatusField = (typeof fields)[number]

/** Values of `headPlace`, ascending by what may be gone: each includes what the ones before it mean. */
export const headPlaces = {
  /** At or above the checkpoint, or below it only for a moment. */
  inStep: 0,
  /** Stays below the checkpoint: what is stored above may be gone. */
  below: 1,
  /** Also below a block that was served as final. */
  belowFinal: 2,
  /** No head that fits what is stored was seen since the start: the chain may have been put back meanwhile. */
  unseen: 3,
} as const

export type HeadPlace = (typeof headPlaces)[keyof typeof headPlaces]

const INITIAL: Partial<Record<StatusField, number>> = {
  toldCommit: -1,
  headBlock: -1,
  headTimestampSec: -1,
  syncedBlock: -1,
  syncedTimestampSec: -1,
  finalizedBlock: -1,
  contractDepositCount: -1,
  polledL1Tip: -1,
  contractsCompared: -1,
  searchedL1Tip: -1,
}

const FIELD_INDEX = Object.fromEntries(fields.map((field, index) => [field, index])) as Record<
  StatusField,
  number
>

/**
 * For a commit that can be read to be told: mostly a tenth of a millisecond is enough. An indexer's thread that was put aside gets
 * the core that the waiting one leaves; one that died is waited for in vain.
 */
const LONGEST_WAIT_MS = 100

/** Fields that tell whether answers may have changed. A write of one is counted, so that readers need not compare them all. */
const COUNTED: ReadonlySet<StatusField> = new Set([
  'tip',
  'committing',
  'epoch',
  'headPlace',
  'haltReason',
  'halting',
])

/** One network's row. All numbers are safe integers. */
export interface StatusRow {
  get(field: StatusField): number
  set(field: StatusField, value: number): void
  add(field: StatusField, delta: number): void
  headPlace(): HeadPlace
  /** For the thread that commits: makes kept answers void, as a commit does. */
  setHeadPlace(place: HeadPlace): void
  /** Says that the row tells of commit `commit` of the store now. */
  tellCommit(commit: number): void
  /** Waits until it does, for a moment at most. Nothing to wait for where nobody writes the store. */
  awaitCommit(commit: number): void
  haltReason(): HaltReason
  setHaltReason(reason: HaltReason): void
  /** Sets the reason if it still is `from`: another thread may set one at any time. @returns whether it was. */
  replaceHaltReason(from: HaltReason, reason: HaltReason): boolean
}

/** What crosses to a thread: plain data with the shared memory inside. */
export interface StatusBoardHandle {
  readonly networkIds: readonly number[]
  readonly memory: SharedArrayBuffer
}

/** Made once by the main thread, before any other thread starts. */
export function createStatusBoard(networkIds: readonly number[]): StatusBoardHandle {
  // One more cell, for the count of changes.
  const handle = { networkIds, memory: new SharedArrayBuffer(8 * (fields.length * networkIds.length + 1)) }
  for (const networkId of networkIds) {
    const row = statusRow(handle, networkId)
    for (const field of fields) row.set(field, INITIAL[field] ?? 0)
  }
  return handle
}

/** @throws RangeError for a network that the board has no row for. */
export function statusRow(handle: StatusBoardHandle, networkId: number): StatusRow {
  const position = handle.networkIds.indexOf(networkId)
  if (position < 0) throw new RangeError(`network ${networkId} has no row on the status board`)
  const cells = new BigInt64Array(handle.memory, 8 * fields.length * position, fields.length)
  const changes = changeCell(handle)
  // Behind the write: who still sees the old count may see a newer field, and reads again once the count has moved.
  const count = (field: StatusField): void => {
    if (COUNTED.has(field)) Atomics.add(changes, 0, 1)
  }
  const get = (field: StatusField): number => Number(Atomics.load(cells, FIELD_INDEX[field]))
  const set = (field: StatusField, value: number): void => {
    Atomics.store(cells, FIELD_INDEX[field], BigInt(value))
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
      // Other threads may act on the new place as soon as they can read it, so answers kept before must be void by then.
      set('committing', 1)
      set('headPlace', place)
      add('tip', 1)
      set('committing', 0)
    },
    tellCommit: (commit) => {
      set('toldCommit', commit)
      Atomics.notify(cells, FIELD_INDEX.toldCommit)
    },
    awaitCommit: (commit) => {
      const told = get('toldCommit')
      if (told >= 0 && told < commit)
        Atomics.wait(cells, FIELD_INDEX.toldCommit, BigInt(told), LONGEST_WAIT_MS)
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

/** Blocks are stored and the chain's head was not compared with them yet: nothing is ready there. */
export function awaitsHead(row: StatusRow): boolean {
  return row.get('syncedBlock') >= 0 && row.headPlace() === headPlaces.unseen && row.haltReason() === 'none'
}

/** The head stays below what is stored. */
export function isPutBack(row: StatusRow): boolean {
  const place = row.headPlace()
  return place === headPlaces.below || place === headPlaces.belowFinal
}

/** Reads a number that moves with each write of a `COUNTED` field of any network, and starts over after 2^32. */
export function changeReader(handle: StatusBoardHandle): () => number {
  const cell = changeCell(handle)
  return () => Atomics.load(cell, 0)
}

function changeCell({ networkIds, memory }: StatusBoardHandle): Int32Array<SharedArrayBuffer> {
  return new Int32Array(memory, 8 * fields.length * networkIds.length, 1)
}
