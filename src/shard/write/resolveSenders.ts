import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf } from '../../merkle/treeProofs.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { Address, Hash, Sender } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { BlockNumber, ClaimOrdinal, DepositCount } from '../../protocol/units.js'
import { readUint32 } from '../../store/layout/bytes.js'
import { CLAIM_BYTES, CLAIM_HASH_BYTES, claimBlockNumber, claimFields } from '../../store/layout/claimRow.js'
import {
  DEPOSIT_BYTES,
  type DepositRow,
  decodeDepositRow,
  depositBlockNumber,
  depositFields,
  depositLeafType,
  isForwardLeafRow,
} from '../../store/layout/depositRow.js'
import { latin1 } from '../../store/layout/keys.js'
import {
  ordinalOfSenderRow,
  senderKindEnd,
  senderKinds,
  senderNotes,
  senderRowKey,
} from '../../store/layout/senderRow.js'
import { CLAIM_HASHES_PER_CHUNK, CLAIMS_PER_CHUNK, DEPOSITS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { readCounters, readUndoFloor, senderWatermark } from '../position/chainPosition.js'
import type {
  CorrectedSender,
  NotedSender,
  NotedSendersRange,
  RowLog,
  RowSender,
  TransactionLog,
  UnresolvedSender,
} from '../senders.types.js'
import { countCorrections } from '../snapshot/senderOverlay.js'
import { localExitTreeSource, readLineages } from '../snapshot/tiles.js'
import {
  depositLog,
  originShownAsSender,
  readClaim,
  readClaimHash,
  readDeposit,
  readTransactionLogs,
} from '../snapshot/transactionLogs.js'
import { findArchivedTwin } from './applyLocalExitTree.js'
import { refuse } from './refuse.js'
import type { Senders } from './senderRows.js'
import { StoredRows } from './storedRows.js'
import type { WriteContext } from './writeContext.js'

/** Deposits and claims without a stored sender, oldest first. Each kind starts at its watermark. */
export function listUnresolvedSenders(view: ReadView, hasher: TreeHasher, limit: number): UnresolvedSender[] {
  const counters = readCounters(view)
  const rows = new UnresolvedRows(view, hasher)
  const deposits: OpenSender[] = []
  const firstDeposit = senderWatermark(view, 'deposit')
  for (let ordinal = firstDeposit; ordinal < counters.deposits && deposits.length < limit; ordinal++)
    deposits.push(rows.deposit(ordinal))
  const claims: OpenSender[] = []
  const firstClaim = senderWatermark(view, 'claim')
  for (let ordinal = firstClaim; ordinal < counters.claims && claims.length < limit; ordinal++)
    claims.push(rows.claim(ordinal))
  // The sort by block is stable, so each kind keeps its order.
  return [...deposits, ...claims]
    .sort((a, b) => a.since - b.since)
    .slice(0, limit)
    .map(({ sender }) => sender)
}

/** At most `limit` noted rows in the order of kind and ordinal: those after `after`, then those from the start. */
export function listNotedSenders(
  view: ReadView,
  hasher: TreeHasher,
  { limit, after, onlyUnknown = false }: NotedSendersRange,
): NotedSender[] {
  const rows = new UnresolvedRows(view, hasher)
  const start = senderRowKey('deposit', 0)
  const end = senderKindEnd('claim')
  const from = after === undefined ? start : senderRowKey(after.kind, after.ordinal + 1)
  const notesIn = (range: { start: Uint8Array; end: Uint8Array }, most: number) =>
    onlyUnknown
      ? view
          .list('senderNotes', range)
          .filter(({ value }) => value[0] === senderNotes.unknown)
          .slice(0, most)
      : view.list('senderNotes', { ...range, limit: most })
  const notes = notesIn({ start: from, end }, limit)
  if (notes.length < limit) notes.push(...notesIn({ start, end: from }, limit - notes.length))
  return notes.map(({ key, value }) => {
    const ordinal = ordinalOfSenderRow(key)
    const row = key[0] === senderKinds.deposit ? rows.deposit(ordinal) : rows.claim(ordinal)
    return { ...row.sender, isUnknown: value[0] === senderNotes.unknown }
  })
}

/** Reads deposits and claims with all that is needed to find their senders. */
class UnresolvedRows {
  readonly #view: ReadView
  readonly #logs: TransactionLogs
  readonly #lineage: number
  readonly #tree: ReturnType<typeof localExitTreeSource>
  #cuts: readonly number[] | undefined

  constructor(view: ReadView, hasher: TreeHasher) {
    const { lineage } = readCounters(view)
    this.#view = view
    this.#logs = new TransactionLogs(view)
    this.#lineage = lineage
    this.#tree = localExitTreeSource(view, hasher, lineage)
  }

  deposit(ordinal: number): OpenSender {
    const view = this.#view
    const row = readDeposit(view, ordinal)
    const own = { kind: 'deposit', ordinal: ordinal as DepositCount, ...placeOf(row) } as const
    const since = own.blockNumber
    const twin = row.isForwardLeaf ? this.twin(ordinal) : undefined
    if (twin === undefined)
      return { since, sender: { ...own, transactionLogs: this.#logs.of(own.transactionHash) } }
    const place = placeOf(twin.row)
    // Look-ups by transaction do not find archived deposits, so the twin's log is added.
    const twinLog = depositLog(view, twin.row, twin.depositCount)
    const beside = this.#logs.of(place.transactionHash).filter(({ logIndex }) => logIndex !== place.logIndex)
    const transactionLogs = [...beside, twinLog].sort((a, b) => a.logIndex - b.logIndex)
    return { since, sender: { ...own, ...place, transactionLogs } }
  }

  /** The archived deposit that a leaf of ForwardLET repeats, if any: the leaf has the sender of that deposit's transaction. */
  twin(ordinal: number): ReturnType<typeof findArchivedTwin> {
    return findArchivedTwin(this.#view, getLeaf(this.#tree, this.#lineage, ordinal), this.#lineageOf(ordinal))
  }

  /** Lineage that a leaf was appended in: the newest one whose cut is not above the leaf. */
  #lineageOf(ordinal: number): number {
    this.#cuts ??= readLineages(this.#view, this.#lineage).map(({ cut }) => cut)
    return this.#cuts.findLastIndex((cut) => cut <= ordinal)
  }

  claim(ordinal: number): OpenSender {
    const row = readClaim(this.#view, ordinal)
    const transactionHash = new Uint8Array(readClaimHash(this.#view, ordinal))
    const place = placeOf({ ...row, transactionHash })
    const own = { kind: 'claim', ordinal: ordinal as ClaimOrdinal, ...place } as const
    return { since: own.blockNumber, sender: { ...own, transactionLogs: this.#logs.of(transactionHash) } }
  }
}

/** Logs by transaction, read once: rows of one transaction mostly follow each other. */
class TransactionLogs {
  readonly #view: ReadView
  readonly #known = new Map<string, TransactionLog[]>()

  constructor(view: ReadView) {
    this.#view = view
  }

  of(transactionHash: Hash): TransactionLog[] {
    const key = latin1(transactionHash)
    let logs = this.#known.get(key)
    if (logs === undefined) {
      logs = readTransactionLogs(this.#view, transactionHash)
      this.#known.set(key, logs)
    }
    return logs
  }
}

interface OpenSender {
  /** Block of the row itself. `sender` has the twin's block for a leaf that repeats an archived deposit. */
  readonly since: BlockNumber
  readonly sender: UnresolvedSender
}

function placeOf(row: Pick<DepositRow, 'transactionHash' | 'logIndex' | 'blockNumber'>) {
  return {
    transactionHash: new Uint8Array(row.transactionHash),
    logIndex: row.logIndex,
    blockNumber: row.blockNumber,
  }
}

/**
 * Stores senders inside the context's transaction.
 * @throws Refusal when a kind does not continue at its watermark, or a row is of another log than the one that was asked about.
 */
export function resolveSenders(context: WriteContext, resolved: readonly RowSender[]): void {
  const { view, memory } = context
  const undoFloor = readUndoFloor(view)
  let block: BlockNumber | undefined
  const enter = (next: BlockNumber) => {
    if (next === block) return
    if (next > undoFloor || (block !== undefined && block > undoFloor)) context.flush()
    view.setUndoBlock(next > undoFloor ? next : undefined)
    block = next
  }
  const deposits = new StoredRows(view, 'deposits', DEPOSIT_BYTES, DEPOSITS_PER_CHUNK)
  const claims = new StoredRows(view, 'claims', CLAIM_BYTES, CLAIMS_PER_CHUNK)
  const claimHashes = new StoredRows(view, 'claimHashes', CLAIM_HASH_BYTES, CLAIM_HASHES_PER_CHUNK)
  const unresolved = new UnresolvedRows(view, memory.hasher)
  // One kind after the other, for undo in the order of blocks: blocks ascend within a kind, and the kinds share no key.
  for (const named of resolved.filter(({ kind }) => kind === 'deposit')) {
    const { ordinal, sender } = named
    expectRow('deposits', ordinal, context.counters.deposits)
    const offset = deposits.open(ordinal)
    const twin = isForwardLeafRow(deposits.bytes, offset) ? unresolved.twin(ordinal) : undefined
    if (!(twin === undefined ? isDepositOf(named, deposits.bytes, offset) : isSameLog(twin.row, named)))
      refuseOtherRow(named)
    const row =
      depositLeafType(deposits.bytes, offset) === 0 ? undefined : decodeDepositRow(deposits.bytes, offset)
    enter(depositBlockNumber(deposits.bytes, offset))
    const origin = row && originShownAsSender(view, row, sender !== null)
    addSender(context.depositSenders, ordinal, sender, origin)
  }
  for (const named of resolved.filter(({ kind }) => kind === 'claim')) {
    const { ordinal, sender } = named
    expectRow('claims', ordinal, context.counters.claims)
    const offset = claims.open(ordinal)
    const hashAt = claimHashes.open(ordinal)
    if (!isClaimOf(named, claims.bytes, offset, claimHashes.bytes, hashAt)) refuseOtherRow(named)
    enter(claimBlockNumber(claims.bytes, offset))
    addSender(context.claimSenders, ordinal, sender)
  }
  context.flush()
  view.setUndoBlock(undefined)
}

function expectRow(table: 'deposits' | 'claims', ordinal: number, count: number): void {
  if (ordinal >= count) refuse('unknown_row', `row ${ordinal} of ${table} is not stored`)
}

// Read where the rows lie: backfill stores millions of senders.

function isDepositOf(
  { transactionHash, logIndex, blockNumber }: RowLog,
  bytes: Uint8Array,
  at: number,
): boolean {
  return (
    depositBlockNumber(bytes, at) === blockNumber &&
    readUint32(bytes, at + depositFields.logIndex) === logIndex &&
    isHashAt(transactionHash, bytes, at + depositFields.transactionHash)
  )
}

function isClaimOf(
  { transactionHash, logIndex, blockNumber }: RowLog,
  bytes: Uint8Array,
  at: number,
  hashes: Uint8Array,
  hashAt: number,
): boolean {
  return (
    claimBlockNumber(bytes, at) === blockNumber &&
    readUint32(bytes, at + claimFields.logIndex) === logIndex &&
    isHashAt(transactionHash, hashes, hashAt)
  )
}

function isHashAt(hash: Hash, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < 32; index++) if (hash[index] !== bytes[at + index]) return false
  return true
}

function refuseOtherRow({ kind, ordinal, transactionHash, logIndex, blockNumber }: RowLog): never {
  const log = `log ${logIndex} of transaction ${encodeHex(transactionHash)} in block ${blockNumber}`
  refuse('other_row', `the sender is of ${log}, the stored ${kind} ${ordinal} is not`)
}

function addSender(senders: Senders, ordinal: number, sender: Sender | null, origin?: Address): void {
  if (sender === null) senders.addUnknown(ordinal, origin)
  else senders.add(ordinal, sender, origin)
}

/**
 * Stores later answers about noted rows inside the context's transaction. The written keys belong to one row each, so their undo can
 * belong to the row's own block, however many blocks were stored since.
 */
export function correctSenders(context: WriteContext, corrected: readonly CorrectedSender[]): void {
  const { view, memory } = context
  const rows = new UnresolvedRows(view, memory.hasher)
  const undoFloor = readUndoFloor(view)
  let isChanged = false
  for (const { row, sender } of corrected) {
    const { kind, ordinal } = row
    if (view.get('senderNotes', senderRowKey(kind, ordinal)) === undefined) continue
    const stored = kind === 'deposit' ? rows.deposit(ordinal) : rows.claim(ordinal)
    if (!isSameLog(stored.sender, row)) continue
    view.setUndoBlock(stored.since > undoFloor ? stored.since : undefined)
    const senders = kind === 'deposit' ? context.depositSenders : context.claimSenders
    if (senders.correct(ordinal, sender)) isChanged = true
  }
  view.setUndoBlock(undefined)
  if (isChanged) countCorrections(view)
}

type LogPlace = Pick<RowLog, 'transactionHash' | 'logIndex' | 'blockNumber'>

/** Whether the stored row is still the one that was asked about: after a reorg or a cut its ordinal may name another row. */
function isSameLog(stored: LogPlace, asked: LogPlace): boolean {
  return (
    stored.logIndex === asked.logIndex &&
    stored.blockNumber === asked.blockNumber &&
    equalBytes(stored.transactionHash, asked.transactionHash)
  )
}
