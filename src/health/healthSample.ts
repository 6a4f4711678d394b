import { isPutBack, type StatusRow } from '../board/statusBoard.js'
import type { HealthConfig } from '../config/config.types.js'

/** A state that does not flap: three bad samples in a row switch it on, two good ones switch it off. */
export interface Streak {
  readonly on: boolean
  /** Samples in a row that contradict `on`. */
  readonly against: number
}

const BAD_TO_LEAVE = 3
const GOOD_TO_RETURN = 2

const QUIET: Streak = { on: false, against: 0 }

function nextStreak(streak: Streak, isBad: boolean): Streak {
  if (isBad === streak.on) return streak.against === 0 ? streak : { on: streak.on, against: 0 }
  const against = streak.against + 1
  return against >= (streak.on ? GOOD_TO_RETURN : BAD_TO_LEAVE)
    ? { on: isBad, against: 0 }
    : { on: streak.on, against }
}

/** What must be watched over time in one network. Everything else is read from the status row on demand. */
export interface NetworkSample {
  /** Behind the head by more than `syncedLagBlocks`. */
  readonly lag: Streak
  /** Behind the head by more than `maxLagBlocks`. */
  readonly maxLag: Streak
  /** No endpoint answers. */
  readonly rpc: Streak
  /** When the current samples without any head that fits the stored blocks began; 0 = the last sample saw such a head. */
  readonly cutOffSinceMs: number
  readonly head: SampledHead
  readonly life: SampledLife
}

/** Number of the indexer thread's heartbeats, and the time of the first sample with this number. */
interface SampledLife {
  readonly beats: number
  readonly sinceMs: number
}

/** A head as the status board has it, unknown ones too, and the time of the first sample with it. */
interface SampledHead {
  readonly block: number | undefined
  readonly timestampSec: number | undefined
  readonly sinceMs: number
}

export const FIRST_SAMPLE: NetworkSample = {
  lag: QUIET,
  maxLag: QUIET,
  rpc: QUIET,
  cutOffSinceMs: 0,
  head: { block: undefined, timestampSec: undefined, sinceMs: 0 },
  life: { beats: 0, sinceMs: 0 },
}

/** A head must not have moved for this long before the network is stalled, however old its timestamp is. */
const UNMOVED_MS = 60_000

/** Blocks behind the head, all blocks while none is stored; 0 while the head is unknown. */
export function lagBlocks(row: StatusRow): number {
  const head = row.get('headBlock')
  if (head === undefined) return 0
  const synced = row.get('syncedBlock')
  return synced === undefined ? head + 1 : Math.max(0, head - synced)
}

/** Chain time between the head and the last stored block; undefined while one of them is unknown. */
export function lagSeconds(row: StatusRow): number | undefined {
  const [head, synced] = [row.get('headTimestampSec'), row.get('syncedTimestampSec')]
  return head === undefined || synced === undefined ? undefined : Math.max(0, head - synced)
}

/** Seconds since the head's timestamp, at least 0 because clocks differ; undefined while the head is unknown. */
export function headAgeSeconds(row: StatusRow, unixMs: number): number | undefined {
  const timestampSec = row.get('headTimestampSec')
  return timestampSec === undefined ? undefined : Math.max(0, Math.floor(unixMs / 1000 - timestampSec))
}

/** Milliseconds since the servers last told the end of the network's log, on the clock of `logHeardMs`; undefined before the first time. */
export function logAgeMs(row: StatusRow, nowMs: number): number | undefined {
  const heardMs = row.get('logHeardMs')
  return heardMs === undefined ? undefined : Math.max(0, nowMs - heardMs)
}

/** Milliseconds since the newest snapshot of the network was made, by its maker's clock; undefined while there is none. */
export function snapshotAgeMs(row: StatusRow, nowUnixMs: number): number | undefined {
  const madeMs = row.get('snapshotMadeMs')
  return madeMs === undefined ? undefined : Math.max(0, nowUnixMs - madeMs)
}

/**
 * Whether the chain stands still: its head is old and has not moved for a while.
 * @param limitMs oldest head that is not stalled; 0 = any age.
 */
export function isStalled(
  { head }: NetworkSample,
  row: StatusRow,
  limitMs: number,
  { nowMs, unixMs }: { readonly nowMs: number; readonly unixMs: number },
): boolean {
  const age = headAgeSeconds(row, unixMs)
  if (limitMs === 0 || age === undefined || 1000 * age <= limitMs) return false
  return isSameHead(head, row) && nowMs - head.sinceMs >= UNMOVED_MS
}

function isSameHead(head: SampledHead, row: StatusRow): boolean {
  return head.block === row.get('headBlock') && head.timestampSec === row.get('headTimestampSec')
}

/** Takes the next sample of one network. Lag does not count before the network has caught up once: until then it is `syncing`. */
export function sampleNetwork(
  previous: NetworkSample,
  row: StatusRow,
  config: HealthConfig,
  nowMs: number,
): NetworkSample {
  const lag = row.get('caughtUp') === 1 ? lagBlocks(row) : 0
  const beats = row.get('heartbeats')
  const isDown = row.get('rpcDown') === 1
  return {
    lag: nextStreak(previous.lag, lag > config.syncedLagBlocks),
    maxLag: nextStreak(previous.maxLag, lag > config.maxLagBlocks),
    rpc: nextStreak(previous.rpc, isDown),
    cutOffSinceMs: isDown || isPutBack(row) ? previous.cutOffSinceMs || nowMs : 0,
    head: isSameHead(previous.head, row)
      ? previous.head
      : { block: row.get('headBlock'), timestampSec: row.get('headTimestampSec'), sinceMs: nowMs },
    life: beats === previous.life.beats ? previous.life : { beats, sinceMs: nowMs },
  }
}
