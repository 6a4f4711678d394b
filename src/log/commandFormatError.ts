/**
 * `newer_version`: a newer build wrote it, this one has to be upgraded. `malformed`: no encoder of this version writes such bytes.
 * `wrong_hash`: the parts of a command are not those that were sent.
 */
export type FormatFault = 'newer_version' | 'malformed' | 'wrong_hash'

/** Bytes that are no command, or no message of one. The message says at which byte, of which field, and what is wrong there. */
export class CommandFormatError extends Error {
  override readonly name = 'CommandFormatError'
  readonly fault: FormatFault
  /** Byte of the command, or of the message: where the field begins, or where it shows that what was said of all rows is wrong. */
  readonly at: number

  constructor(fault: FormatFault, at: number, field: string, problem: string) {
    super(`byte ${at}, ${field}: ${problem}`)
    this.fault = fault
    this.at = at
  }
}
