import type { RefusalReason } from '../shardCommand.types.js'

/** Ends the transaction of a command that is refused, so that nothing of it is stored. Only `applyCommand` catches it. */
export class Refusal extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** @throws Refusal always. @param message one line: what the command says, and what is stored. */
export function refuse(reason: RefusalReason, message: string): never {
  throw new Refusal(reason, message)
}
