import type { CommandLog } from '../cluster/commandLog.js'
import type { LogMessage } from '../cluster/logStream.js'
import { RetryableError } from '../errors/chainErrors.js'
import { InvariantError } from '../errors/invariantError.js'
import { encodeCommand } from '../log/commandCodec.js'
import { commandMessages } from '../log/commandMessages.js'
import type { CommandOutcome, ShardCommand } from '../shard/shardCommand.types.js'
import type { LogSettings } from '../shard/shardLog.types.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import type { LogFollower } from './logFollower.js'

/** Another instance has proposed in the meantime: what this one knows of its network is old, and its term is over. */
export class OvertakenError extends Error {
  override readonly name = 'OvertakenError'
}

export interface LogProposerOptions {
  readonly log: CommandLog
  readonly follower: LogFollower
  readonly writer: Pick<ShardWriter, 'logSettings' | 'saysNothingNew'>
  /** @returns 16 bytes that no other command has. */
  readonly newId: () => Uint8Array
  /** Of the term: aborted when the lease is lost. */
  readonly signal: AbortSignal
  /** Called after a command: whether the log has room. */
  readonly onRoom?: (hasRoom: boolean) => void
}

/**
 * The proposer of one term: appends commands behind what this instance has read, and waits until its own follower has met them in the
 * log, as all others do. Nothing reaches the shard otherwise.
 */
export class LogProposer {
  readonly #options: LogProposerOptions
  #isProposing = false
  /** Bytes of the largest command that found no room; smaller ones may still find some. */
  #lackingBytes = 0

  private constructor(options: LogProposerOptions) {
    this.#options = options
  }

  /**
   * Begins a term: waits until all that stands in the log was read, and begins the log if nobody has.
   * @throws what `propose` throws; ClusterUnavailableError.
   */
  static async open(options: LogProposerOptions, settings: LogSettings): Promise<LogProposer> {
    const { log, follower, writer, signal } = options
    const { last } = await log.bounds(signal)
    await follower.hasRead(last, signal)
    const proposer = new LogProposer(options)
    if (writer.logSettings() === undefined) await proposer.propose({ type: 'begin', settings })
    return proposer
  }

  /**
   * Gives the log a command, and returns its outcome when it was applied to this instance's shard, or refused. One at a time. What is
   * stored already is not said again: each look at a chain does so, and such commands would be most of the log.
   * @throws OvertakenError when another instance has appended something that was not read yet: the term is over, and nothing of the
   *   command will be applied. RetryableError when the log has no room for it. The signal's reason: the command may be applied or not.
   *   What the follower throws. RangeError when the command is too large for the log.
   */
  async propose(command: ShardCommand): Promise<CommandOutcome> {
    if (this.#isProposing) throw new InvariantError(`${command.type} is proposed beside another command`)
    this.#isProposing = true
    try {
      return await this.#propose(command)
    } finally {
      this.#isProposing = false
    }
  }

  async #propose(command: ShardCommand): Promise<CommandOutcome> {
    const { log, follower, writer, newId, signal, onRoom } = this.#options
    signal.throwIfAborted()
    if (writer.saysNothingNew(command)) return { type: 'applied' }
    const id = newId()
    const messages = messagesOf(id, command)
    // From now on: this instance's follower may meet the command before the answer to the last message comes.
    const stop = new AbortController()
    const outcome = follower.outcomeOf(id, AbortSignal.any([signal, stop.signal]))
    // It may fail while the log has not answered yet, and nobody waits for it.
    outcome.catch(() => undefined)
    try {
      const appended = await log.append(messages, follower.readUpTo, signal)
      if (appended.type === 'appended') {
        if (command.type === 'applyBlocks' || bytesOf(messages) >= this.#lackingBytes) {
          this.#lackingBytes = 0
          onRoom?.(true)
        }
        return await outcome
      }
      signal.throwIfAborted()
      if (appended.type === 'log_full') {
        this.#lackingBytes = Math.max(this.#lackingBytes, bytesOf(messages))
        onRoom?.(false)
        throw new RetryableError(`the log has no room for ${messages.length} messages`)
      }
      throw new OvertakenError(`another instance has proposed behind ${appended.type}`)
    } finally {
      stop.abort()
    }
  }
}

function messagesOf(id: Uint8Array, command: ShardCommand): LogMessage[] {
  const name = Buffer.from(id).toString('hex')
  return commandMessages(id, encodeCommand(command)).map((payload, part) => ({
    id: `${name}.${part}`,
    payload,
  }))
}

function bytesOf(messages: readonly LogMessage[]): number {
  return messages.reduce((sum, { payload }) => sum + payload.length, 0)
}
