import type { Clock } from '../telemetry/clocks.js'
import { ClusterUnavailableError } from './clusterFaults.js'
import { type KeyBoard, type KeyEntry, NEVER_WRITTEN, type Revision } from './keyBoard.js'
import { Patience } from './patience.js'

/** Durations in ms, on clocks that need not agree about the time but run at about the same speed. */
export interface LeaseTiming {
  /** A candidate takes a lease whose key stood still for so long. */
  readonly leaseMs: number
  /** The holder stops to hold so long after it sent its last successful renewal. Must be shorter than `leaseMs`: the rest allows for clocks that run differently. */
  readonly holdMs: number
  readonly renewMs: number
  /** How often a candidate looks. */
  readonly lookMs: number
}

/** A fail-over takes at most leaseMs + lookMs: 3.25 s after the holder's last renewal. Two renewals may go unanswered before the hold ends. */
export const LEASE_TIMING: LeaseTiming = { leaseMs: 3_000, holdMs: 2_500, renewMs: 750, lookMs: 250 }

/**
 * The right to propose commands of one network. At most one instance holds it at a time, as long as no process is paused and no clock runs
 * much faster than another. Those who must not rely on that have the log: it refuses a command whose expected sequence is not the last.
 */
export interface HeldLease {
  /** Revision of the key when it was taken: each later holder has a bigger one. */
  readonly term: Revision
  /**
   * Aborted when the lease was lost or released, with an Error that says why: what the holder does with it must end. A process that was
   * paused sees it only after the pause.
   */
  readonly ended: AbortSignal
  /** Whether the lease is held at this moment, by the clock; right also before a timer that is late could abort `ended`. */
  isHeld(): boolean
  /** Whether it has ended because somebody else has written the key: another instance, or an operator who wants another one to lead. */
  wasTaken(): boolean
  /**
   * Gives the lease up at once and then tries, for at most a second, to say so on the board, so that another instance need not wait. Never
   * fails: if it could not be said, the others wait until the lease is over.
   */
  release(): Promise<void>
}

/** Value of a key whose lease was released. Otherwise the value is the holder's id. */
const RELEASED = ''

/** After that a renewal counts as lost: most of the hold must be left for others. */
const LONGEST_RENEWAL_MS = 500
const LONGEST_FAREWELL_MS = 1_000

/**
 * Waits until this instance holds the lease, and renews it from then on until `ended`.
 *
 * The key never expires by itself. The holder counts from before it sent a renewal; a candidate counts from when it has seen the
 * revision of that renewal, which is later, and for longer. So the holder has given up before another one may take over, and no
 * clock is compared with another.
 * @param holder id of this process, not empty: another one after each start. A process may hold each lease only once at a time.
 * @param reluctanceMs how much longer than others this instance leaves a lease alone that is free, or over.
 * @throws the signal's reason when it is aborted while waiting. It does not end a lease that is held.
 */
export async function takeLease(
  board: KeyBoard,
  key: string,
  holder: string,
  timing: LeaseTiming,
  clock: Clock,
  signal: AbortSignal,
  reluctanceMs: () => number = () => 0,
): Promise<HeldLease> {
  if (timing.holdMs >= timing.leaseMs || timing.renewMs >= timing.holdMs)
    throw new RangeError(
      `renew ${timing.renewMs} < hold ${timing.holdMs} < lease ${timing.leaseMs} ms must hold`,
    )
  const patience = new Patience(clock, signal)
  let seen: { readonly revision: Revision; readonly atMs: number } | undefined
  for (;;) {
    const taken = await patience.tryOnce(async () => {
      const entry = await board.find(key, signal)
      const revision = entry?.revision ?? NEVER_WRITTEN
      if (revision !== seen?.revision) seen = { revision, atMs: clock.now() }
      const sentAtMs = clock.now()
      const standsStillMs = sentAtMs - seen.atMs
      // A key that nobody has written yet stands still since the first look.
      const neededMs = (isFree(entry, holder) ? 0 : timing.leaseMs) + reluctanceMs()
      if (standsStillMs < neededMs) return 'no'
      const outcome = await board.write(key, holder, entry?.revision ?? NEVER_WRITTEN, signal)
      return outcome.type === 'written' ? { term: outcome.revision, sentAtMs } : 'no'
    })
    if (taken !== undefined && taken !== 'no')
      return new RenewedLease(board, key, holder, timing, clock, taken.term, taken.sentAtMs)
    if (taken === 'no') await clock.sleep(timing.lookMs * (0.75 + clock.random() / 4), signal)
  }
}

/** If we stand there ourselves, the answer to an earlier try was lost, or we have given up an earlier lease. */
function isFree(entry: KeyEntry | undefined, holder: string): boolean {
  return entry === undefined || entry.value === RELEASED || entry.value === holder
}

/** Who holds a lease, or held it last without saying goodbye. @throws ClusterUnavailableError; the signal's reason. */
export async function findHolder(
  board: KeyBoard,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return (await board.find(key, signal))?.value || undefined
}

/**
 * Takes a lease away from whoever holds it, and leaves it to whoever wants it: an instance that may lead and looks for it. The holder
 * notices at its next renewal; until then the log refuses what it proposes behind another one's command.
 * @returns who held it; undefined: nobody, so nothing was done.
 * @throws ClusterUnavailableError; the signal's reason.
 */
export async function takeAway(
  board: KeyBoard,
  key: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  const patience = new Patience(clock, signal)
  for (;;) {
    const entry = await board.find(key, signal)
    if (entry === undefined || entry.value === RELEASED) return undefined
    // A renewal in between has another revision.
    const outcome = await board.write(key, RELEASED, entry.revision, signal)
    if (outcome.type === 'written') return entry.value
    await patience.pause()
  }
}

class RenewedLease implements HeldLease {
  readonly term: Revision
  readonly ended: AbortSignal
  private readonly ending = new AbortController()
  private readonly board: KeyBoard
  private readonly key: string
  private readonly holder: string
  private readonly timing: LeaseTiming
  private readonly clock: Clock
  private readonly renewals: Promise<void>
  private revision: Revision
  private heldUntilMs: number
  private isTaken = false

  constructor(
    board: KeyBoard,
    key: string,
    holder: string,
    timing: LeaseTiming,
    clock: Clock,
    term: Revision,
    sentAtMs: number,
  ) {
    this.board = board
    this.key = key
    this.holder = holder
    this.timing = timing
    this.clock = clock
    this.term = term
    this.revision = term
    this.heldUntilMs = sentAtMs + timing.holdMs
    this.ended = this.ending.signal
    this.renewals = this.renewUntilEnded()
    void this.endInTime()
  }

  isHeld(): boolean {
    if (this.clock.now() >= this.heldUntilMs) this.end(`not renewed for ${this.timing.holdMs} ms`)
    return !this.ended.aborted
  }

  wasTaken(): boolean {
    return this.isTaken
  }

  async release(): Promise<void> {
    this.end('released')
    await this.renewals
    const limit = new AbortController()
    const farewell = this.board.write(this.key, RELEASED, this.revision, limit.signal).then(
      () => undefined,
      () => undefined,
    )
    const late = this.clock.sleep(LONGEST_FAREWELL_MS, limit.signal).catch(() => undefined)
    await Promise.race([farewell, late])
    limit.abort()
  }

  private end(reason: string): void {
    if (!this.ended.aborted) this.ending.abort(new Error(`the lease ${this.key} has ended: ${reason}`))
  }

  /** Ends the lease when it is over, also while a renewal waits for an answer. */
  private async endInTime(): Promise<void> {
    while (this.isHeld())
      await this.clock
        .sleep(Math.max(1, this.heldUntilMs - this.clock.now()), this.ended)
        .catch(() => undefined)
  }

  private async renewUntilEnded(): Promise<void> {
    const patience = new Patience(this.clock, this.ended)
    try {
      await this.clock.sleep(this.timing.renewMs, this.ended)
      while (this.isHeld()) {
        const isRenewed = await patience.tryOnce(() => this.inTime((signal) => this.renew(signal)))
        if (isRenewed === true) await this.clock.sleep(this.timing.renewMs, this.ended)
      }
    } catch (error) {
      if (!this.ended.aborted) this.end(error instanceof Error ? error.message : String(error))
    }
  }

  private async inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController()
    const stop = (): void => limit.abort(this.ended.reason)
    const giveUp = (): void => limit.abort(new ClusterUnavailableError('a renewal was not answered in time'))
    this.ended.addEventListener('abort', stop)
    this.clock.sleep(LONGEST_RENEWAL_MS, limit.signal).then(giveUp, () => undefined)
    try {
      return await ask(limit.signal)
    } finally {
      this.ended.removeEventListener('abort', stop)
      limit.abort()
    }
  }

  private async renew(signal: AbortSignal): Promise<boolean> {
    const sentAtMs = this.clock.now()
    const outcome = await this.board.write(this.key, this.holder, this.revision, signal)
    if (outcome.type === 'written') {
      this.revision = outcome.revision
      this.heldUntilMs = sentAtMs + this.timing.holdMs
      return true
    }
    // The answer to an earlier renewal may have been lost: then the key is still ours, and is written again.
    const entry = await this.board.find(this.key, signal)
    if (entry?.value !== this.holder) {
      this.isTaken = true
      this.end('another instance has taken it')
    } else if (entry.revision > this.revision) this.revision = entry.revision
    return false
  }
}
