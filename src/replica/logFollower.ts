import type { CommandLog } from '../cluster/commandLog.js'
import { asLogSequence, type LogEntry, type LogSequence } from '../cluster/logStream.js'
import { Patience } from '../cluster/patience.js'
import { OperatorError } from '../errors/operatorError.js'
import { decodeCommand } from '../log/commandCodec.js'
import { CommandFormatError } from '../log/commandFormatError.js'
import { CommandGatherer } from '../log/commandMessages.js'
import { equalBytes } from '../protocol/abiBytes.js'
import { encodeHex } from '../protocol/hex.js'
import type { CommandOutcome, ShardCommand } from '../shard/shardCommand.types.js'
import type { LogSettings } from '../shard/shardLog.types.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import type { Clock } from '../telemetry/clocks.js'
import { settingsDifferences } from './logSettings.js'

export interface LogFollowerOptions {
  readonly log: CommandLog
  readonly writer: Pick<ShardWriter, 'apply' | 'logPlace' | 'logSettings'>
  /** This instance's own. The id of the log is not compared. */
  readonly settings: LogSettings
  readonly clock: Clock
  /** Called when everything up to a message was read and applied. */
  readonly onRead?: (sequence: LogSequence) => void
  /** Called when a message was left out because it is no command, whichever build reads it. */
  readonly onLeftOut?: (sequence: LogSequence, problem: string) => void
}

interface Waiter {
  readonly resolve: (outcome: CommandOutcome) => void
  readonly reject: (reason: unknown) => void
}

/**
 * The applier of an instance: gives its shard every command of the log, in order, and nothing else, whoever has proposed it. Only one
 * may be at work on a shard.
 */
export class LogFollower {
  readonly #options: LogFollowerOptions
  /** By the id of the command, in hex. */
  readonly #waiters = new Map<string, Waiter>()
  #read: LogSequence
  #ended: { readonly reason: unknown } | undefined
  #onRead: (() => void)[] = []

  constructor(options: LogFollowerOptions) {
    this.#options = options
    this.#read = asLogSequence(options.writer.logPlace()?.sequence ?? 0)
  }

  /** Everything up to here was read, and every command that ends there was applied or refused. */
  get readUpTo(): LogSequence {
    return this.#read
  }

  /**
   * Applies command after command until the signal is aborted. The shard stands where the last one has brought it. To be called once.
   * Faults of the servers are waited out.
   * @throws OperatorError, in one line, when the log has other settings than this instance, or is another log than the shard has followed.
   * @throws CommandFormatError when a command is of a newer version; LogGapError when the log lacks what comes next; what `apply` throws.
   *   Whoever waits here gets the same.
   */
  async follow(signal: AbortSignal): Promise<void> {
    const { onLeftOut } = this.#options
    try {
      await this.#assertSameLog(signal)
      const gatherer = new CommandGatherer()
      const from = asLogSequence(this.#options.writer.logPlace()?.sequence ?? 0)
      for await (const entry of this.#options.log.read(from, signal)) {
        const gathered = gather(gatherer, entry, onLeftOut)
        if (gathered !== undefined) this.#give(gathered.command, gathered.id, entry.sequence)
        this.#moveTo(entry.sequence)
      }
    } catch (error) {
      this.#end(signal.aborted ? signal.reason : error)
      if (!signal.aborted) throw error
    }
    this.#end(signal.reason)
  }

  /**
   * The outcome of a command that may stand in the log at any moment from now on. Call it before the command is appended.
   * @param id 16 bytes. @throws what `follow` throws; the signal's reason, also when `follow` ends by its own.
   */
  async outcomeOf(id: Uint8Array, signal: AbortSignal): Promise<CommandOutcome> {
    signal.throwIfAborted()
    this.#throwIfEnded()
    const name = encodeHex(id)
    let end = (): void => undefined
    try {
      return await new Promise<CommandOutcome>((resolve, reject) => {
        this.#waiters.set(name, { resolve, reject })
        end = () => reject(signal.reason)
        signal.addEventListener('abort', end)
      })
    } finally {
      signal.removeEventListener('abort', end)
      this.#waiters.delete(name)
    }
  }

  /** Waits until everything up to a message was read. @throws as `outcomeOf`. */
  async hasRead(sequence: LogSequence, signal: AbortSignal): Promise<void> {
    while (this.#read < sequence) {
      signal.throwIfAborted()
      this.#throwIfEnded()
      await new Promise<void>((resolve) => {
        const look = (): void => {
          signal.removeEventListener('abort', look)
          resolve()
        }
        this.#onRead.push(look)
        signal.addEventListener('abort', look)
      })
    }
  }

  /** A log that was deleted and made anew has another id, and none of the shard's commands. */
  async #assertSameLog(signal: AbortSignal): Promise<void> {
    const stored = this.#options.writer.logSettings()
    if (stored === undefined) return
    this.#assertSettings(stored)
    const { log, clock } = this.#options
    const logId = await findLogId(log, clock, signal)
    if (logId === undefined || equalBytes(logId, stored.logId)) return
    throw new OperatorError(
      `the log of network ${stored.networkId} is ${encodeHex(logId)}, the shard has followed ${encodeHex(stored.logId)}: index again with \`bds reindex --network ${stored.networkId}\``,
    )
  }

  #give(command: ShardCommand, id: Uint8Array, sequence: LogSequence): void {
    const { writer } = this.#options
    if (command.type === 'begin' && writer.logSettings() === undefined) this.#assertSettings(command.settings)
    const outcome = writer.apply(command, { sequence, commandId: id })
    this.#waiters.get(encodeHex(id))?.resolve(outcome)
  }

  #assertSettings(ofLog: LogSettings): void {
    const { settings } = this.#options
    const differences = settingsDifferences(settings, ofLog)
    if (differences.length > 0)
      throw new OperatorError(
        `network ${settings.networkId} is configured otherwise than its log: ${differences.join(', ')}`,
      )
  }

  #moveTo(sequence: LogSequence): void {
    this.#read = sequence
    this.#options.onRead?.(sequence)
    this.#wake()
  }

  #wake(): void {
    const waiting = this.#onRead
    this.#onRead = []
    for (const look of waiting) look()
  }

  #end(reason: unknown): void {
    this.#ended ??= { reason }
    for (const { reject } of this.#waiters.values()) reject(reason)
    this.#wake()
  }

  #throwIfEnded(): void {
    if (this.#ended !== undefined) throw this.#ended.reason
  }
}

/** Id of a log, which its first command says; undefined when that is gone, or not there yet. @throws the signal's reason. */
export async function findLogId(
  log: CommandLog,
  clock: Clock,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const patience = new Patience(clock, signal)
  let bounds = await patience.tryOnce(() => log.bounds(signal))
  while (bounds === undefined) bounds = await patience.tryOnce(() => log.bounds(signal))
  if (bounds.first > 1 || bounds.last < 1) return undefined
  const gatherer = new CommandGatherer()
  for await (const entry of log.read(asLogSequence(0), signal)) {
    const gathered = gather(gatherer, entry)
    if (gathered !== undefined)
      return gathered.command.type === 'begin' ? gathered.command.settings.logId : undefined
  }
  return undefined
}

/**
 * @returns undefined when the message ends no command. What is no command by the rules of its version is none for any build that knows the
 * version (`COMMAND_CODEC_VERSION`): every instance leaves it out.
 * @throws CommandFormatError when it is of a newer version: others may know what it says.
 */
function gather(
  gatherer: CommandGatherer,
  { payload, sequence }: LogEntry,
  onLeftOut?: LogFollowerOptions['onLeftOut'],
): { readonly id: Uint8Array; readonly command: ShardCommand } | undefined {
  try {
    const gathered = gatherer.take(payload)
    if (gathered.type !== 'finished') return undefined
    return { id: gathered.id, command: decodeCommand(gathered.command) }
  } catch (error) {
    if (!(error instanceof CommandFormatError) || error.fault === 'newer_version') throw error
    onLeftOut?.(sequence, error.message)
    return undefined
  }
}
