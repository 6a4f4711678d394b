import { throwRefused } from './applyOrThrow.js'
import type { CommandOutcome, ShardCommand } from './shardCommand.types.js'
import type { ShardWriter } from './shardWriter.types.js'

/** Where the commands of an indexer go: to its own shard at once, or into a log that other shards follow as well. */
export interface Proposer {
  /**
   * One command at a time. It must not change afterwards, nor may the bytes that it names.
   * @returns the outcome, once this instance's shard has it: what is read then follows it.
   * @throws what `ShardWriter.apply` throws, or what has happened on the way.
   */
  propose(command: ShardCommand): Promise<CommandOutcome>
  /**
   * The same for a caller beside others, whose command is made when every earlier one has reached this instance's shard. So it is made of what
   * the shard holds when it gets there.
   * @param make returns undefined when there is nothing to propose. What it throws is thrown here.
   */
  proposeMade(make: () => ShardCommand | undefined): Promise<CommandOutcome | undefined>
}

/** The proposer of an instance that is alone: hands each command to its shard, in this thread and as it is. */
export function handOn(writer: Pick<ShardWriter, 'apply'>): Proposer {
  return {
    propose: async (command) => writer.apply(command),
    proposeMade: async (make) => {
      const command = make()
      return command && writer.apply(command)
    },
  }
}

/** For a caller to whom any refusal is a failure. @throws the error of a refusal, as `applyOrThrow`; what `propose` throws. */
export async function proposeOrThrow(
  proposer: Pick<Proposer, 'propose'>,
  command: ShardCommand,
): Promise<void> {
  throwRefused(await proposer.propose(command))
}
