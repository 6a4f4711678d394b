import { equalBytes } from '../../protocol/abiBytes.js'
import type { BlockBatch, BlockEvent, BlockHeader, IndexedBlock } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { L1_NETWORK_ID } from '../../protocol/networks.js'
import {
  noteRewind,
  pruneBelowFloor,
  putCheckpoint,
  putHeader,
  putOrigin,
  putPerTransactionFrom,
  putTimesFall,
  raiseFinalized,
  raiseUndoFloor,
  readCheckpoint,
  readPerTransactionFrom,
} from '../position/chainPosition.js'
import { readLineages } from '../snapshot/tiles.js'
import { applyClaim, applyClaimRows, applyClaimSet, applyClaimUnset } from './applyClaims.js'
import { applyDeposit, applyDepositRows } from './applyDeposits.js'
import { applyGerInjected, applyGerRemoved } from './applyGers.js'
import { applyBackwardLet, applyForwardLet } from './applyLocalExitTree.js'
import { applyLegacyTokenRemoved, applySovereignToken, applyWrappedToken } from './applyTokenMappings.js'
import { applyTokenMigrated } from './applyTokenMigrations.js'
import { refuse } from './refuse.js'
import type { WriteContext } from './writeContext.js'

/**
 * Stores a batch inside the context's transaction.
 * @throws Refusal when it does not follow the checkpoint, or counts or roots in its events do not follow from what is stored.
 */
export function applyBlocks(context: WriteContext, batch: BlockBatch): void {
  const { view } = context
  const before = readCheckpoint(view)
  assertFollows(before, batch)
  const undoFloor = raiseUndoFloor(view, batch.batchUndoFloor ?? batch.undoFloor)
  const hasOwnUndo = ({ header }: IndexedBlock<BlockEvent>): boolean =>
    header.number > Math.max(undoFloor, batch.undoFloor)
  const stretches = [
    batch.blocks.filter((block) => !hasOwnUndo(block)),
    ...batch.blocks.filter(hasOwnUndo).map((block) => [block]),
  ]
  for (const blocks of stretches) applyStretch(context, blocks, batch, undoFloor)
  if (doTimesFall(before, batch)) putTimesFall(view)
  putHeader(view, batch.head)
  if (before === undefined) putOrigin(view, batch.head)
  putCheckpoint(view, batch.head)
  raiseFinalized(view, batch.finalizedBlock)
  pruneBelowFloor(view, undoFloor)
  if (context.feed.tellsBlocks) context.feed.tellSync({ isHistory: false })
}

/** Stores blocks that can only be undone together: they share one undo record, and only the last one's header is stored. */
function applyStretch(
  context: WriteContext,
  blocks: readonly IndexedBlock<BlockEvent>[],
  { perTransactionFrom }: BlockBatch,
  undoFloor: number,
): void {
  const { view } = context
  const last = blocks.at(-1)?.header
  if (last === undefined) return
  const { lineage } = context.counters
  view.setUndoBlock(last.number > undoFloor ? last.number : undefined)
  for (const block of blocks) applyBlock(context, block)
  context.flush()
  // With undo: if this block is undone, another block becomes the first one that is numbered per transaction.
  if (perTransactionFrom !== undefined && perTransactionFrom <= last.number)
    if (readPerTransactionFrom(view) === undefined) putPerTransactionFrom(view, perTransactionFrom)
  view.setUndoBlock(undefined)
  if (context.counters.lineage !== lineage) noteCuts(context, lineage)
  putHeader(view, last)
}

/**
 * Whether a block of the batch has a lower timestamp than the one before it. The note of this is not undone by a reorg: at worst
 * queries then read times where a bisection would do.
 */
function doTimesFall(checkpoint: BlockHeader | undefined, { blocks, head }: BlockBatch): boolean {
  let before = checkpoint?.timestampSec ?? 0
  for (const { header } of blocks) {
    if (header.timestampSec < before) return true
    before = header.timestampSec
  }
  return head.timestampSec < before
}

/** Records a rewind for the cuts of the lineages after `lineage`. No undo is kept: readers have seen the cut, even if a reorg undoes it. */
function noteCuts(context: WriteContext, lineage: number): void {
  const { counters, view } = context
  const cuts = readLineages(view, counters.lineage)
    .slice(lineage + 1)
    .map(({ cut }) => cut)
  const { claims, tokenMappings } = counters
  noteRewind(view, { deposits: Math.min(...cuts), claims, tokenMappings }, { isReorg: false })
}

function assertFollows(checkpoint: BlockHeader | undefined, batch: BlockBatch): void {
  if (batch.head.number < batch.fromBlock)
    refuse(
      'disordered_batch',
      `batch ends at block ${batch.head.number}, before its start ${batch.fromBlock}`,
    )
  if (batch.finalizedBlock > batch.head.number)
    refuse(
      'disordered_batch',
      `block ${batch.finalizedBlock} is final, the batch ends at block ${batch.head.number}`,
    )
  if (checkpoint !== undefined && batch.fromBlock !== checkpoint.number + 1)
    refuse(
      'not_next',
      `batch begins at block ${batch.fromBlock}, the checkpoint is block ${checkpoint.number}`,
    )
  let before = checkpoint
  for (const { header } of [...batch.blocks, { header: batch.head }]) {
    if (header.number < batch.fromBlock || header.number > batch.head.number)
      refuse('disordered_batch', `block ${header.number} lies outside of its batch`)
    if (before === undefined || header === before) {
      before = header
      continue
    }
    const { parentHash } = header
    const isNext = header.number === before.number + 1
    if (isNext && parentHash !== undefined && !equalBytes(parentHash, before.hash))
      refuse(
        'not_parent',
        `block ${header.number} names parent ${encodeHex(parentHash)}, block ${before.number} is ${encodeHex(before.hash)}`,
      )
    if (
      header.number === before.number ? !equalBytes(header.hash, before.hash) : header.number < before.number
    )
      refuse('disordered_batch', `block ${header.number} does not follow block ${before.number}`)
    before = header
  }
}

function applyBlock(context: WriteContext, { header, events }: IndexedBlock<BlockEvent>): void {
  const { deposits: depositsBefore, lineage: lineageBefore } = context.counters
  for (const event of events) {
    // The table pairs each type with its own event, which TypeScript can't see through an index.
    const apply = appliers[event.type] as Apply<BlockEvent['type']>
    apply(context, header, event)
  }
  context.l1.endTransaction()
  // An L2 may settle the root at any block's end. On the L1, events name the mainnet exit roots, and `L1Exits` notes those.
  const { deposits, lineage } = context.counters
  const isNewRoot = deposits !== depositsBefore || lineage !== lineageBefore
  if (context.memory.networkId !== 0 && isNewRoot) context.localExitTree.noteRoot()
}

type Apply<Type extends BlockEvent['type']> = (
  context: WriteContext,
  header: BlockHeader,
  event: Extract<BlockEvent, { type: Type }>,
) => void

/** For events that only contracts of the L1 emit. */
function onL1<Type extends BlockEvent['type']>(apply: Apply<Type>): Apply<Type> {
  return (context, header, event) => {
    const { networkId } = context.memory
    if (networkId !== L1_NETWORK_ID)
      refuse('event_of_l1', `block ${header.number} of network ${networkId} has an event ${event.type}`)
    apply(context, header, event)
  }
}

/** The function that applies each type of event. A new type does not compile without an entry here. */
const appliers: { readonly [Type in BlockEvent['type']]: Apply<Type> } = {
  deposit: applyDeposit,
  depositRows: applyDepositRows,
  claim: applyClaim,
  claimRows: applyClaimRows,
  claimUnset: applyClaimUnset,
  claimSet: applyClaimSet,
  wrappedToken: applyWrappedToken,
  sovereignToken: applySovereignToken,
  tokenMigrated: applyTokenMigrated,
  legacyTokenRemoved: (context, _header, event) => applyLegacyTokenRemoved(context, event),
  l1InfoLeaf: onL1((context, header, event) => context.l1.addLeaf(header, event)),
  l1InfoRoot: onL1((context, header, event) => context.l1.checkRoot(header, event)),
  l1InfoRootMapInit: onL1((context, header, event) => context.l1.checkInitialRoot(header, event)),
  v1GlobalExitRoot: onL1((context, header, event) => context.l1.applyV1(header, event)),
  rollupAdded: onL1((context, header, event) => context.l1.addRollup(header, event)),
  rollupSettled: onL1((context, header, event) => context.l1.settle(header, event)),
  gerInjected: (context, header, event) => applyGerInjected(context, header, event.globalExitRoot, event),
  gerRemoved: applyGerRemoved,
  backwardLet: applyBackwardLet,
  forwardLet: applyForwardLet,
  emergencyState: (context, _header, event) => {
    context.counters.emergencyState = event.active ? 1 : 0
  },
}
