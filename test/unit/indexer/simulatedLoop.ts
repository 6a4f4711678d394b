import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'
import type { SyncMessage } from '../../../src/indexer/indexerMessages.js'
import { runSyncLoop, type SyncLoopOptions } from '../../../src/indexer/sync/syncLoop.js'
import { handOn } from '../../../src/shard/proposer.js'
import { noCommits } from '../../support/commitWatches.js'
import type { FakeNetwork } from '../../support/fakeChain.js'
import { quietReport } from '../../support/keepingLogger.js'
import { openSimulated } from '../../support/simulatedPosts.js'
import { VirtualClock } from '../../support/virtualClock.js'
import { openWatchedShard } from './watchedShard.js'

/** The real client and loop over endpoints in memory, in virtual time, and a shard. No other network has deposits or commits. */
export function openSimulatedLoop(network: FakeNetwork, options?: Parameters<typeof openSimulated>[2]) {
  const { networkId } = network
  const clock = new VirtualClock()
  const simulated = openSimulated(network, clock, options)
  const board = createStatusBoard([networkId])
  const row = statusRow(board, networkId)
  const shard = openWatchedShard(networkId, board)
  const messages: SyncMessage[] = []
  const loop: SyncLoopOptions = {
    ...{
      network: simulated.settings,
      client: simulated.client,
      writer: shard,
      proposer: handOn(shard),
      clock,
    },
    report: quietReport(networkId, row, clock, messages),
    indexedDeposits: () => new Map(),
    commits: noCommits,
  }
  /** Each run is a restart on the same shard. */
  const run = (signal: AbortSignal, beside: Partial<SyncLoopOptions> = {}): Promise<void> =>
    runSyncLoop({ ...loop, ...beside }, signal)
  return { ...simulated, clock, row, shard, messages, run }
}
