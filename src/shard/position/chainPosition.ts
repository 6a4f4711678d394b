import type { BlockHeader } from '../../protocol/chainEvent.js'
import type { BlockNumber, NetworkId } from '../../protocol/units.js'
import { readUint48BigEndian } from '../../store/layout/bytes.js'
import { blockKey, type MetaName, metaKey } from '../../store/layout/keys.js'
import {
  appendRewind,
  type Counters,
  decodeBlockNumber,
  decodeCheckpoint,
  decodeClaimsCompared,
  decodeCounters,
  decodeEpoch,
  decodeLastReorg,
  decodeReorgs,
  encodeBlockNumber,
  encodeCheckpoint,
  encodeClaimsCompared,
  encodeLastReorg,
  type LastReorg,
  type Rewind,
} from '../../store/layout/metaValues.js'
import { decodeHeader, decodeUint32, encodeHeader } from '../../store/layout/smallRows.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'

/**
 * Where the shard stands in its chain: checkpoint, headers as far back as undo reaches, finality, undo floor, epoch. No undo is
 * kept of these values: a rewind sets them itself.
 */

export function readCheckpoint(view: ReadView): BlockHeader | undefined {
  const stored = view.get('meta', metaKey('checkpoint'))
  return stored === undefined ? undefined : decodeCheckpoint(stored)
}

export function putCheckpoint(view: WriteView, header: BlockHeader | undefined): void {
  if (header === undefined) view.remove('meta', metaKey('checkpoint'))
  else view.put('meta', metaKey('checkpoint'), encodeCheckpoint(header))
}

/** The first checkpoint that the shard ever had. No reorg reaches it, so it tells this chain from another one with the same chain id. */
export function readOrigin(view: ReadView): BlockHeader | undefined {
  const stored = view.get('meta', metaKey('origin'))
  return stored === undefined ? undefined : decodeCheckpoint(stored)
}

export function putOrigin(view: WriteView, header: BlockHeader): void {
  view.put('meta', metaKey('origin'), encodeCheckpoint(header))
}

export function removeOrigin(view: WriteView): void {
  view.remove('meta', metaKey('origin'))
}

export function putHeader(view: WriteView, header: BlockHeader): void {
  view.put('headers', blockKey(header.number), encodeHeader(header))
}

/** Newest stored header at or below `block`. @returns copies. */
export function readHeaderAtOrBelow(view: ReadView, block: number): BlockHeader | undefined {
  const [entry] = view.list('headers', {
    start: blockKey(block + 1),
    end: blockKey(0),
    limit: 1,
    reverse: true,
  })
  if (entry === undefined) return undefined
  return decodeHeader(readUint48BigEndian(entry.key, 0) as BlockNumber, entry.value)
}

/** The oldest block that a rewind can go back to. @returns copies. */
export function readOldestAncestor(view: ReadView): BlockHeader | undefined {
  const range = { start: blockKey(Math.max(0, readUndoFloor(view))), end: blockKey(2 ** 48 - 1), limit: 1 }
  const [entry] = view.list('headers', range)
  if (entry === undefined) return undefined
  return decodeHeader(readUint48BigEndian(entry.key, 0) as BlockNumber, entry.value)
}

export function removeHeadersAbove(view: WriteView, block: number): void {
  for (const { key } of view.list('headers', { start: blockKey(block + 1), end: blockKey(2 ** 48 - 1) }))
    view.remove('headers', key)
}

/** Newest final block; undefined in an empty shard. */
export function readFinalized(view: ReadView): BlockNumber | undefined {
  return readBlock(view, 'finalized')
}

/** Raises finality. A lower block is ignored: a finality tag that goes back is an endpoint's mistake. @returns whether it rose. */
export function raiseFinalized(view: WriteView, block: BlockNumber): boolean {
  const before = readFinalized(view)
  if (before !== undefined && block <= before) return false
  view.put('meta', metaKey('finalized'), encodeBlockNumber(block))
  return true
}

/** Lowers finality to the checkpoint after a reorg that took back final blocks. @param checkpoint undefined when no block is left. */
export function lowerFinalized(view: WriteView, checkpoint: BlockNumber | undefined): void {
  if (checkpoint === undefined) view.remove('meta', metaKey('finalized'))
  else if ((readFinalized(view) ?? 0) > checkpoint)
    view.put('meta', metaKey('finalized'), encodeBlockNumber(checkpoint))
}

/** Blocks at or below it have no undo; −1, which is below every block, when all have. */
export function readUndoFloor(view: ReadView): number {
  return readBlock(view, 'undoFloor') ?? -1
}

/**
 * Raises the undo floor. It never falls, since removed undo does not come back. Block 0 is ignored: it has no logs, and a reorg
 * of a young chain may take back every block.
 * @returns the floor after the call.
 */
export function raiseUndoFloor(view: WriteView, block: BlockNumber): number {
  const before = readUndoFloor(view)
  if (block <= before || block === 0) return before
  view.put('meta', metaKey('undoFloor'), encodeBlockNumber(block))
  return block
}

/** Removes undo at and below the floor. Of the headers there only the newest stays: it is the deepest block that a reorg can go back to. */
export function pruneBelowFloor(view: WriteView, undoFloor: number): void {
  if (undoFloor < 0) return
  view.forgetUndo(undoFloor)
  const deepest = readHeaderAtOrBelow(view, undoFloor)
  if (deepest === undefined) return
  for (const { key } of view.list('headers', { start: blockKey(0), end: blockKey(deepest.number) }))
    view.remove('headers', key)
}

/** Whether the network is catching up: it reads history, or that history was not yet audited, so claims may be missing. */
export function readCatchingUp(view: ReadView): boolean {
  return view.get('meta', metaKey('catchingUp')) !== undefined
}

export function putCatchingUp(view: WriteView, isCatchingUp: boolean): void {
  if (isCatchingUp) view.put('meta', metaKey('catchingUp'), Uint8Array.of(1))
  else view.remove('meta', metaKey('catchingUp'))
}

/**
 * By source network: of how many of its first deposits the claims were compared with the contract. Deposits above may have claims that
 * an endpoint hides. undefined before everything was compared once, and in stores of older builds: no bound then.
 */
export function readClaimsCompared(view: ReadView): ReadonlyMap<NetworkId, number> | undefined {
  const stored = view.get('meta', metaKey('claimsCompared'))
  return stored === undefined ? undefined : decodeClaimsCompared(stored)
}

export function putClaimsCompared(view: WriteView, compared: ReadonlyMap<NetworkId, number>): void {
  view.put('meta', metaKey('claimsCompared'), encodeClaimsCompared(compared))
}

/** The first block whose log indices are numbered per transaction; undefined while there is none. */
export function readPerTransactionFrom(view: ReadView): BlockNumber | undefined {
  return readBlock(view, 'perTransactionFrom')
}

export function putPerTransactionFrom(view: WriteView, block: BlockNumber): void {
  view.put('meta', metaKey('perTransactionFrom'), encodeBlockNumber(block))
}

/** Whether any stored block has a lower timestamp than the one before it. */
export function readTimesFall(view: ReadView): boolean {
  return view.get('meta', metaKey('timesFall')) !== undefined
}

export function putTimesFall(view: WriteView): void {
  view.put('meta', metaKey('timesFall'), Uint8Array.of(1))
}

/** Number of rewinds, by reorgs and by BackwardLET. */
export function readEpoch(view: ReadView): number {
  return decodeEpoch(view.get('meta', metaKey('epoch')))
}

/** Number of reorgs that were followed. */
export function readReorgs(view: ReadView): number {
  return decodeReorgs(view.get('meta', metaKey('epoch')))
}

/** The newest reorg of the chain that was followed; undefined when there was none since schema 8. */
export function readLastReorg(view: ReadView): LastReorg | undefined {
  const stored = view.get('meta', metaKey('lastReorg'))
  return stored === undefined ? undefined : decodeLastReorg(stored)
}

export function putLastReorg(view: WriteView, reorg: LastReorg): void {
  view.put('meta', metaKey('lastReorg'), encodeLastReorg(reorg))
}

/** Records a rewind. No undo is kept of it. */
export function noteRewind(view: WriteView, rewind: Rewind, cause: { isReorg: boolean }): void {
  const entry = view.get('meta', metaKey('epoch'))
  view.put('meta', metaKey('epoch'), appendRewind(entry, rewind, cause))
}

function readBlock(view: ReadView, name: MetaName): BlockNumber | undefined {
  const stored = view.get('meta', metaKey(name))
  return stored === undefined ? undefined : decodeBlockNumber(stored)
}

/** How a shard can go back to a block. */
export type RewindPlan =
  | { readonly type: 'nothing'; readonly checkpoint: number | undefined }
  /** `ancestor` is the block asked for, or a lower one with nothing stored in between. */
  | { readonly type: 'undo'; readonly ancestor: number }
  /** Undo does not reach back to the block. `oldest`: the lowest block that it reaches, if any. */
  | { readonly type: 'tooDeep'; readonly oldest: number | undefined }

/** @param startBlock the network's first block: an ancestor of `startBlock` − 1 empties the shard. */
export function planRewind(view: ReadView, block: number, startBlock: number): RewindPlan {
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined || block >= checkpoint.number)
    return { type: 'nothing', checkpoint: checkpoint?.number }
  const ancestor = readHeaderAtOrBelow(view, block)?.number ?? startBlock - 1
  const undoFloor = readUndoFloor(view)
  if (ancestor >= undoFloor) return { type: 'undo', ancestor }
  const [oldest] = view.list('headers', {
    start: blockKey(undoFloor),
    end: blockKey(checkpoint.number),
    limit: 1,
  })
  return { type: 'tooDeep', oldest: oldest && readUint48BigEndian(oldest.key, 0) }
}

/** The counters of a shard; all zero in an empty one. */
export function readCounters(view: ReadView): Counters {
  return decodeCounters(view.get('meta', metaKey('counters')))
}

/** The watermark: the first deposit or claim whose sender is not stored. The senders of all before it are stored. */
export function senderWatermark(view: ReadView, kind: 'deposit' | 'claim'): number {
  const stored = view.get('meta', metaKey(kind === 'deposit' ? 'depositSenders' : 'claimSenders'))
  return stored === undefined ? 0 : decodeUint32(stored)
}
