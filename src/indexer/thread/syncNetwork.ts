import {
  type CommitWatch,
  changeReader,
  type StatusBoardHandle,
  type StatusRow,
  statusRow,
} from '../../board/statusBoard.js'
import { createChainClient } from '../../chain/client/chainClient.js'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import { asNetworkId } from '../../protocol/units.js'
import type { Proposer } from '../../shard/proposer.js'
import { hasEveryStore, openShardReaders, type ShardReaders } from '../../shard/queries/shardReaders.js'
import { ClaimableSearch } from '../../shard/readiness/claimableSearch.js'
import { openL1ShardReader } from '../../shard/readiness/l1ShardReader.js'
import type { openShardWriter } from '../../shard/write/writer.js'
import { systemClock } from '../../telemetry/clocks.js'
import { IndexerCounts } from '../../telemetry/counts/indexerCounts.js'
import type { Logger } from '../../telemetry/logger.js'
import { collectGarbage } from '../../telemetry/processMemory.js'
import { type CompiledMerkle, createHasher, createLogScanner } from '../../wasm/wasmModule.js'
import type { SyncMessage } from '../indexerMessages.js'
import { ExitRootSearch } from '../sync/exitRootSearch.js'
import { GerPoller } from '../sync/gerPoller.js'
import { HeadHints } from '../sync/headHints.js'
import { runSyncLoop } from '../sync/syncLoop.js'
import { SyncReport } from '../syncReport.js'

export interface SyncNetworkOptions {
  readonly config: Config
  readonly network: NetworkConfig
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  /** Where the loop writes how the network is: its row of `status`, or one in front of that. */
  readonly row: StatusRow
  /** Of the thread: it can wait once at a time. */
  readonly commits: CommitWatch
  readonly writer: ReturnType<typeof openShardWriter>
  readonly proposer: Proposer
  readonly logger: Logger
  readonly post: (message: SyncMessage) => void
  /** Benches pass another one. */
  readonly openClient?: typeof createChainClient
}

/**
 * Reads a network's chain, and proposes what it says, until `signal` aborts. All that remembers chain or shard is made anew for each call, and
 * closed at its end.
 */
export async function syncNetwork(options: SyncNetworkOptions, signal: AbortSignal): Promise<void> {
  const { config, network, compiled, status, row, commits, writer, proposer, logger, post } = options
  const { openClient = createChainClient } = options
  const { networkId, rpc: endpoints, rpcTimeoutMs: timeoutMs } = network
  const clock = systemClock
  const counts = new IndexerCounts(status.counts, networkId)
  const client = openClient({ network, logger, scanner: createLogScanner(compiled), counts })
  const { halt } = writer.noted()
  const report = new SyncReport({ networkId, row, halt, post, logger, clock, counts })
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
  let shards: ShardReaders | undefined
  const openReaders = () => {
    // Another network's store was removed under the service: that is no fault of this one.
    if (!hasEveryStore(config)) return undefined
    shards = openShardReaders({ config, compiled, status })
    return shards
  }
  const claimables = new ClaimableSearch(openReaders, asNetworkId(networkId), changeReader(status))
  const headHints = new HeadHints({ endpoints, timeoutMs, clock, logger })
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
            clock,
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
        clock,
        report,
        headHints,
        commits,
        indexedDeposits,
        claimables,
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
    await shards?.close()
  }
}
