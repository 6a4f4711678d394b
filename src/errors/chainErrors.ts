import type { HaltReason } from '../board/haltReason.js'

/**
 * An endpoint failed in a way that another try, a smaller range or another endpoint may cure.
 * The message never holds an endpoint's URL: it uses the alias.
 */
export class RetryableError extends Error {
  override readonly name = 'RetryableError'
}

/** A fault that no retry cures: wrong chain, wrong contract, a reorg deeper than the undo reaches. */
export class FatalError extends Error {
  override readonly name = 'FatalError'
  /** The reason to halt the network with; undefined when no network has to halt. */
  readonly reason: HaltReason | undefined

  constructor(message: string, options?: ErrorOptions & { readonly reason?: HaltReason }) {
    super(message, options)
    this.reason = options?.reason
  }
}
