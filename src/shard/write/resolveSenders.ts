import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf } from '../../merkle/treeProofs.js'
import type { Address, Hash, Sender } from '../../protocol/chainEvent.js'
import type { BlockNumber, ClaimOrdinal, DepositCount } from '../../protocol/units.js'
import {
  CLAIM_BYTES,
  claimBlockNumber,
  claimFields,
  isSetByAdministrator,
} from '../../store/codecs/claimRow.js'
import {
  DEPOSIT_BYTES,
  type DepositRow,
  decodeDepositRow,
  depositBlockNumber,
  depositLeafType,
} from '../../store/codecs/depositRow.js'
import { latin1 } from '../../store/codecs/keys.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { CLAIMS_PER_CHUNK, DEPOSITS_PER_CHUNK } from '../../store/tables.js'
import { readCounters } from '../counters.js'
import type { ResolvedSender, TransactionLog, UnresolvedSender } from '../shardWriter.types.js'
import { localExitTreeSource } from '../tiles.js'
import { findArchivedTwin } from './applyLocalExitTree.js'
import { readUndoFloor } from './chainPosition.js'
import { type Senders, senderWatermark } from './senders.js'
import { StoredRows } from './storedRows.js'
import {
  depositLog,
  ownAddress,
  readClaim,
  readClaimHash,
  readDeposit,
  readTransactionLogs,
} from './transactionLogs.js'
import type { WriteContext } from './writeContext.js'

/** Deposits and claims whose sender is open, oldest first; of each kind from its watermark on. */
export function listUnresolvedSenders(view: ReadView, hasher: TreeHasher, limit: number): UnresolvedSender[] {
  const counters = readCounters(view)
  const tree = localExitTreeSource(view, hasher, counters.lineage)
  const logs = new TransactionLogs(view)
  const deposits: OpenSender[] = []
  const firstDeposit = senderWatermark(view, 'deposit')
  for (let ordinal = firstDeposit; ordinal < counters.deposits && deposits.length < limit; ordinal++) {
    const row = readDeposit(view, ordinal)
    const { isForwardLeaf } = row
    const own = { kind: 'deposit', ordinal: ordinal as DepositCount, ...placeOf(row) } as const
    // A leaf of ForwardLET that repeats an archived deposit has the sender of that one's transaction.
    const twin = isForwardLeaf ? findArchivedTwin(view, getLeaf(tree, counters.lineage, ordinal)) : undefined
    const since = own.blockNumber
    if (twin === undefined) {
      deposits.push({ since, sender: { ...own, transactionLogs: logs.of(own.transactionHash) } })
      continue
    }
    const place = placeOf(twin.row)
    // Its transaction's list knows it no longer.
    const twinLog = depositLog(view, twin.row, twin.depositCount)
    const beside = logs.of(place.transactionHash).filter(({ logIndex }) => logIndex !== place.logIndex)
    const transactionLogs = [...beside, twinLog].sort((a, b) => a.logIndex - b.logIndex)
    deposits.push({ since, sender: { ...own, ...place, transactionLogs } })
  }
  const claims: OpenSender[] = []
  const firstClaim = senderWatermark(view, 'claim')
  for (let ordinal = firstClaim; ordinal < counters.claims && claims.length < limit; ordinal++) {
    const row = readClaim(view, ordinal)
    if (row.isSetByAdministrator) continue
    const transactionHash = new Uint8Array(readClaimHash(view, ordinal))
    const place = placeOf({ ...row, transactionHash })
    const own = { kind: 'claim', ordinal: ordinal as ClaimOrdinal, ...place } as const
    const sender = { ...own, transactionLogs: logs.of(own.transactionHash) }
    claims.push({ since: own.blockNumber, sender })
  }
  // A stable sort by the blocks of the rows themselves: each kind keeps its order.
  return [...deposits, ...claims]
    .sort((a, b) => a.since - b.since)
    .slice(0, limit)
    .map(({ sender }) => sender)
}

/** Logs per transaction, read once: the rows of one transaction stand together. */
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
  const deposits = new StoredRows(view, 'deposits', DEPOSIT_BYTES, DEPOSITS_PER_CHUNK)
  const claims = new StoredRows(view, 'claims', CLAIM_BYTES, CLAIMS_PER_CHUNK)
  // Claims set by an administrator wait for nobody: the watermark goes over them.
  const passAdministrators = (limit: number): void => {
    const senders = context.claimSenders
    for (let ordinal = senders.watermark; ordinal < limit; ordinal++) {
      const offset = claims.open(ordinal)
      if (!isSetByAdministrator(claims.bytes[offset + claimFields.flags]!)) return
      enter(claimBlockNumber(claims.bytes, offset))
      senders.addNobody(ordinal)
    }
  }
  // Kind by kind: within one kind the blocks ascend, and the two share no key.
  for (const { ordinal, sender } of resolved.filter(({ kind }) => kind === 'deposit')) {
    const offset = deposits.open(ordinal)
    const row =
      depositLeafType(deposits.bytes, offset) === 0 ? undefined : decodeDepositRow(deposits.bytes, offset)
    enter(depositBlockNumber(deposits.bytes, offset))
    const own = row && ownAddress(view, row, sender !== null)
    addSender(context.depositSenders, ordinal, sender, own)
  }
  for (const { ordinal, sender } of resolved.filter(({ kind }) => kind === 'claim')) {
    passAdministrators(ordinal)
    const offset = claims.open(ordinal)
    enter(claimBlockNumber(claims.bytes, offset))
    addSender(context.claimSenders, ordinal, sender)
  }
  passAdministrators(context.counters.claims)
  context.flush()
  view.setUndoBlock(undefined)
}

function addSender(senders: Senders, ordinal: number, sender: Sender | null, own?: Address): void {
  if (sender === null) senders.addNobody(ordinal, own)
  else senders.add(ordinal, sender, own)
}
