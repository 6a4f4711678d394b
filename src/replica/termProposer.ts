import type { Proposer } from '../shard/proposer.js'
import type { CommandOutcome, ShardCommand } from '../shard/shardCommand.types.js'
import { OvertakenError } from './logProposer.js'

/**
 * Brings all that a term proposes into one order: commands of the sync loop, notes about it, and marks. Ends the term before whoever has
 * proposed learns that it was overtaken: it must not go on with what it knows.
 */
export class TermProposer implements Proposer {
  readonly #log: Pick<Proposer, 'propose'>
  readonly #end: (reason: OvertakenError) => void
  #last: Promise<unknown> = Promise.resolve()

  constructor(log: Pick<Proposer, 'propose'>, end: (reason: OvertakenError) => void) {
    this.#log = log
    this.#end = end
  }

  propose(command: ShardCommand): Promise<CommandOutcome> {
    return this.#inTurn(() => this.#log.propose(command))
  }

  proposeMade(make: () => ShardCommand | undefined): Promise<CommandOutcome | undefined> {
    return this.#inTurn(async () => {
      const command = make()
      return command && (await this.#log.propose(command))
    })
  }

  #inTurn<T>(propose: () => Promise<T>): Promise<T> {
    const proposed = this.#last.then(propose)
    const met = proposed.catch((error: unknown) => {
      if (error instanceof OvertakenError) this.#end(error)
      throw error
    })
    this.#last = met.catch(() => undefined)
    return met
  }
}
