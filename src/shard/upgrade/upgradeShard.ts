import { HASH_BYTES } from '../../merkle/branch.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf } from '../../merkle/treeProofs.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { LISTED_METADATA_BYTES } from '../../protocol/metadata.js'
import { readUint48BigEndian } from '../../store/layout/bytes.js'
import { CLAIM_BYTES, claimBlockNumber } from '../../store/layout/claimRow.js'
import { DEPOSIT_BYTES, depositBlockNumber } from '../../store/layout/depositRow.js'
import { latin1, metaKey, uint32Key } from '../../store/layout/keys.js'
import { type Counters, decodeCounters, encodeCounters } from '../../store/layout/metaValues.js'
import { isNobody, SENDER_BYTES, senderNotes, senderRowKey } from '../../store/layout/senderRow.js'
import {
  decodeGerState,
  decodeInjectedGerEntry,
  encodeMetadataDigest,
  encodeUint32,
} from '../../store/layout/smallRows.js'
import {
  CLAIMS_PER_CHUNK,
  DEPOSITS_PER_CHUNK,
  hashKinds,
  SENDERS_PER_CHUNK,
} from '../../store/layout/tables.js'
import { encodeGerRemovalEntry, type GerRemovalEntry } from '../../store/places/gerRemovalEntry.js'
import type { ReadView, ShardStoreWriter, WriteView } from '../../store/shardStore.types.js'
import { readIdentity, SCHEMA_VERSION } from '../../store/storeIdentity.js'
import { decodeUndoPart, undoKey } from '../../store/undo.js'
import { putCatchingUp, readCounters, readUndoFloor, senderWatermark } from '../position/chainPosition.js'
import { readLineageSpans } from '../snapshot/localExitRoots.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { HashRunAppender, truncateEntries } from '../write/hashRunAppender.js'
import { cutRegrown, noteRegrown } from '../write/localExitTree.js'
import { StoredRows } from '../write/storedRows.js'

/** The oldest schema that can be brought up to date in place. */
export const OLDEST_UPGRADABLE = 4
/** The schema of stores that followed a log before there were feeds. No store that follows a log can be upgraded. */
export const SCHEMA_OF_LOGS = 6

/** What an upgrade has added to a shard. */
export interface Upgraded {
  /** Rows without a sender, which are asked for again from now on. */
  readonly unknownSenders: number
  readonly longMetadata: number
}

/**
 * Brings a shard of an older schema to this build's, in one transaction: it is of one schema or of the other, whenever the process ends.
 * Rows and trees are the same in all; what later schemas derive from them besides is derived here, with undo for blocks that may still be
 * undone. What they keep of events that older builds did not is absent, which readers tell as unknown. A feed stays as it is; one that a
 * schema below 7 has begins anew with the next start, and its readers read the lists once.
 * @param onProgress is called with the share that is done, 0 to 1.
 */
export function upgradeShard(
  store: ShardStoreWriter,
  hasher: TreeHasher,
  onProgress: (share: number, what: string) => void,
): Upgraded {
  return store.transact((view) => {
    const { schema } = readIdentity(view)!
    const history = readUndoneHistory(view)
    const added =
      schema === 4 ? deriveSchema5(view, hasher, history, onProgress) : { unknownSenders: 0, longMetadata: 0 }
    if (schema < 7) emptyFeed(view)
    onProgress(0.8, 'leaf hashes')
    noteLeafHashes(view, hasher, history)
    noteGerRemovals(view, history)
    view.setUndoBlock(undefined)
    rewriteCounters(view)
    view.put('meta', metaKey('schema'), encodeUint32(SCHEMA_VERSION))
    onProgress(1, 'done')
    return added
  })
}

function deriveSchema5(
  view: WriteView,
  hasher: TreeHasher,
  history: readonly UndoableBlock[],
  onProgress: (share: number, what: string) => void,
): Upgraded {
  onProgress(0, 'metadata')
  const longMetadata = noteLongMetadata(view, hasher, history)
  onProgress(0.3, 'senders')
  const unknownSenders =
    noteNobodies(view, 'deposit', 'depositSenders', 'deposits') +
    noteNobodies(view, 'claim', 'claimSenders', 'claims')
  onProgress(0.6, 'regrown deposits')
  noteAllRegrown(view, hasher, history)
  view.setUndoBlock(undefined)
  // Builds of schema 4 compared fewer things with the contracts: nothing is ready before the next run has compared them.
  putCatchingUp(view, true)
  return { unknownSenders, longMetadata }
}

/** A build that was tried may have begun a feed, and an older one gone on without telling it. */
function emptyFeed(view: WriteView): void {
  view.clear('feed')
  view.clear('claimable')
  for (const name of ['feed', 'feedFile', 'claimableTold'] as const) view.removeUnseen('meta', metaKey(name))
}

/** A block that may be undone, as its undo record tells of it. */
interface UndoableBlock {
  readonly block: number
  /** Counters before it; undefined when it changed none. */
  readonly before: Counters | undefined
  /** Ids of metadata that it stored first. */
  readonly metadata: ReadonlySet<number>
  /** Global exit roots whose state it changed, as text. */
  readonly globalExitRoots: ReadonlySet<string>
}

/** The blocks that may be undone, oldest first. */
function readUndoneHistory(view: ReadView): UndoableBlock[] {
  const counters = latin1(metaKey('counters'))
  const blocks: (UndoableBlock & {
    before: Counters | undefined
    readonly metadata: Set<number>
    readonly globalExitRoots: Set<string>
  })[] = []
  let start = undoKey(0, 0)
  for (;;) {
    const [entry] = view.list('undo', { start, end: undoKey(2 ** 48 - 1, 0xffff), limit: 1 })
    if (entry === undefined) return blocks
    const block = readUint48BigEndian(entry.key, 0)
    if (blocks.at(-1)?.block !== block)
      blocks.push({ block, before: undefined, metadata: new Set(), globalExitRoots: new Set() })
    const last = blocks.at(-1)!
    for (const { table, key, value } of decodeUndoPart(entry.value)) {
      // The first part has the oldest value.
      if (table === 'meta' && latin1(key) === counters) last.before ??= decodeCounters(value)
      if (table === 'gerStates') last.globalExitRoots.add(latin1(key))
      if (table === 'metadata' && value === undefined) last.metadata.add(readUint32BigEndian(key, 0))
    }
    start = new Uint8Array(entry.key.length + 1)
    start.set(entry.key)
  }
}

/** Stores the digests of metadata that is too long for lists. @returns how many. */
function noteLongMetadata(view: WriteView, hasher: TreeHasher, history: readonly UndoableBlock[]): number {
  let found = 0
  for (let id = 0; id < readCounters(view).metadata; id++) {
    const stored = view.get('metadata', uint32Key(id))
    if (stored === undefined || stored.length <= LISTED_METADATA_BYTES) continue
    const { length } = stored
    const hash = new Uint8Array(hasher.hash(stored))
    view.setUndoBlock(history.find(({ metadata }) => metadata.has(id))?.block)
    view.put('longMetadata', uint32Key(id), encodeMetadataDigest({ length, hash }))
    found++
  }
  return found
}

/** Notes every row that has no sender, so that it is asked for again. @returns how many. */
function noteNobodies(
  view: WriteView,
  kind: 'deposit' | 'claim',
  senders: 'depositSenders' | 'claimSenders',
  table: 'deposits' | 'claims',
): number {
  const undoFloor = readUndoFloor(view)
  const rows =
    kind === 'deposit'
      ? new StoredRows(view, table, DEPOSIT_BYTES, DEPOSITS_PER_CHUNK)
      : new StoredRows(view, table, CLAIM_BYTES, CLAIMS_PER_CHUNK)
  const senderRows = new StoredRows(view, senders, SENDER_BYTES, SENDERS_PER_CHUNK)
  const blockOf = kind === 'deposit' ? depositBlockNumber : claimBlockNumber
  let found = 0
  for (let ordinal = 0; ordinal < senderWatermark(view, kind); ordinal++) {
    const offset = senderRows.open(ordinal)
    if (!isNobody(senderRows.bytes, offset)) continue
    const at = rows.open(ordinal)
    const block = blockOf(rows.bytes, at)
    view.setUndoBlock(block > undoFloor ? block : undefined)
    view.put('senderNotes', senderRowKey(kind, ordinal), Uint8Array.of(senderNotes.unknown))
    found++
  }
  return found
}

/** Stores which deposits of older lineages grew again. */
function noteAllRegrown(view: WriteView, hasher: TreeHasher, history: readonly UndoableBlock[]): void {
  const now = readCounters(view)
  if (now.lineage === 0) return
  const spans = readLineageSpans(view, now)
  const tree = localExitTreeSource(view, hasher, now.lineage)
  playGrowth(view, hasher, history, {
    grow(lineage, from, leaves) {
      if (lineage > 0) noteRegrown(view, tree, spans.slice(0, lineage), from, leaves)
    },
    cut: (lineage, kept) => cutRegrown(view, lineage, kept),
    endBlock: () => undefined,
  })
}

/** Stores by which leaf hash each deposit is found. */
function noteLeafHashes(view: WriteView, hasher: TreeHasher, history: readonly UndoableBlock[]): void {
  const kind = hashKinds.depositsByLeafHash
  const hashRuns = new HashRunAppender(view)
  playGrowth(view, hasher, history, {
    grow(_lineage, from, leaves) {
      for (let at = 0; at < leaves.length; at += HASH_BYTES)
        hashRuns.append(kind, leaves, at, from + at / HASH_BYTES)
    },
    cut(_lineage, kept, removed) {
      hashRuns.flush()
      for (let at = 0; at < removed.length; at += HASH_BYTES)
        truncateEntries(view, kind, removed.subarray(at, at + HASH_BYTES), kept)
    },
    endBlock: () => hashRuns.flush(),
  })
}

/** What is done while the local exit tree grows once more. */
interface Growth {
  /** @param leaves 32·N bytes, from deposit count `from` on. */
  grow(lineage: number, from: number, leaves: Uint8Array): void
  /** @param lineage that begins with the cut. @param removed leaves of the one before, from deposit count `kept` on. */
  cut(lineage: number, kept: number, removed: Uint8Array): void
  /** Before the next block's undo begins. */
  endBlock(): void
}

/**
 * Plays the growth of the local exit tree: in one step up to the oldest block that may be undone, then block by block, each with its
 * undo.
 */
function playGrowth(
  view: WriteView,
  hasher: TreeHasher,
  history: readonly UndoableBlock[],
  growth: Growth,
): void {
  const now = readCounters(view)
  const spans = readLineageSpans(view, now)
  const tree = localExitTreeSource(view, hasher, now.lineage)
  const leavesOf = (of: number, from: number, end: number): Uint8Array => {
    const leaves = new Uint8Array(HASH_BYTES * Math.max(0, end - from))
    for (let at = from; at < end; at++) leaves.set(getLeaf(tree, of, at), HASH_BYTES * (at - from))
    return leaves
  }
  let [lineage, deposits] = [0, 0]
  const growTo = (leafCount: number): void => {
    if (leafCount > deposits) growth.grow(lineage, deposits, leavesOf(lineage, deposits, leafCount))
    deposits = Math.max(deposits, leafCount)
  }
  const playTo = (after: Counters): void => {
    while (lineage < after.lineage) {
      growTo(spans[lineage]!.leafCount)
      const { cut } = spans[lineage + 1]!
      growth.cut(lineage + 1, cut, leavesOf(lineage, cut, deposits))
      lineage++
      deposits = cut
    }
    growTo(after.deposits)
    growth.endBlock()
  }
  const changes = history.filter(({ before }) => before !== undefined)
  view.setUndoBlock(undefined)
  playTo(changes[0]?.before ?? now)
  for (const [at, { block }] of changes.entries()) {
    view.setUndoBlock(block)
    playTo(changes[at + 1]?.before ?? now)
  }
}

/**
 * Stores which global exit roots are out of the manager. When and by what they were removed is not known any more, nor that a root was
 * removed and injected again: such removals have no row.
 */
function noteGerRemovals(view: WriteView, history: readonly UndoableBlock[]): void {
  const now = readCounters(view)
  const settled: GerRemovalEntry[] = []
  const byBlock = new Map<UndoableBlock, GerRemovalEntry[]>()
  for (let injectionOrdinal = 0; injectionOrdinal < now.gerInjections; injectionOrdinal++) {
    const injected = decodeInjectedGerEntry(view.get('injectedGers', uint32Key(injectionOrdinal))!)
    const globalExitRoot = new Uint8Array(injected.globalExitRoot)
    const state = decodeGerState(view.get('gerStates', globalExitRoot)!)
    if (state.isInForce || state.injectionOrdinal !== injectionOrdinal) continue
    const block = history.findLast(({ globalExitRoots }) => globalExitRoots.has(latin1(globalExitRoot)))
    const removals = block === undefined ? settled : (byBlock.get(block) ?? [])
    if (block !== undefined) byBlock.set(block, removals)
    removals.push({ globalExitRoot, injectionOrdinal, place: undefined })
  }
  const put = (removals: readonly GerRemovalEntry[], first: number): void => {
    for (const [at, entry] of removals.entries())
      view.put('gerRemovals', uint32Key(first + at), encodeGerRemovalEntry(entry))
  }
  view.setUndoBlock(undefined)
  const oldest = history.find(({ before }) => before !== undefined)?.before ?? now
  put(settled, oldest.gerRemovals - settled.length)
  // In the order of the blocks, as undo needs it.
  for (const block of history) {
    view.setUndoBlock(block.block)
    put(byBlock.get(block) ?? [], block.before?.gerRemovals ?? now.gerRemovals)
  }
}

/** Counters as this build writes them: that a store has them does not depend on whether a block came since. */
function rewriteCounters(view: WriteView): void {
  const key = metaKey('counters')
  if (view.get('meta', key) !== undefined) view.put('meta', key, encodeCounters(readCounters(view)))
}
