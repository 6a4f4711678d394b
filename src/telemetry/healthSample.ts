import type { HealthConfig } from '../config/config.types.js'
import { isPutBack, type StatusRow } from './statusBoard.js'

/** A judgement that does not flap: three bad samples in a row switch it on, two good ones off. */
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

/** What must be watched over time in one network; everything else is read from the status row when asked. */
export interface NetworkSample {
  /** Behind the head by more than `syncedLagBlocks`. */
  readonly lag: Streak
  /** Behind the head by more than `maxLagBlocks`. */
  readonly maxLag: Streak
  /** No endpoint answers. */
  readonly rpc: Streak
  /** Milliseconds of the clock at the first of the samples in a row that found no endpoint with our chain; 0 = there is one. */
  readonly cutOffSinceMs: number
}

export const FIRST_SAMPLE: NetworkSample = { lag: QUIET, maxLag: QUIET, rpc: QUIET, cutOffSinceMs: 0 }

/** Blocks behind the head; 0 while the head is unknown. */
export function lagBlocks(row: StatusRow): number {
  return row.get('headBlock') < 0 ? 0 : Math.max(0, row.get('headBlock') - row.get('syncedBlock'))
}

/** The next sample of one network. Lag does not count before the network has caught up once: that is `syncing`. */
export function sampleNetwork(
  previous: NetworkSample,
  row: StatusRow,
  config: HealthConfig,
  nowMs: number,
): NetworkSample {
  const lag = row.get('caughtUp') === 1 ? lagBlocks(row) : 0
  const isDown = row.get('rpcDown') === 1
  return {
    lag: nextStreak(previous.lag, lag > config.syncedLagBlocks),
    maxLag: nextStreak(previous.maxLag, lag > config.maxLagBlocks),
    rpc: nextStreak(previous.rpc, isDown),
    cutOffSinceMs: isDown || isPutBack(row) ? previous.cutOffSinceMs || nowMs : 0,
  }
}
