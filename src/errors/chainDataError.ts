import type { HaltReason } from '../board/haltReason.js'

/**
 * What an endpoint answered can't be what its chain has: deposit counts have a gap, or a root is not the one that the event names.
 * Nothing of the batch was stored. The sync loop reads the blocks again before it halts with `reason`.
 */
export class ChainDataError extends Error {
  override readonly name = 'ChainDataError'
  readonly reason: HaltReason

  constructor(reason: HaltReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
