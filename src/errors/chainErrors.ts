import type { HaltReason } from '../board/haltReason.js'

/**
 * Trouble with an RPC provider that another try, a smaller range or another endpoint may cure.
 * The message never holds an endpoint's URL: use its alias.
 */
export class RetryableError extends Error {
  override readonly name = 'RetryableError'
}

/** Trouble that no retry cures: wrong chain, wrong contract, a reorg deeper than the undo kept. */
export class FatalError extends Error {
  override readonly name = 'FatalError'
  /** Where a network halts over it: the code to halt with. */
  readonly reason: HaltReason | undefined

  constructor(message: string, options?: ErrorOptions & { readonly reason?: HaltReason }) {
    super(message, options)
    this.reason = options?.reason
  }
}
