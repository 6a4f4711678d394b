declare const unit: unique symbol

/** Number of a write to any key of a board: each write has a bigger one than those before it. 0 stands for "never written". */
export type Revision = number & { readonly [unit]: 'Revision' }

export const NEVER_WRITTEN = 0 as Revision

/** @throws RangeError if it is not an integer from 1 to 2^53 − 1. */
export function asRevision(value: number): Revision {
  if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`revision ${value} is out of range`)
  return value as Revision
}

export interface KeyEntry {
  readonly key: string
  readonly value: string
  readonly revision: Revision
}

/** `changed`: the key has another revision than was expected. */
export type WriteOutcome =
  | { readonly type: 'written'; readonly revision: Revision }
  | { readonly type: 'changed' }

export interface WatchedEntry extends KeyEntry {
  /** False for what was there before the watch began: nobody knows how old it is. */
  readonly isNews: boolean
}

/**
 * A few keys with small values that all instances see. Keys are letters, digits and dashes. No key is ever deleted and none expires. Each
 * call is one try, which a fault of connection or servers ends.
 */
export interface KeyBoard {
  /**
   * @returns undefined if the key was never written. May be older than the newest value; `write` would refuse its revision then.
   * @throws ClusterUnavailableError
   * @throws the signal's reason when it is aborted.
   */
  find(key: string, signal: AbortSignal): Promise<KeyEntry | undefined>

  /**
   * Writes a key if its newest revision is the expected one, or not at all.
   * @throws ClusterUnavailableError when it is not known whether the value was, or will be, written.
   * @throws the signal's reason when it is aborted; the same holds.
   */
  write(key: string, value: string, expected: Revision, signal: AbortSignal): Promise<WriteOutcome>

  /**
   * The newest value of every key, then each change; of several quick ones the last is never left out. Ends when the signal is aborted.
   * @throws ClusterUnavailableError as soon as it can't go on.
   */
  watch(signal: AbortSignal): AsyncIterable<WatchedEntry>
}
