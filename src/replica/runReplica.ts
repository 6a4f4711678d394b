import { ClusterUnavailableError } from '../cluster/clusterFaults.js'
import type { CommandLog } from '../cluster/commandLog.js'
import type { KeyBoard } from '../cluster/keyBoard.js'
import { LEASE_TIMING, takeLease } from '../cluster/lease.js'
import type { Proposer } from '../shard/proposer.js'
import type { LogSettings } from '../shard/shardLog.types.js'
import type { ShardWriter } from '../shard/shardWriter.types.js'
import type { Clock } from '../telemetry/clocks.js'
import { LogFollower } from './logFollower.js'
import { LogProposer, OvertakenError } from './logProposer.js'

export interface ReplicaOptions {
  readonly log: CommandLog
  readonly leases: KeyBoard
  readonly writer: ShardWriter
  /** This instance's own. With them it begins a log that nobody has begun. */
  readonly settings: LogSettings
  readonly clock: Clock
  /** Id of this process, not empty: another one after each start. */
  readonly holder: string
  /** @returns 16 bytes that no other command has. */
  readonly newId: () => Uint8Array
  /**
   * Proposes what the chain says until the term is over. Called anew for each term: what the last one remembered of the shard is old,
   * since others have changed it in between.
   */
  readonly lead: (proposer: Proposer, term: AbortSignal) => Promise<void>
}

/**
 * The life of one network in one instance of a cluster: follows its log, and leads whenever it holds the lease. Ends when the signal is
 * aborted; the shard may be closed then.
 * @throws what `LogFollower.follow` throws, and what `lead` throws while its term goes on.
 */
export async function runReplica(options: ReplicaOptions, signal: AbortSignal): Promise<void> {
  const stop = new AbortController()
  const life = AbortSignal.any([signal, stop.signal])
  const follower = new LogFollower(options)
  const following = follower.follow(life).finally(() => stop.abort())
  // Met below, when the last term is over.
  following.catch(() => undefined)
  try {
    while (!life.aborted) await leadOnce(options, follower, life)
  } finally {
    stop.abort()
    await following
  }
}

/** Waits for the lease, and leads until it is lost, another instance has proposed, or life ends. */
async function leadOnce(options: ReplicaOptions, follower: LogFollower, life: AbortSignal): Promise<void> {
  const { leases, settings, holder, clock, lead } = options
  const overtaken = new AbortController()
  let term: AbortSignal = life
  try {
    const lease = await takeLease(leases, String(settings.networkId), holder, LEASE_TIMING, clock, life)
    term = AbortSignal.any([life, lease.ended, overtaken.signal])
    try {
      const proposer = await LogProposer.open({ ...options, follower, signal: term }, settings)
      await lead(endingTerm(proposer, overtaken), term)
    } finally {
      await lease.release()
    }
  } catch (error) {
    const isOver = term.aborted || error instanceof OvertakenError || error instanceof ClusterUnavailableError
    if (!isOver) throw error
  }
}

/** Ends the term before whoever has proposed learns that it was overtaken: it must not go on with what it knows. */
function endingTerm(proposer: Proposer, overtaken: AbortController): Proposer {
  return {
    async propose(command) {
      try {
        return await proposer.propose(command)
      } catch (error) {
        if (error instanceof OvertakenError) overtaken.abort(error)
        throw error
      }
    },
  }
}
