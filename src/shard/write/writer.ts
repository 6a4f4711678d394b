import type { HaltReason } from '../../board/haltReason.js'
import { type HeadPlace, headPlaces, type StatusBoardHandle, statusRow } from '../../board/statusBoard.js'
import type { Config } from '../../config/config.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import { asNetworkId } from '../../protocol/units.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreWriter } from '../../store/shardStore.js'
import { monotonicMs, unixMs } from '../../telemetry/clocks.js'
import { IndexerCounts } from '../../telemetry/counts/indexerCounts.js'
import { type CompiledMerkle, createHasher } from '../../wasm/wasmModule.js'
import type { LocalExitRoots } from '../localExitRoots.types.js'
import {
  readCheckpoint,
  readHeaderAtOrBelow,
  readOldestAncestor,
  readOrigin,
  readPerTransactionFrom,
} from '../position/chainPosition.js'
import { readHaltReason, readHeadPlace, readLogPlace, readLogSettings } from '../position/logPosition.js'
import { publishFeed, publishStored, readShardCounts } from '../position/storedStatus.js'
import type { CommandOutcome, ShardCommand } from '../shardCommand.types.js'
import type { LogPlace } from '../shardLog.types.js'
import type { ShardWriter } from '../shardWriter.types.js'
import { openLocalExitRoots } from '../snapshot/localExitRoots.js'
import { applyCommand, changesNothing, type OpenShard } from './applyCommand.js'
import { readPolledLeaves } from './applyOutsideBlocks.js'
import { openContractState } from './contractState.js'
import { readStartOvers } from './emptyShard.js'
import { FeedAhead } from './feedAhead.js'
import { listNotedSenders, listUnresolvedSenders } from './resolveSenders.js'
import { countSenderNotes } from './senderRows.js'
import { makeMark, readLocalExitRoot, stretchAfter } from './shardMark.js'
import { createWriterMemory } from './writerMemory.js'

/** What a writer needs: plain data that can be sent to the indexer thread. */
export interface ShardWriterOptions {
  readonly config: Config
  readonly networkId: number
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
}

/**
 * Opens the only writer of a network's shard. `prepareStores` must have been called before. Publishes on the status board what is
 * stored, now and after each commit.
 * @throws FatalError when the network is not configured.
 */
export function openShardWriter({
  config,
  networkId,
  compiled,
  status,
}: ShardWriterOptions): ShardWriter & { readonly exitRoots: LocalExitRoots } {
  const network = config.networks.find((candidate) => candidate.networkId === networkId)
  if (network === undefined) throw new FatalError(`network ${networkId} is not configured`)
  const counts = new IndexerCounts(status.counts, networkId)
  const store = openShardStoreWriter(
    shardDirectory(config.dataDir, networkId),
    undefined,
    undefined,
    (seconds) => counts.committed(seconds),
  )
  const hasher = createHasher(compiled)
  const memory = createWriterMemory(asNetworkId(networkId), hasher, countSenderNotes(store))
  const { keepEvents } = config.feed
  const shard: OpenShard = { store, memory, startBlock: network.startBlock, keepEvents }
  const row = statusRow(status, networkId)
  const ahead = new FeedAhead(status, networkId)

  const apply = (command: ShardCommand, place?: LogPlace): CommandOutcome => {
    let isCommitted = false
    try {
      const outcome = applyCommand(shard, command, place, () => {
        // Set just before readers can see the commit, and not earlier: while it is set, no kept answer is served.
        row.set('committing', 1)
        isCommitted = true
      })
      if (!isCommitted) {
        if (command.type !== 'noteClaimable') return outcome
        if (outcome.type === 'applied') ahead.told(command.news.madeFrom)
        publishFeed(store, row)
        row.announceFeed()
        return outcome
      }
      publishStored(store, row)
      row.set('lastCommitMs', unixMs())
      row.set('progressMs', monotonicMs())
      // Set last, so that a reader of the new `commits` sees all the fields above, too.
      row.add('commits', 1)
      row.set('committing', 0)
      publishNotes()
      publishNoted()
      return outcome
    } catch (error) {
      endTornCommit()
      throw error
    }
  }
  // It is unknown whether the commit was made. `commits` moves, so that answers kept before it are void in any case.
  const endTornCommit = (): void => {
    row.add('commits', row.get('committing'))
    row.set('committing', 0)
  }
  const publishNotes = (): void => {
    row.set('provisionalSenders', memory.senderNotes.provisional)
    row.set('unknownSenders', memory.senderNotes.unknown)
  }
  let haltTold: HaltReason = 'none'
  let headPlaceTold: HeadPlace | undefined
  /** What notes tell. */
  const publishNoted = (): void => {
    const reason = readHaltReason(store)
    // Whoever proposes a note shows the board first what it says.
    const isTold = reason === haltTold || reason === row.haltReason()
    if (isTold || row.replaceHaltReason(haltTold, reason)) haltTold = reason
    const headPlace = readHeadPlace(store)
    if (headPlace !== undefined && headPlace !== headPlaceTold && headPlace !== row.headPlace())
      row.setHeadPlace(headPlace)
    headPlaceTold = headPlace
  }
  publishStored(store, row)
  publishNotes()
  // What was noted of the head was true when it was noted. After a start somebody must look again.
  if (row.headPlace() === headPlaces.unseen) headPlaceTold = readHeadPlace(store)
  publishNoted()
  // A thread before this one may have died in a commit.
  endTornCommit()

  return {
    apply,
    saysNothingNew: (command) => changesNothing(store, command),
    contractState: openContractState(store, hasher),
    exitRoots: openLocalExitRoots(store, hasher),
    checkpoint: () => readCheckpoint(store),
    origin: () => readOrigin(store),
    headerAtOrBelow: (block) => readHeaderAtOrBelow(store, block),
    oldestAncestor: () => readOldestAncestor(store),
    counts: () => readShardCounts(store),
    localExitRoot: () => readLocalExitRoot(store, hasher),
    startOvers: () => readStartOvers(store),
    perTransactionFrom: () => readPerTransactionFrom(store),
    unresolvedSenders: (limit) => listUnresolvedSenders(store, hasher, limit),
    senderNotes: () => memory.senderNotes,
    notedSenders: (range) => listNotedSenders(store, hasher, range),
    polledLeaves: () => readPolledLeaves(store),
    noted: () => ({
      halt: readHaltReason(store),
      headPlace: readHeadPlace(store) ?? headPlaces.inStep,
    }),
    logPlace: () => readLogPlace(store),
    logSettings: () => readLogSettings(store),
    mark: (stretch) => makeMark(store, hasher, stretch),
    stretchAfter: (stretch) => stretchAfter(store, stretch),
    close: () => {
      ahead.close()
      return store.close()
    },
  }
}
