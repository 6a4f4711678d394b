import { ChainDataError } from '../errors/chainDataError.js'
import { FatalError } from '../errors/chainErrors.js'
import { InvariantError } from '../errors/invariantError.js'
import type { CommandOutcome, Refused, ShardCommand } from './shardCommand.types.js'
import type { ShardWriter } from './shardWriter.types.js'

/**
 * Applies a command for a proposer to whom any refusal is a failure: it becomes the error by which recovery decides what follows.
 * @throws ChainDataError when the chain's data contradict what is stored; FatalError when undo does not reach back far enough;
 * InvariantError when the command does not fit the shard, which is a bug of the proposer; what `ShardWriter.apply` throws.
 */
export function applyOrThrow(writer: Pick<ShardWriter, 'apply'>, command: ShardCommand): void {
  throwRefused(writer.apply(command))
}

/** For a proposer that knows what to do about some refusals only. @throws the error of any refusal, as `applyOrThrow`. */
export function throwRefused(outcome: CommandOutcome): void {
  if (outcome.type === 'refused') throw failureOf(outcome)
}

function failureOf({ reason, message }: Refused): Error {
  switch (reason) {
    case 'reorg_too_deep':
      return new FatalError(message, { reason })
    case 'not_next':
    case 'not_parent':
    case 'disordered_batch':
    case 'parent_unknown':
    case 'event_of_l1':
    case 'unknown_ancestor':
    case 'not_at_watermark':
    case 'unknown_row':
    case 'other_row':
    case 'nothing_stored':
    case 'already_begun':
    case 'not_begun':
    case 'outdated':
      return new InvariantError(message)
    default:
      return new ChainDataError(reason, message)
  }
}
