import type { Clock } from '../telemetry/clocks.js'
import { ClusterUnavailableError, LogGapError } from './clusterFaults.js'
import {
  asLogSequence,
  type LogBounds,
  type LogEntry,
  type LogMessage,
  type LogSequence,
  type LogStream,
} from './logStream.js'
import { Patience } from './patience.js'

/**
 * How an attempt to append a command ended. `last` is the sequence of the last of its messages that stands in the log.
 * - `appended`: all stand there, one behind the other, right after the expected sequence, and each of them once.
 * - `fenced`: another proposer's message stands where the next one belongs. Some of ours may stand before it; nobody will complete them.
 * - `log_full`: there is no room for the next one. Those before it stand in the log; whoever appends later voids them by its first part.
 * - `unknown`: the signal was aborted first. Any number of the messages may stand in the log, or be stored later.
 */
export type AppendOutcome =
  | { readonly type: 'appended'; readonly last: LogSequence }
  | { readonly type: 'fenced'; readonly last: LogSequence }
  | { readonly type: 'log_full'; readonly last: LogSequence }
  | { readonly type: 'unknown' }

/**
 * The commands of one network, in the one order in which every instance applies them. Nothing that was read or acknowledged is ever lost,
 * changed or moved, as long as a majority of the servers keeps its disks.
 *
 * A log that was deleted and made anew is noticed only while it is shorter than a position. The ids of its first command tell the two apart.
 */
export interface CommandLog {
  /**
   * Appends the messages of one command, in order, after a position that the caller has read up to. Only one append per network may be
   * under way in a process. An answer that is lost costs a question, never a second copy. Goes on through faults of the
   * connection until the outcome is known, so the signal says how long that may take: the end of the lease, or of a deadline.
   *
   * Two proposers that expect the same position never both get `appended`, whatever their clocks say: this is the fence.
   * After `unknown` the same command may be appended after the same position again, which finds what was stored. Another
   * command may not be proposed before everything up to the end of the log has been read.
   * @param after 0 for the beginning of the log.
   * @throws LogGapError if the log ends before `after`.
   */
  append(messages: readonly LogMessage[], after: LogSequence, signal: AbortSignal): Promise<AppendOutcome>

  /**
   * Every message after a position, in order, without gaps and each once: first those that are there, then each new one as it comes.
   * Goes on by itself after any fault of the connection. Reads at most a few messages ahead of the caller. The loop ends, without an
   * error, when the signal is aborted.
   * @throws LogGapError if the log no longer has the message after the position, or ends before it.
   */
  read(after: LogSequence, signal: AbortSignal): AsyncIterable<LogEntry>

  /** One try, with the caveat of `LogStream.bounds`. @throws ClusterUnavailableError */
  bounds(signal: AbortSignal): Promise<LogBounds>

  /** One try. @throws ClusterUnavailableError */
  usedBytes(signal: AbortSignal): Promise<number>

  /** One try: removes what two verified snapshots make superfluous, up to a position. @throws ClusterUnavailableError */
  forget(upTo: LogSequence, signal: AbortSignal): Promise<void>
}

/** A log that seems to end before a position does so after this time as well. A new leader catches up in milliseconds. */
const LONGEST_CATCH_UP_MS = 10_000
/** At one position, one after the other. */
const MOST_GAPS = 10

export function createCommandLog(stream: LogStream, clock: Clock): CommandLog {
  return {
    append: (messages, after, signal) => append(stream, clock, messages, after, signal),
    read: (after, signal) => read(stream, clock, after, signal),
    bounds: (signal) => stream.bounds(signal),
    usedBytes: (signal) => stream.usedBytes(signal),
    forget: (upTo, signal) => stream.forget(upTo, signal),
  }
}

async function append(
  stream: LogStream,
  clock: Clock,
  messages: readonly LogMessage[],
  after: LogSequence,
  signal: AbortSignal,
): Promise<AppendOutcome> {
  const patience = new Patience(clock, signal)
  const end = new EndOfLog(stream, clock)
  let last = after
  try {
    for (let part = 0; part < messages.length; ) {
      const message = messages[part]!
      const outcome = await patience.tryOnce(async () => {
        const published = await stream.publish(message, last, signal)
        if (published !== 'not_next') return published
        // A lost acknowledgement looks the same as another proposer. What stands there tells which it is.
        const standing = await stream.findEntry(nextOf(last), signal)
        if (standing !== undefined) return standing.id === message.id ? 'stored' : 'fenced'
        await end.assertNotBefore(last, signal)
        throw new ClusterUnavailableError(`the log has nothing after ${last} and does not end there`)
      })
      if (outcome === undefined) continue
      if (outcome === 'full') return { type: 'log_full', last }
      if (outcome === 'fenced') return { type: 'fenced', last }
      last = nextOf(last)
      part++
    }
  } catch (error) {
    if (!signal.aborted) throw error
    return { type: 'unknown' }
  }
  return { type: 'appended', last }
}

async function* read(
  stream: LogStream,
  clock: Clock,
  after: LogSequence,
  signal: AbortSignal,
): AsyncGenerator<LogEntry, void> {
  const patience = new Patience(clock, signal)
  const end = new EndOfLog(stream, clock)
  let last = after
  let gaps = 0
  try {
    while (!signal.aborted) {
      try {
        await end.assertNotBefore(last, signal)
        for await (const entry of stream.follow(last, signal)) {
          if (entry.sequence <= last) continue
          if (entry.sequence !== nextOf(last)) {
            // Lost on its way here, or gone. The bounds tell, unless it is gone from the middle.
            if (++gaps > MOST_GAPS)
              throw new LogGapError(`the log has ${entry.sequence}, but nothing between ${last} and it`)
            break
          }
          gaps = 0
          patience.reset()
          last = entry.sequence
          yield entry
        }
        if (!signal.aborted) await patience.pause()
      } catch (error) {
        if (!(error instanceof ClusterUnavailableError)) throw error
        await patience.pause()
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Tells a log that has lost what a position needs from a leader that has not caught up yet. */
class EndOfLog {
  private readonly stream: LogStream
  private readonly clock: Clock
  private shortSinceMs: number | undefined

  constructor(stream: LogStream, clock: Clock) {
    this.stream = stream
    this.clock = clock
  }

  /**
   * @throws LogGapError if the message after `last` is no longer there, or if the log has ended before `last` for long.
   * @throws ClusterUnavailableError if it ends before `last`, but that may be a leader that catches up.
   */
  async assertNotBefore(last: LogSequence, signal: AbortSignal): Promise<void> {
    const bounds = await this.stream.bounds(signal)
    if (bounds.first > nextOf(last))
      throw new LogGapError(`the log begins at ${bounds.first}: what stands after ${last} is gone`)
    if (bounds.last >= last) {
      this.shortSinceMs = undefined
      return
    }
    const nowMs = this.clock.now()
    this.shortSinceMs ??= nowMs
    const text = `the log ends at ${bounds.last}, before position ${last}`
    if (nowMs - this.shortSinceMs >= LONGEST_CATCH_UP_MS) throw new LogGapError(text)
    throw new ClusterUnavailableError(text)
  }
}

function nextOf(sequence: LogSequence): LogSequence {
  return asLogSequence(sequence + 1)
}
