/**
 * The servers gave no answer, or one that says "not now": no connection, no leader, a timeout. What was asked may still have been done,
 * and may even be done later. Another try may find out. The message names no user, no password and no path of an address.
 */
export class ClusterUnavailableError extends Error {
  override readonly name = 'ClusterUnavailableError'
}

/**
 * The log does not have what stands after a position: it was removed (`first` lies above it), or the log ends before the position
 * (it is another log, or one that has lost its end). No retry cures it; a snapshot does.
 */
export class LogGapError extends Error {
  override readonly name = 'LogGapError'
}
