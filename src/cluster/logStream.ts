declare const unit: unique symbol

/** Position of a message in the log of one network: the first has 1, the next one more, without gaps. 0 stands before the first. */
export type LogSequence = number & { readonly [unit]: 'LogSequence' }

/** @throws RangeError if it is not an integer from 0 to 2^53 − 1. */
export function asLogSequence(value: number): LogSequence {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`log sequence ${value} is out of range`)
  return value as LogSequence
}

/** One part of a command. */
export interface LogMessage {
  /** Command id and part, unique in the log: by it a proposer knows its own message again. Printable ASCII without spaces. */
  readonly id: string
  /** At most 512 KB. The caller must not write to it until the call that it is passed to has ended. */
  readonly payload: Uint8Array
}

/** A message as it stands in the log. Nobody writes to the payload any more; it may be a part of a larger buffer. */
export interface LogEntry extends LogMessage {
  readonly sequence: LogSequence
}

/** `first` is one above `last` in an empty log; a new log has first 1 and last 0. */
export interface LogBounds {
  readonly first: LogSequence
  readonly last: LogSequence
}

/** `not_next`: what stands last has another sequence than was expected. `full`: no room for this message; a smaller one may fit. */
export type PublishOutcome = 'stored' | 'not_next' | 'full'

/**
 * The log of one network as the servers offer it: each call is one try, which a fault of connection or servers ends. `createCommandLog`
 * makes of it what proposers and appliers use. Whatever is answered here is durable: a majority of the servers has it.
 */
export interface LogStream {
  /**
   * Stores a message as the one right after `after`, or not at all.
   * @throws ClusterUnavailableError when it is not known whether the message was, or will be, stored.
   * @throws the signal's reason when it is aborted; whether the message was stored is not known.
   */
  publish(message: LogMessage, after: LogSequence, signal: AbortSignal): Promise<PublishOutcome>

  /**
   * One message. A server that has just become the leader may not have it yet: undefined is no proof that there is none.
   * @throws ClusterUnavailableError
   * @throws the signal's reason when it is aborted.
   */
  findEntry(sequence: LogSequence, signal: AbortSignal): Promise<LogEntry | undefined>

  /**
   * May be older than what was stored or read before, for the same reason.
   * @throws ClusterUnavailableError
   * @throws the signal's reason when it is aborted.
   */
  bounds(signal: AbortSignal): Promise<LogBounds>

  /**
   * Bytes that the log takes on the servers, of the most that it may take. May be older than what was stored.
   * @throws as `bounds`.
   */
  usedBytes(signal: AbortSignal): Promise<number>

  /**
   * Removes everything up to a position, for good. Positions stay as they are: the log goes on behind its last message, also when it has none.
   * @throws ClusterUnavailableError when it is not known whether it was, or will be, removed; the signal's reason.
   */
  forget(upTo: LogSequence, signal: AbortSignal): Promise<void>

  /**
   * What stands after a position and what is stored from then on, in order; a fault may leave something out or give it twice. Ends when
   * the signal is aborted.
   * @throws ClusterUnavailableError as soon as it can't go on.
   */
  follow(after: LogSequence, signal: AbortSignal): AsyncIterable<LogEntry>
}
