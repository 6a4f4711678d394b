import type { Proposer } from '../shard/proposer.js'
import type { CommandOutcome, ShardCommand } from '../shard/shardCommand.types.js'
import { OvertakenError } from './logProposer.js'

/**
 * Brings all that a term proposes into one order: commands of the sync loop, notes about it, and marks. Ends the term before whoever has
 * proposed learns that it was overtaken: it must not go on with what it knows.
 */
export class TermProposer implements Proposer {
  readonly #log: Proposer
  readonly #end: (reason: OvertakenError) => void
  #last: Promise<unknown> = Promise.resolve()

  constructor(log: Proposer, end: (reason: OvertakenError) => void) {
    this.#log = log
    this.#end = end
  }

  propose(command: ShardCommand): Promise<CommandOutcome> {
    return this.proposeMade(() => command)
  }

  /** The same for a command that is made when every earlier one has reached this instance's shard. */
  proposeMade(make: () => ShardCommand): Promise<CommandOutcome> {
    const proposed = this.#last.then(() => this.#log.propose(make()))
    const met = proposed.catch((error: unknown) => {
      if (error instanceof OvertakenError) this.#end(error)
      throw error
    })
    this.#last = met.catch(() => undefined)
    return met
  }
}
