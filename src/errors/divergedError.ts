/** A shard differs from the log that it follows: what it holds can't be served. The message has both values, in one line. */
export class DivergedError extends Error {
  override readonly name = 'DivergedError'
}
