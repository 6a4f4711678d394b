import type { HaltReason } from '../board/haltReason.js'

/**
 * What the provider told contradicts the chain's own arithmetic (a gap in deposit counts, another root than the event's).
 * Nothing of the batch was stored. The sync loop reads again from the last verified point before it halts with `reason`.
 */
export class ChainDataError extends Error {
  override readonly name = 'ChainDataError'
  readonly reason: HaltReason

  constructor(reason: HaltReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
