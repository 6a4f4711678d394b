import { CommitWatch, type StatusRow, statusRow } from '../../board/statusBoard.js'
import { createChainClient } from '../../chain/client/chainClient.js'
import { hideAddresses } from '../../config/hideAddresses.js'
import { FatalError } from '../../errors/chainErrors.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import { asNetworkId } from '../../protocol/units.js'
import { handOn } from '../../shard/proposer.js'
import { openL1ShardReader } from '../../shard/readiness/l1ShardReader.js'
import { openShardWriter } from '../../shard/write/writer.js'
import { systemClock } from '../../telemetry/clocks.js'
import { IndexerCounts } from '../../telemetry/counts/indexerCounts.js'
import { watchThread } from '../../telemetry/counts/threadTimes.js'
import { createLogger } from '../../telemetry/logger.js'
import { collectGarbage } from '../../telemetry/processMemory.js'
import { createHasher, createLogScanner } from '../../wasm/wasmModule.js'
import type { IndexerMessage, IndexerWorkerData } from '../indexerMessages.js'
import { ExitRootSearch } from '../sync/exitRootSearch.js'
import { GerPoller } from '../sync/gerPoller.js'
import { HeadHints } from '../sync/headHints.js'
import { runSyncLoop } from '../sync/syncLoop.js'
import { SyncReport } from '../syncReport.js'

/**
 * The whole life of an indexer thread: opens the shard and the chain client, syncs until `signal` aborts, closes both. The last
 * message is `stopped`: after it nothing of the thread holds the store.
 * @param openClient benches pass another one.
 */
export async function runIndexer(
  data: IndexerWorkerData,
  signal: AbortSignal,
  post: (message: IndexerMessage) => void,
  openClient: typeof createChainClient = createChainClient,
): Promise<void> {
  const { config, networkId, compiled, status } = data
  const network = config.networks.find((candidate) => candidate.networkId === networkId)
  if (network === undefined) throw new FatalError(`network ${networkId} is not configured`)
  hideAddresses(config)
  const logger = createLogger(config.log, { networkId })
  const row = statusRow(status, networkId)
  const counts = new IndexerCounts(status.counts, networkId)
  const thread = watchThread(counts)
  const stopHeartbeat = startHeartbeat(row, config.health.heartbeatTimeoutMs, () => thread.measure())
  const writer = openShardWriter({ config, networkId, compiled, status })
  const proposer = handOn(writer)
  const client = openClient({ network, logger, scanner: createLogScanner(compiled), counts })
  const report = new SyncReport({ networkId, row, post, logger, clock: systemClock, counts })
  const leaves = networkId === L1_NETWORK_ID ? undefined : openL1ShardReader(config, createHasher(compiled))
  const l1 = statusRow(status, L1_NETWORK_ID)
  const polling =
    leaves === undefined || network.gerInjection === 'event'
      ? {}
      : { gerPoller: new GerPoller({ network, client, writer, proposer, leaves, row, l1 }) }
  const rows = config.networks.map(
    (each) => [asNetworkId(each.networkId), statusRow(status, each.networkId)] as const,
  )
  const indexedDeposits = () => new Map(rows.map(([id, of]) => [id, Math.max(0, of.get('depositCount'))]))
  const { rpc: endpoints, rpcTimeoutMs: timeoutMs } = network
  const headHints = new HeadHints({ endpoints, timeoutMs, clock: systemClock, logger })
  const ofL1 =
    leaves === undefined
      ? {}
      : {
          leaves,
          exitRootSearch: new ExitRootSearch({
            networkId: asNetworkId(networkId),
            exitRoots: writer.exitRoots,
            proposer,
            settlements: leaves,
            clock: systemClock,
            row,
            l1,
          }),
        }
  try {
    await runSyncLoop(
      {
        network,
        client,
        writer,
        proposer,
        clock: systemClock,
        report,
        headHints,
        commits: new CommitWatch(status),
        indexedDeposits,
        afterHistory: collectGarbage,
        ...ofL1,
        ...polling,
      },
      signal,
    )
  } finally {
    headHints.close()
    client.close()
    await leaves?.close()
    await writer.close()
    stopHeartbeat()
    thread.close()
  }
  post({ type: 'stopped', networkId })
}

/** Longest time between two heartbeats. Each one wakes the thread, also of a network that rests. */
const BEAT_EVERY_MS = 5_000
/** Heartbeats in the shortest time without one that ends the process. */
const BEATS_IN_TIMEOUT = 4

/**
 * Counts up in shared memory while this thread lives. A thread that hangs, for example behind a transaction that a dead thread
 * left open, stops counting, and the supervisor ends the process.
 * @param onBeat called with each.
 * @returns a function that stops it.
 */
function startHeartbeat(row: StatusRow, timeoutMs: number, onBeat: () => void): () => void {
  const beat = (): void => {
    row.add('heartbeats', 1)
    onBeat()
  }
  beat()
  const timer = setInterval(beat, Math.min(BEAT_EVERY_MS, timeoutMs / BEATS_IN_TIMEOUT))
  timer.unref()
  return () => clearInterval(timer)
}
