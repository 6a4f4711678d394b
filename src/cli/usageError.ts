/** The command line can't be understood. The text says what is wrong; `bds` adds where to find help. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
