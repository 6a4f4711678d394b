import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf } from '../../merkle/treeProofs.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { LISTED_METADATA_BYTES } from '../../protocol/metadata.js'
import { readUint48BigEndian } from '../../store/layout/bytes.js'
import { CLAIM_BYTES, claimBlockNumber } from '../../store/layout/claimRow.js'
import { DEPOSIT_BYTES, depositBlockNumber } from '../../store/layout/depositRow.js'
import { latin1, metaKey, uint32Key } from '../../store/layout/keys.js'
import { type Counters, decodeCounters } from '../../store/layout/metaValues.js'
import { isNobody, SENDER_BYTES, senderNotes, senderRowKey } from '../../store/layout/senderRow.js'
import { encodeMetadataDigest, encodeUint32 } from '../../store/layout/smallRows.js'
import { CLAIMS_PER_CHUNK, DEPOSITS_PER_CHUNK, SENDERS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ReadView, ShardStoreWriter, WriteView } from '../../store/shardStore.types.js'
import { readIdentity, SCHEMA_VERSION } from '../../store/storeIdentity.js'
import { decodeUndoPart, undoKey } from '../../store/undo.js'
import { putCatchingUp, readCounters, readUndoFloor, senderWatermark } from '../position/chainPosition.js'
import { readLineageSpans } from '../snapshot/localExitRoots.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { cutRegrown, noteRegrown } from '../write/localExitTree.js'
import { StoredRows } from '../write/storedRows.js'

/** The oldest schema that can be brought up to date in place. */
export const OLDEST_UPGRADABLE = 4
/** It can't: instances that were upgraded at different places of their log would have different feeds. */
export const SCHEMA_OF_LOGS = 6

/** What an upgrade has added to a shard. */
export interface Upgraded {
  /** Rows without a sender, which are asked for again from now on. */
  readonly unknownSenders: number
  readonly longMetadata: number
}

/**
 * Brings a shard from schema 4 or 5 to this build's, in one transaction: it is of one schema or of the other, whenever the process ends.
 * Rows and trees are the same in all; what schema 5 derives from them besides is derived here, with undo for blocks that may still be
 * undone. The feed of schema 7 is empty: it begins anew with the next start, and its readers read the lists once.
 * @param onProgress is called with the share that is done, 0 to 1.
 */
export function upgradeShard(
  store: ShardStoreWriter,
  hasher: TreeHasher,
  onProgress: (share: number, what: string) => void,
): Upgraded {
  return store.transact((view) => {
    const schema = readIdentity(view)?.schema
    const added =
      schema === 4 ? deriveSchema5(view, hasher, onProgress) : { unknownSenders: 0, longMetadata: 0 }
    emptyFeed(view)
    view.put('meta', metaKey('schema'), encodeUint32(SCHEMA_VERSION))
    onProgress(1, 'done')
    return added
  })
}

function deriveSchema5(
  view: WriteView,
  hasher: TreeHasher,
  onProgress: (share: number, what: string) => void,
): Upgraded {
  const history = readUndoneHistory(view)
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
}

/** The blocks that may be undone, oldest first. */
function readUndoneHistory(view: ReadView): UndoableBlock[] {
  const counters = latin1(metaKey('counters'))
  const blocks: { block: number; before: Counters | undefined; metadata: Set<number> }[] = []
  let start = undoKey(0, 0)
  for (;;) {
    const [entry] = view.list('undo', { start, end: undoKey(2 ** 48 - 1, 0xffff), limit: 1 })
    if (entry === undefined) return blocks
    const block = readUint48BigEndian(entry.key, 0)
    if (blocks.at(-1)?.block !== block) blocks.push({ block, before: undefined, metadata: new Set() })
    const last = blocks.at(-1)!
    for (const { table, key, value } of decodeUndoPart(entry.value)) {
      // The first part has the oldest value.
      if (table === 'meta' && latin1(key) === counters) last.before ??= decodeCounters(value)
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

/**
 * Stores which deposits of older lineages grew again, by playing the growth of the tree: in one step up to the oldest block that may be undone, then
 * block by block, each with its undo.
 */
function noteAllRegrown(view: WriteView, hasher: TreeHasher, history: readonly UndoableBlock[]): void {
  const now = readCounters(view)
  if (now.lineage === 0) return
  const spans = readLineageSpans(view, now)
  const tree = localExitTreeSource(view, hasher, now.lineage)
  let [lineage, deposits] = [0, 0]
  const growTo = (leafCount: number): void => {
    const leaves = new Uint8Array(32 * Math.max(0, leafCount - deposits))
    for (let at = deposits; at < leafCount; at++) leaves.set(getLeaf(tree, lineage, at), 32 * (at - deposits))
    if (lineage > 0 && leafCount > deposits)
      noteRegrown(view, tree, spans.slice(0, lineage), deposits, leaves)
    deposits = Math.max(deposits, leafCount)
  }
  const playTo = (after: Counters): void => {
    while (lineage < after.lineage) {
      growTo(spans[lineage]!.leafCount)
      lineage++
      deposits = spans[lineage]!.cut
      cutRegrown(view, lineage, deposits)
    }
    growTo(after.deposits)
  }
  const changes = history.filter(({ before }) => before !== undefined)
  view.setUndoBlock(undefined)
  playTo(changes[0]?.before ?? now)
  for (const [at, { block }] of changes.entries()) {
    view.setUndoBlock(block)
    playTo(changes[at + 1]?.before ?? now)
  }
}
