import type { HaltReason } from '../../board/haltReason.js'
import { CommitWatch, statusRow } from '../../board/statusBoard.js'
import type { createChainClient } from '../../chain/client/chainClient.js'
import { hideAddresses } from '../../config/hideAddresses.js'
import { FatalError } from '../../errors/chainErrors.js'
import { BoardNotes } from '../../shard/boardNotes.js'
import { handOn } from '../../shard/proposer.js'
import { openShardWriter } from '../../shard/write/writer.js'
import { systemClock } from '../../telemetry/clocks.js'
import { IndexerCounts } from '../../telemetry/counts/indexerCounts.js'
import { watchThread } from '../../telemetry/counts/threadTimes.js'
import { createLogger } from '../../telemetry/logger.js'
import type { IndexerMessage, IndexerWorkerData } from '../indexerMessages.js'
import { startHeartbeat } from './heartbeat.js'
import { syncNetwork } from './syncNetwork.js'

/** What is written while the data folder is lost may be lost as well. */
const UNTOLD: readonly HaltReason[] = ['data_folder_lost']

/**
 * The whole life of an indexer thread: opens the shard and the chain client, syncs until `signal` aborts, closes both. The last
 * message is `stopped`: after it nothing of the thread holds the store.
 * @param openClient benches pass another one.
 */
export async function runIndexer(
  data: IndexerWorkerData,
  signal: AbortSignal,
  post: (message: IndexerMessage) => void,
  openClient?: typeof createChainClient,
): Promise<void> {
  const { config, networkId, compiled, status } = data
  const network = config.networks.find((candidate) => candidate.networkId === networkId)
  if (network === undefined) throw new FatalError(`network ${networkId} is not configured`)
  hideAddresses(config)
  const logger = createLogger(config.log, { networkId })
  const row = statusRow(status, networkId)
  const thread = watchThread(new IndexerCounts(status.counts, networkId))
  let notes: BoardNotes | undefined
  const stopHeartbeat = startHeartbeat(row, config.health.heartbeatTimeoutMs, () => {
    thread.measure()
    notes?.look()
  })
  const writer = openShardWriter({ config, networkId, compiled, status })
  const proposer = handOn(writer)
  const noted = writer.noted()
  notes = new BoardNotes({ row, noted, untold: UNTOLD, proposer, clock: systemClock, signal })
  const own = { config, network, compiled, status, row: notes.row, writer, proposer, logger, post }
  try {
    await syncNetwork(
      {
        ...own,
        commits: new CommitWatch(status),
        ...(openClient === undefined ? {} : { openClient }),
      },
      signal,
    )
  } finally {
    await writer.close()
    stopHeartbeat()
    thread.close()
  }
  post({ type: 'stopped', networkId })
}
