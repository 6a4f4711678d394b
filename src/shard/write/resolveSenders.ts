import { InvariantError } from '../../errors/invariantError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf } from '../../merkle/treeProofs.js'
import type { BlockNumber, ClaimOrdinal, DepositCount } from '../../protocol/units.js'
import { CLAIM_BYTES, type ClaimRow, decodeClaimRow } from '../../store/codecs/claimRow.js'
import { DEPOSIT_BYTES, type DepositRow, decodeDepositRow } from '../../store/codecs/depositRow.js'
import { chunkKey, metaKey } from '../../store/codecs/keys.js'
import { decodeCounters } from '../../store/codecs/metaValues.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { CLAIMS_PER_CHUNK, DEPOSITS_PER_CHUNK, type TableName } from '../../store/tables.js'
import type { ResolvedSender, UnresolvedSender } from '../shardWriter.types.js'
import { localExitTreeSource } from '../tiles.js'
import { findArchivedTwin } from './applyLocalExitTree.js'
import { readUndoFloor } from './chainPosition.js'
import { type SenderKind, type Senders, senderWatermark } from './senders.js'
import type { WriteContext } from './writeContext.js'

/** Deposits and claims whose sender is open, oldest first; of each kind from its watermark on. */
export function listUnresolvedSenders(view: ReadView, hasher: TreeHasher, limit: number): UnresolvedSender[] {
  const counters = decodeCounters(view.get('meta', metaKey('counters')))
  const tree = localExitTreeSource(view, hasher, counters.lineage)
  const deposits: OpenSender[] = []
  const firstDeposit = senderWatermark(view, 'deposit')
  for (let ordinal = firstDeposit; ordinal < counters.deposits && deposits.length < limit; ordinal++) {
    const row = readDeposit(view, ordinal)
    const own = { kind: 'deposit', ordinal: ordinal as DepositCount, ...placeOf(row) } as const
    // A leaf of ForwardLET that repeats an archived deposit has the sender of that one's transaction.
    const twin = row.isForwardLeaf
      ? findArchivedTwin(view, getLeaf(tree, counters.lineage, ordinal))
      : undefined
    const sender = twin === undefined ? own : { ...own, ...placeOf(twin.row) }
    deposits.push({ since: own.blockNumber, sender })
  }
  const claims: OpenSender[] = []
  const firstClaim = senderWatermark(view, 'claim')
  for (let ordinal = firstClaim; ordinal < counters.claims && claims.length < limit; ordinal++) {
    const row = readClaim(view, ordinal)
    if (row.isSetByAdministrator) continue
    const sender = { kind: 'claim', ordinal: ordinal as ClaimOrdinal, ...placeOf(row) } as const
    claims.push({ since: sender.blockNumber, sender })
  }
  // A stable sort by the blocks of the rows themselves: each kind keeps its order.
  return [...deposits, ...claims]
    .sort((a, b) => a.since - b.since)
    .slice(0, limit)
    .map(({ sender }) => sender)
}

interface OpenSender {
  readonly since: BlockNumber
  readonly sender: UnresolvedSender
}

function placeOf(row: DepositRow | ClaimRow) {
  return {
    transactionHash: new Uint8Array(row.transactionHash),
    logIndex: row.logIndex,
    blockNumber: row.blockNumber,
  }
}

/** Stores senders inside the context's transaction. @throws InvariantError when a kind does not go on at its watermark. */
export function resolveSenders(context: WriteContext, resolved: readonly ResolvedSender[]): void {
  const { view } = context
  const undoFloor = readUndoFloor(view)
  let block: BlockNumber | undefined
  const enter = (next: BlockNumber) => {
    if (next === block) return
    if (next > undoFloor || (block !== undefined && block > undoFloor)) context.flush()
    view.setUndoBlock(next > undoFloor ? next : undefined)
    block = next
  }
  // Kind by kind: within one kind the blocks ascend, and the two share no key.
  for (const { ordinal, sender } of resolved.filter(({ kind }) => kind === 'deposit')) {
    enter(readDeposit(view, ordinal).blockNumber)
    context.depositSenders.add(ordinal, sender)
  }
  for (const { ordinal, sender } of resolved.filter(({ kind }) => kind === 'claim')) {
    passAdministrators(context, ordinal, enter)
    enter(readClaim(view, ordinal).blockNumber)
    context.claimSenders.add(ordinal, sender)
  }
  passAdministrators(context, context.counters.claims, enter)
  context.flush()
  view.setUndoBlock(undefined)
}

/** Claims set by an administrator wait for nobody: the watermark goes over them, up to `limit`. */
function passAdministrators(context: WriteContext, limit: number, enter: (block: BlockNumber) => void): void {
  const senders: Senders = context.claimSenders
  while (senders.watermark < limit) {
    const row = readClaim(context.view, senders.watermark)
    if (!row.isSetByAdministrator) return
    enter(row.blockNumber)
    senders.addNobody(senders.watermark)
  }
}

function readDeposit(view: ReadView, ordinal: number): DepositRow {
  return decodeDepositRow(readRow(view, 'deposits', ordinal, DEPOSITS_PER_CHUNK, DEPOSIT_BYTES, 'deposit'), 0)
}

function readClaim(view: ReadView, ordinal: number): ClaimRow {
  return decodeClaimRow(readRow(view, 'claims', ordinal, CLAIMS_PER_CHUNK, CLAIM_BYTES, 'claim'), 0)
}

function readRow(
  view: ReadView,
  table: TableName,
  ordinal: number,
  rowsPerChunk: number,
  rowBytes: number,
  kind: SenderKind,
): Uint8Array {
  const chunk = view.get(table, chunkKey(ordinal, rowsPerChunk))
  const offset = rowBytes * (ordinal % rowsPerChunk)
  if (chunk === undefined || chunk.length < offset + rowBytes)
    throw new InvariantError(`${kind} ${ordinal} is not stored`)
  return chunk.subarray(offset, offset + rowBytes)
}
