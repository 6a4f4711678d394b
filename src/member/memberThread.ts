import { randomBytes } from 'node:crypto'
import type { HaltReason } from '../board/haltReason.js'
import { CommitWatch, type StatusRow, statusRow } from '../board/statusBoard.js'
import { LogGapError } from '../cluster/clusterFaults.js'
import { createCommandLog } from '../cluster/commandLog.js'
import { openHeadWriter, watchHeads } from '../cluster/headBoard.js'
import type { KeyBoard } from '../cluster/keyBoard.js'
import { takeAway } from '../cluster/lease.js'
import { asLogSequence } from '../cluster/logStream.js'
import type { ClusterConfig, NetworkConfig } from '../config/config.types.js'
import { hideAddresses } from '../config/hideAddresses.js'
import { FatalError } from '../errors/chainErrors.js'
import { DivergedError } from '../errors/divergedError.js'
import { OperatorError } from '../errors/operatorError.js'
import type { IndexerMessage, IndexerWorkerData } from '../indexer/indexerMessages.js'
import { haltReasonOf } from '../indexer/recovery/haltReasonOf.js'
import { startHeartbeat } from '../indexer/thread/heartbeat.js'
import { syncNetwork } from '../indexer/thread/syncNetwork.js'
import { CommandFormatError } from '../log/commandFormatError.js'
import { asBlockNumber, asNetworkId, type NetworkId } from '../protocol/units.js'
import { logSettingsOf } from '../replica/logSettings.js'
import { runReplica, type Term } from '../replica/runReplica.js'
import type { CommandOutcome } from '../shard/shardCommand.types.js'
import type { LogPlace } from '../shard/shardLog.types.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import { openShardWriter } from '../shard/write/writer.js'
import { systemClock } from '../telemetry/clocks.js'
import { IndexerCounts } from '../telemetry/counts/indexerCounts.js'
import { watchThread } from '../telemetry/counts/threadTimes.js'
import { createLogger, type Logger } from '../telemetry/logger.js'
import { openServers } from './servers.js'
import { Standing } from './standing.js'

/** The instance can't be part of its cluster until its operator changes something: the process ends with this line. */
export interface RefusedMessage {
  readonly type: 'refused'
  readonly networkId: number
  readonly message: string
}

export type MemberMessage = IndexerMessage | RefusedMessage

/** After a fault of this machine, a full disk or a store that contradicts its log, or in front of a newer command, the same is tried again. */
const RETRY_MS = 5_000
/** For each network that is led already: a little longer than the others need between two looks. Whoever gives a lease away waits a second. */
const RELUCTANCE_MS = 300
const LONGEST_RELUCTANCE_MS = 900
const LOG_FULL = new Error(
  'the log has no room: it goes on when what two snapshots have was removed, or max_log_bytes is raised',
)

/**
 * The whole life of the thread of one network in an instance of a cluster, in place of an indexer thread: follows the network's log, and
 * reads its chain whenever it leads. Until `asked` aborts; the last message is `stopped`.
 */
export async function runMember(
  data: IndexerWorkerData,
  asked: AbortSignal,
  post: (message: MemberMessage) => void,
): Promise<void> {
  // Also ends, with this thread, what runs beside the follower.
  const end = new AbortController()
  const signal = AbortSignal.any([asked, end.signal])
  const { config, networkId, compiled, status } = data
  const network = config.networks.find((candidate) => candidate.networkId === networkId)
  const { cluster } = config
  if (network === undefined || cluster === undefined)
    throw new FatalError(`network ${networkId} is not configured in a cluster`)
  hideAddresses(config)
  const logger = createLogger(config.log, { networkId })
  const row = statusRow(status, networkId)
  const thread = watchThread(new IndexerCounts(status.counts, networkId))
  const stopHeartbeat = startHeartbeat(row, config.health.heartbeatTimeoutMs, () => thread.measure())
  const writer = openShardWriter({ config, networkId, compiled, status })
  const servers = openServers(cluster, logger)
  try {
    const id = asNetworkId(networkId)
    const log = createCommandLog(await servers.openLogStream(id, signal), systemClock)
    const leases = await servers.openKeyBoard('leases', signal)
    const heads = await servers.openKeyBoard('heads', signal)
    const standing = new Standing({
      row,
      log,
      clock: systemClock,
      maxStaleMs: cluster.maxStaleMs,
      onCaughtUp: () => {
        const block = row.get('syncedBlock') ?? 0
        logger.info('caught up by the log', { block })
        post({ type: 'caughtUp', networkId, block })
      },
    })
    const place = writer.logPlace()
    if (place !== undefined) standing.read(asLogSequence(place.sequence))
    const halt = new OwnHalt(row, logger, (reason, message) =>
      post(
        reason === 'none'
          ? { type: 'resumed', networkId, block: row.get('syncedBlock') }
          : { type: 'halted', networkId, reason, message },
      ),
    )
    const passOver = (error: unknown, at: LogPlace | undefined): CommandOutcome => {
      // A new store that differs at the same place tells that whoever made the mark was wrong.
      const stood = cluster.renewed?.[networkId]?.sequence
      if (!(error instanceof DivergedError) || stood === undefined || at?.sequence !== stood + 1) throw error
      logger.error('a mark is passed over: a store that was made anew differs from it, too', { error })
      void takeAway(leases, String(networkId), systemClock, signal).catch(() => undefined)
      return writer.apply({ type: 'setFinalized', block: asBlockNumber(0) }, at)
    }
    const apply: ShardWriter['apply'] = (command, at) => {
      let outcome: CommandOutcome
      try {
        outcome = writer.apply(command, at)
      } catch (error) {
        outcome = passOver(error, at)
      }
      if (command.type === 'startOver' && outcome.type === 'applied') standing.startedOver(at?.sequence ?? 0)
      halt.end()
      return outcome
    }
    void standing.watch(signal)
    void followHeads(heads, id, standing, signal)
    const lead = leading({ ...data, network, writer, heads, standing, logger, post })
    while (!signal.aborted) {
      try {
        await runReplica(
          {
            log,
            leases,
            writer: { ...writer, apply },
            row,
            settings: logSettingsOf(network, config.feed, randomBytes(16)),
            clock: systemClock,
            // Another one after each start: whoever held the lease before has to let it run out.
            holder: holderOf(cluster),
            newId: () => randomBytes(16),
            mayLead: cluster.role === 'any',
            onRead: (sequence) => standing.read(sequence),
            onLeftOut: (sequence, problem) =>
              logger.warn('a message of the log is no command: all instances leave it out', {
                sequence,
                problem,
              }),
            reluctanceMs: () => reluctanceOf(data),
            onRoom: (hasRoom) => (hasRoom ? halt.endOf('log_full') : halt.begin('log_full', LOG_FULL)),
            lead,
          },
          signal,
        )
      } catch (error) {
        if (signal.aborted) break
        // For settings, or another log, no retry is a cure.
        if (error instanceof OperatorError) throw new FatalError(error.message, { cause: error })
        halt.begin(ownReasonOf(error), error)
        await systemClock.sleep(RETRY_MS, signal)
      }
    }
  } catch (error) {
    if (!signal.aborted) {
      if (!(error instanceof OperatorError || error instanceof FatalError)) throw error
      post({ type: 'refused', networkId, message: error.message })
    }
  } finally {
    end.abort()
    await servers.close()
    await writer.close()
    stopHeartbeat()
    thread.close()
  }
  post({ type: 'stopped', networkId })
}

/** Name for people, and a part that no other start has. */
function holderOf({ instance }: ClusterConfig): string {
  return `${instance} ${randomBytes(4).toString('hex')}`
}

/** The reason under which this instance alone stands still. The follower lets no other fault of a command out. */
function ownReasonOf(error: unknown): HaltReason {
  if (error instanceof DivergedError) return 'diverged'
  if (error instanceof CommandFormatError) return 'newer_command'
  return error instanceof LogGapError ? 'behind_log' : haltReasonOf(error)
}

/** Who leads others already leaves a free lease to those that lead none. */
function reluctanceOf({ status, networkId }: IndexerWorkerData): number {
  const led = status.networkIds.filter((id) => id !== networkId && statusRow(status, id).get('leads') === 1)
  return Math.min(led.length * RELUCTANCE_MS, LONGEST_RELUCTANCE_MS)
}

async function followHeads(
  heads: KeyBoard,
  own: NetworkId,
  standing: Standing,
  signal: AbortSignal,
): Promise<void> {
  for await (const reading of watchHeads(heads, systemClock, signal))
    if (reading.networkId === own) standing.heard(reading)
}

/** A halt of this instance alone, beside what the log says: the shard stands in front of a command that it could not store, or the log has no room. */
class OwnHalt {
  readonly #row: StatusRow
  readonly #logger: Logger
  readonly #tell: (reason: HaltReason, message: string) => void
  #own: { readonly reason: HaltReason; readonly before: HaltReason } | undefined

  constructor(row: StatusRow, logger: Logger, tell: (reason: HaltReason, message: string) => void) {
    this.#row = row
    this.#logger = logger
    this.#tell = tell
  }

  begin(reason: HaltReason, error: unknown): void {
    const before = this.#own?.before ?? this.#row.haltReason()
    if (reason === this.#own?.reason) return
    if (!this.#row.replaceHaltReason(this.#own?.reason ?? before, reason)) return
    this.#own = { reason, before }
    const what =
      reason === 'log_full'
        ? 'nothing more is read from the chain'
        : 'what the log says could not be read or stored here'
    this.#logger.error(`halted: ${what}`, { reason, error })
    this.#tell(reason, error instanceof Error ? error.message : String(error))
  }

  /** A command was applied or refused again. */
  end(): void {
    if (this.#own !== undefined && this.#own.reason !== 'log_full') this.endOf(this.#own.reason)
  }

  endOf(reason: HaltReason): void {
    if (this.#own?.reason !== reason) return
    this.#row.replaceHaltReason(reason, this.#own.before)
    this.#own = undefined
    this.#logger.info('goes on', { after: reason })
    this.#tell('none', '')
  }
}

interface LeadOptions extends IndexerWorkerData {
  readonly network: NetworkConfig
  readonly writer: ReturnType<typeof openShardWriter>
  readonly heads: KeyBoard
  readonly standing: Standing
  readonly logger: Logger
  readonly post: (message: MemberMessage) => void
}

/** Reads the network's chain for one term. */
function leading({
  networkId,
  heads,
  standing,
  logger,
  ...rest
}: LeadOptions): (term: Term) => Promise<void> {
  // Of the thread, not of a term: it can wait once at a time.
  const commits = new CommitWatch(rest.status)
  return async ({ proposer, row, revision, signal }) => {
    standing.leads(openHeadWriter(heads, asNetworkId(networkId), revision, systemClock, signal))
    logger.info('leads its network: reads the chain for all instances', { term: revision })
    try {
      await syncNetwork({ ...rest, logger, row, commits, proposer }, signal)
    } finally {
      standing.follows()
      logger.info('no longer leads its network', { term: revision, reason: signal.reason })
    }
  }
}
