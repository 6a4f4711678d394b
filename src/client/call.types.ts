/** Time and randomness. A client has its own; tests pass another. */
export interface ClientClock {
  /** Monotonic milliseconds. */
  now(): number
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  unixMs(): number
  /** @throws the signal's reason, at once, when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** 0 ≤ value < 1. */
  random(): number
}

/** How often and how long a question is asked again. */
export interface RetryOptions {
  /** Most requests for one answer; 1 asks once. Default: 4. */
  readonly attempts?: number | undefined
  /** Longest time of one request with its body, in milliseconds. Default: 15,000. */
  readonly attemptTimeoutMs?: number | undefined
  /** Longest time of all requests and waits for one answer, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number | undefined
}

export interface CallOptions extends RetryOptions {
  /** Ends request or wait at once. What is thrown then is the signal's reason, as `fetch` does it. */
  readonly signal?: AbortSignal | undefined
  /**
   * By network id, `logSequence` of `getSyncStatus`: any instance of a cluster answers a data endpoint once it has stored as much, so no answer is
   * older than what another one has shown. A service that is alone refuses it.
   */
  readonly minSequence?: Readonly<Record<number, number>> | undefined
}
