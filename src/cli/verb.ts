import type { ExitCode } from './exitCodes.js'

/** One word of the command line, in a file of its own. */
export interface Verb {
  /** Lines of help: usage first. */
  readonly help: string
  /** @returns the exit code of the process. Faults are thrown: `bds` tells them and picks the code. */
  run(args: readonly string[]): Promise<ExitCode>
}
