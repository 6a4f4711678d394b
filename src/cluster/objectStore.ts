/**
 * Bytes by name that all instances see, some megabytes each: pieces of snapshots. Names are letters, digits, dots and dashes. Each call is
 * one try, which a fault of connection or servers ends.
 */
export interface ObjectStore {
  /**
   * Stores bytes under a name, in place of what was there: a majority of the servers has them then.
   * @param bytes must not be written to until the call has ended.
   * @throws ClusterUnavailableError when it is not known whether they were stored; the signal's reason when it is aborted.
   */
  put(name: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>

  /**
   * Fresh memory; undefined when there is no such name.
   * @throws ClusterUnavailableError, also for bytes that the servers can't give whole; the signal's reason.
   */
  find(name: string, signal: AbortSignal): Promise<Uint8Array | undefined>

  /** A name that is not there is removed already. @throws ClusterUnavailableError; the signal's reason. */
  remove(name: string, signal: AbortSignal): Promise<void>

  /** Every name, in no order. @throws ClusterUnavailableError; the signal's reason. */
  names(signal: AbortSignal): Promise<string[]>
}
