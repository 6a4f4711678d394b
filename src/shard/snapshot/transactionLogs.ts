import { InvariantError } from '../../errors/invariantError.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { Address, Hash } from '../../protocol/chainEvent.js'
import { asDepositCount } from '../../protocol/units.js'
import { readUint256 } from '../../store/layout/bytes.js'
import { CLAIM_BYTES, CLAIM_HASH_BYTES, type ClaimRow, decodeClaimRow } from '../../store/layout/claimRow.js'
import { DEPOSIT_BYTES, type DepositRow, decodeDepositRow } from '../../store/layout/depositRow.js'
import { chunkKey, uint32Key } from '../../store/layout/keys.js'
import { decodeTokenEntry } from '../../store/layout/smallRows.js'
import {
  CLAIM_HASHES_PER_CHUNK,
  CLAIMS_PER_CHUNK,
  DEPOSITS_PER_CHUNK,
  hashKinds,
  type TableName,
} from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { TransactionLog } from '../senders.types.js'
import { findByPrefix } from './hashRuns.js'

/**
 * The stored deposits, claims, set claims and ForwardLETs of one transaction, by log index. Finding a sender needs all of them to
 * tell the transaction's calls apart, also those whose sender is known already.
 * @returns copies.
 */
export function readTransactionLogs(view: ReadView, transactionHash: Hash): TransactionLog[] {
  const logs = new Map<number, TransactionLog>()
  for (const depositCount of findByPrefix(view, hashKinds.depositsByTransaction, transactionHash)) {
    const row = readDeposit(view, depositCount)
    if (!equalBytes(row.transactionHash, transactionHash)) continue
    const log = depositLog(view, row, depositCount)
    logs.set(log.logIndex, log)
  }
  for (const ordinal of findByPrefix(view, hashKinds.claimsByTransaction, transactionHash)) {
    if (!equalBytes(readClaimHash(view, ordinal), transactionHash)) continue
    const row = readClaim(view, ordinal)
    logs.set(row.logIndex, claimLog(row))
  }
  return [...logs.values()].sort((a, b) => a.logIndex - b.logIndex)
}

/** @param row its byte fields need to be valid only until the next read of the view. */
export function depositLog(view: ReadView, row: DepositRow, depositCount: number): TransactionLog {
  const { logIndex, leafType, tokenId, isForwardLeaf, destinationNetwork } = row
  if (isForwardLeaf) return { kind: 'forwardLet', logIndex }
  const destinationAddress = new Uint8Array(row.destinationAddress.bytes)
  const log = {
    kind: 'deposit' as const,
    logIndex,
    leafType,
    depositCount: asDepositCount(depositCount),
    destinationNetwork,
    destinationAddress,
    amount: readUint256(row.amount, 0),
  }
  // The origin address of a message is its sender.
  return leafType === MESSAGE ? { ...log, originAddress: originOf(view, tokenId) } : log
}

/** Leaf type of a message. */
export const MESSAGE = 1

/**
 * The origin address of a message that is shown as its sender although the stored sender differs: the deposit is a leaf of
 * ForwardLET, or it has no stored sender. For any other message the stored caller already is the origin address.
 */
export function originShownAsSender(
  view: ReadView,
  { leafType, isForwardLeaf, tokenId }: DepositRow,
  hasSender: boolean,
): Address | undefined {
  return leafType === MESSAGE && (isForwardLeaf || !hasSender) ? originOf(view, tokenId) : undefined
}

function originOf(view: ReadView, tokenId: number): Address {
  const origin = view.get('tokens', uint32Key(tokenId))
  if (origin === undefined) throw new InvariantError(`token ${tokenId} is not stored`)
  return new Uint8Array(decodeTokenEntry(origin).address.bytes)
}

function claimLog(row: ClaimRow): TransactionLog {
  const { logIndex } = row
  if (row.isSetByAdministrator) return { kind: 'claimSet', logIndex }
  return {
    kind: 'claim',
    logIndex,
    globalIndex: readUint256(row.globalIndex, 0),
    destinationAddress: new Uint8Array(row.destinationAddress.bytes),
    amount: readUint256(row.amount, 0),
  }
}

/** @returns copies. */
export function readDeposit(view: ReadView, ordinal: number): DepositRow {
  return decodeDepositRow(readRow(view, 'deposits', ordinal, DEPOSITS_PER_CHUNK, DEPOSIT_BYTES), 0)
}

/** @returns byte fields are valid until the next read. */
export function readClaim(view: ReadView, ordinal: number): ClaimRow {
  return decodeClaimRow(readRow(view, 'claims', ordinal, CLAIMS_PER_CHUNK, CLAIM_BYTES), 0)
}

/** Transaction hash of a claim. @returns bytes that are valid until the next read. */
export function readClaimHash(view: ReadView, ordinal: number): Hash {
  return readRow(view, 'claimHashes', ordinal, CLAIM_HASHES_PER_CHUNK, CLAIM_HASH_BYTES)
}

function readRow(
  view: ReadView,
  table: TableName,
  ordinal: number,
  rowsPerChunk: number,
  rowBytes: number,
): Uint8Array {
  const chunk = view.get(table, chunkKey(ordinal, rowsPerChunk))
  const offset = rowBytes * (ordinal % rowsPerChunk)
  if (chunk === undefined || chunk.length < offset + rowBytes)
    throw new InvariantError(`row ${ordinal} of ${table} is not stored`)
  return chunk.subarray(offset, offset + rowBytes)
}
