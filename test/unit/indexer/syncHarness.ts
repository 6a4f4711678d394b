import { createStatusBoard, type StatusRow, statusRow } from '../../../src/board/statusBoard.js'
import type { NetworkConfig } from '../../../src/config/config.types.js'
import type { SyncMessage } from '../../../src/indexer/indexerMessages.js'
import type { ExitRootSearch } from '../../../src/indexer/sync/exitRootSearch.js'
import type { HeadHints } from '../../../src/indexer/sync/headHints.js'
import { runSyncLoop, type SyncLoopOptions } from '../../../src/indexer/sync/syncLoop.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { handOn } from '../../../src/shard/proposer.js'
import { steadyCommits } from '../../support/commitWatches.js'
import { createFakeWorld, type FakeNetwork, type FakeWorld } from '../../support/fakeChain.js'
import { indexedBlock } from '../../support/indexedBlocks.js'
import { quietReport } from '../../support/keepingLogger.js'
import { VirtualClock } from '../../support/virtualClock.js'
import { createWatchedClient, type WatchedClient } from '../../support/watchedClient.js'
import { openWatchedShard, type WatchedShard } from './watchedShard.js'

/** One sync loop over a fake network, in virtual time. */
export interface SyncHarness {
  readonly world: FakeWorld
  readonly network: FakeNetwork
  readonly client: WatchedClient
  readonly shard: WatchedShard
  readonly clock: VirtualClock
  readonly row: StatusRow
  readonly messages: SyncMessage[]
  /**
   * Runs the loop until `done` returns true.
   * @throws when that takes longer than `limitMs` of virtual time.
   */
  run(done: () => boolean, limitMs?: number): Promise<void>
  /** Stops the present run wherever it is, as a restart in the middle of its work. */
  interrupt(): void
}

export interface HarnessOptions {
  readonly config?: Partial<NetworkConfig>
  readonly networkId?: number
  /** Indexed deposits of other networks, by id. */
  readonly indexedDeposits?: () => Iterable<readonly [number, number]>
  readonly headHints?: (clock: VirtualClock) => HeadHints
  readonly exitRootSearch?: Pick<ExitRootSearch, 'hasWork' | 'isBehind' | 'step'>
  readonly afterHistory?: () => void
  /** Commits of other networks; default: there are some all the time. */
  readonly commits?: (clock: VirtualClock) => SyncLoopOptions['commits']
}

/** The loop can run several times: each run is a restart on the same shard. */
export function createSyncHarness(options: HarnessOptions = {}): SyncHarness {
  const world = createFakeWorld()
  const network = world.network(options.networkId ?? 0)
  const clock = new VirtualClock()
  const client = createWatchedClient(network, clock, { pollIntervalMs: 100, logRange: 20, ...options.config })
  const board = createStatusBoard([network.networkId])
  const shard = openWatchedShard(network.networkId, board)
  const row = statusRow(board, network.networkId)
  const messages: SyncMessage[] = []
  const { networkId } = network
  const report = quietReport(networkId, row, clock, messages)
  const headHints = options.headHints?.(clock)
  let stop = new AbortController()
  const run = async (done: () => boolean, limitMs = 120_000): Promise<void> => {
    stop = new AbortController()
    const deadline = clock.now() + limitMs
    let isLate = false
    const look = () => {
      isLate = clock.now() >= deadline
      if (done() || isLate) stop.abort()
      else if (!stop.signal.aborted) clock.after(Math.max(10, limitMs / 4000), look)
    }
    look()
    const indexedDeposits = () =>
      new Map([...(options.indexedDeposits?.() ?? [])].map(([id, count]) => [asNetworkId(id), count]))
    const { exitRootSearch, afterHistory } = options
    const beside = {
      ...(exitRootSearch === undefined ? {} : { exitRootSearch }),
      ...(afterHistory === undefined ? {} : { afterHistory }),
    }
    const loop = {
      network: client.settings,
      client,
      writer: shard,
      proposer: handOn(shard),
      clock,
      report,
      indexedDeposits,
      commits: (options.commits ?? steadyCommits)(clock),
      ...beside,
    }
    await runSyncLoop(headHints === undefined ? loop : { ...loop, headHints }, stop.signal)
    if (isLate && !done()) throw new Error(`not done within ${limitMs} ms, halted: ${row.haltReason()}`)
  }
  const interrupt = () => stop.abort()
  return { world, network, client, shard, clock, row, messages, run, interrupt }
}

/** True when the shard holds exactly the network's chain, senders included. */
export function isInStep({ shard, network }: SyncHarness): boolean {
  const checkpoint = shard.checkpoint()
  if (checkpoint?.number !== network.head.number) return false
  if (shard.counts().unresolvedSenders > 0) return false
  const expected = network.blocks.flatMap((block) => indexedBlock(network, block, false).events)
  const stored = shard.events()
  return stored.length === expected.length && stored.every((event, i) => sameEvent(event, expected[i]!))
}

function sameEvent(a: object, b: object): boolean {
  const plain = (event: object) =>
    JSON.stringify({ ...event, sender: null }, (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
  return plain(a) === plain(b)
}
