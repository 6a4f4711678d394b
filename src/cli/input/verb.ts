import type { ExitCode } from '../../service/exitCodes.js'

/** One command of `bds`, in a file of its own. */
export interface Verb {
  /** Lines of help: usage first. */
  readonly help: string
  /** @returns the exit code of the process. Faults are thrown: `bds` prints them and picks the code. */
  run(args: readonly string[]): Promise<ExitCode>
}

/** The command line is wrong. The message says what is wrong; `bds` adds where to find help. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
