import { type StatusBoardHandle, statusRow } from '../../board/statusBoard.js'
import type { Config } from '../../config/config.types.js'
import { FatalError } from '../../errors/chainErrors.js'
import { InvariantError } from '../../errors/invariantError.js'
import { getRoot } from '../../merkle/treeProofs.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import { asNetworkId, type BlockNumber } from '../../protocol/units.js'
import { type MetaName, metaKey } from '../../store/layout/keys.js'
import { decodeStartOvers, encodeStartOvers } from '../../store/layout/metaValues.js'
import { type TableName, tables } from '../../store/layout/tables.js'
import { shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreWriter } from '../../store/shardStore.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import { epochMs, monotonicMs } from '../../telemetry/clocks.js'
import { type CompiledMerkle, createHasher } from '../../wasm/wasmModule.js'
import type { LocalExitRoots } from '../localExitRoots.types.js'
import {
  lowerFinalized,
  noteRewind,
  putCatchingUp,
  putCheckpoint,
  raiseFinalized,
  readCatchingUp,
  readCheckpoint,
  readCounters,
  readFinalized,
  readHeaderAtOrBelow,
  readOldestAncestor,
  readOrigin,
  readPerTransactionFrom,
  readUndoFloor,
  removeHeadersAbove,
  removeOrigin,
} from '../position/chainPosition.js'
import { publishStored, readCounts } from '../position/storedStatus.js'
import type { SenderNotes, ShardWriter, StartOvers } from '../shardWriter.types.js'
import { openLocalExitRoots } from '../snapshot/localExitRoots.js'
import { localExitTreeSource, readLineages } from '../snapshot/tiles.js'
import { applyBlocks } from './applyBlocks.js'
import { applyPolledGers, applySettledRoots, readPolledLeaves } from './applyOutsideBlocks.js'
import { openContractState } from './contractState.js'
import { type PreparedBatch, prepareBatch } from './prepareBatch.js'
import { correctSenders, listNotedSenders, listUnresolvedSenders, resolveSenders } from './resolveSenders.js'
import { countSenderNotes } from './senderRows.js'
import { WriteContext } from './writeContext.js'
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
  const store = openShardStoreWriter(shardDirectory(config.dataDir, networkId))
  const hasher = createHasher(compiled)
  const memory = createWriterMemory(asNetworkId(networkId), hasher)
  const row = statusRow(status, networkId)

  const commit = (body: (view: WriteView) => void): void => {
    try {
      store.transact((view) => {
        body(view)
        // Set just before readers can see the commit, and not earlier: while it is set, no kept answer is served.
        row.set('committing', 1)
      })
      publishStored(store, row)
      row.set('lastCommitMs', epochMs())
      row.set('progressMs', monotonicMs())
      // Set last, so that a reader of the new `tip` sees all the fields above, too.
      row.add('tip', 1)
    } catch (error) {
      memory.dictionaries.forget()
      endTornCommit()
      throw error
    }
    row.set('committing', 0)
  }
  // It is unknown whether the commit was made. `tip` moves, so that answers kept before it are void in any case.
  const endTornCommit = (): void => {
    row.add('tip', row.get('committing'))
    row.set('committing', 0)
  }
  /** Numbers of noted rows. Kept, since there may be too many to count them again. */
  let notes = countSenderNotes(store)
  const publishNotes = (counted: SenderNotes): void => {
    notes = counted
    row.set('provisionalSenders', notes.provisional)
    row.set('unknownSenders', notes.unknown)
  }
  const write = (body: (context: WriteContext) => void, prepared?: PreparedBatch): void => {
    const added = { provisional: 0, unknown: 0 }
    commit((view) => {
      const context = new WriteContext(view, memory, prepared)
      body(context)
      for (const { newNotes } of [context.depositSenders, context.claimSenders]) {
        added.provisional += newNotes.provisional
        added.unknown += newNotes.unknown
      }
    })
    if (added.provisional !== 0 || added.unknown !== 0)
      publishNotes({
        provisional: notes.provisional + added.provisional,
        unknown: notes.unknown + added.unknown,
      })
  }
  publishStored(store, row)
  publishNotes(notes)
  // A thread before this one may have died in a commit.
  endTornCommit()

  return {
    contractState: openContractState(store, hasher),
    exitRoots: openLocalExitRoots(store, hasher, (found) => commit((view) => applySettledRoots(view, found))),
    checkpoint: () => readCheckpoint(store),
    origin: () => readOrigin(store),
    headerAtOrBelow: (block) => readHeaderAtOrBelow(store, block),
    counts: () => readCounts(store),
    localExitRoot() {
      const { lineage, deposits } = readCounters(store)
      return getRoot(localExitTreeSource(store, hasher, lineage), lineage, deposits)
    },
    applyBlocks(batch) {
      const prepared = prepareBatch(batch, memory)
      write((context) => applyBlocks(context, batch), prepared)
    },
    revertTo(ancestor) {
      commit((view) => revertTo(view, ancestor, network.startBlock))
      memory.dictionaries.forget()
      publishNotes(countSenderNotes(store))
    },
    oldestAncestor: () => readOldestAncestor(store),
    startOver(startOvers) {
      commit((view) => emptyShard(view, startOvers))
      memory.dictionaries.forget()
      publishNotes(countSenderNotes(store))
    },
    startOvers: () => readStartOvers(store),
    noteStartOvers(startOvers) {
      commit((view) => putStartOvers(view, startOvers))
    },
    noteCatchingUp(isCatchingUp) {
      if (isCatchingUp !== readCatchingUp(store)) commit((view) => putCatchingUp(view, isCatchingUp))
    },
    perTransactionFrom: () => readPerTransactionFrom(store),
    setFinalized(block) {
      const checkpoint = readCheckpoint(store)
      if (checkpoint === undefined) return
      const reached = Math.min(block, checkpoint.number) as BlockNumber
      const before = readFinalized(store)
      if (before === undefined || reached > before) commit((view) => raiseFinalized(view, reached))
    },
    unresolvedSenders: (limit) => listUnresolvedSenders(store, hasher, limit),
    resolveSenders(resolved) {
      write((context) => resolveSenders(context, resolved))
    },
    senderNotes: () => notes,
    notedSenders: (limit, after) => listNotedSenders(store, hasher, limit, after),
    correctSenders(corrected) {
      write((context) => correctSenders(context, corrected))
    },
    polledLeaves: () => readPolledLeaves(store),
    addPolledGers(globalExitRoots, polledLeaves) {
      write((context) => applyPolledGers(context, globalExitRoots, polledLeaves))
    },
    close: () => store.close(),
  }
}

/** @param startBlock the network's first block: an ancestor of `startBlock` − 1 means that no stored block is on the chain. */
function revertTo(view: WriteView, ancestor: number, startBlock: number): void {
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined || ancestor > checkpoint.number)
    throw new InvariantError(
      `revert to block ${ancestor} above the checkpoint ${checkpoint?.number ?? '(none)'}`,
    )
  const undoFloor = readUndoFloor(view)
  if (ancestor < undoFloor)
    throw new FatalError(`ancestor ${ancestor} of the reorg is below ${undoFloor}, where undo ends`, {
      reason: 'reorg_too_deep',
    })
  let header: BlockHeader | undefined
  if (ancestor !== startBlock - 1) {
    header = readHeaderAtOrBelow(view, ancestor)
    if (header?.number !== ancestor) throw new InvariantError(`block ${ancestor} has no stored header`)
  }
  const before = readCounters(view)
  const lineages = readLineages(view, before.lineage)
  view.undoAbove(ancestor)
  removeHeadersAbove(view, ancestor)
  putCheckpoint(view, header)
  if (header === undefined) removeOrigin(view)
  lowerFinalized(view, header?.number)
  const after = readCounters(view)
  // Undoing a cut brings back deposits whose counts other deposits had in the meantime.
  const undoneCuts = lineages.slice(after.lineage + 1).map(({ cut }) => cut)
  const rewind = {
    deposits: Math.min(after.deposits, ...undoneCuts),
    claims: after.claims,
    tokenMappings: after.tokenMappings,
  }
  noteRewind(view, rewind, { isReorg: true })
}

/** Meta entries that stay when a shard is emptied: what identifies chain and store, and numbers that must never fall for readers. */
const KEPT_NAMES: ReadonlySet<MetaName> = new Set([
  'schema',
  'identity',
  'origin',
  'epoch',
  'commits',
  'startOvers',
  'senderCorrections',
])

const ALL_KEYS = { start: Uint8Array.of(0), end: Uint8Array.of(0xff) }

/** Empties the shard inside the transaction. Readers see it as a reorg of every block. */
export function emptyShard(view: WriteView, startOvers: StartOvers): void {
  view.setUndoBlock(undefined)
  for (const table of Object.keys(tables) as TableName[]) if (table !== 'meta') view.clear(table)
  const kept = [...KEPT_NAMES].map((name) => Buffer.from(metaKey(name)).toString('latin1'))
  for (const { key } of view.list('meta', ALL_KEYS))
    if (!kept.includes(Buffer.from(key).toString('latin1'))) view.remove('meta', key)
  noteRewind(view, { deposits: 0, claims: 0, tokenMappings: 0 }, { isReorg: true })
  putStartOvers(view, startOvers)
}

function readStartOvers(view: ReadView): StartOvers | undefined {
  const stored = view.get('meta', metaKey('startOvers'))
  return stored === undefined ? undefined : decodeStartOvers(stored)
}

function putStartOvers(view: WriteView, startOvers: StartOvers): void {
  view.put('meta', metaKey('startOvers'), encodeStartOvers(startOvers))
}
