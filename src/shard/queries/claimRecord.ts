import { InvariantError } from '../../errors/invariantError.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import type { ClaimRecord } from '../../query/records.js'
import type { ClaimRow } from '../../store/layout/claimRow.js'
import type { DepositRow } from '../../store/layout/depositRow.js'
import {
  type ClaimedContent,
  contentOfClaim,
  contentOfDeposit,
  isSameContent,
} from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { ShardReaders } from './shardReaders.js'

/** A claim with what its source's shard tells of the deposit. @param ordinal must be below the number of claims. */
export function claimRow(shards: ShardReaders, view: ShardView, ordinal: number): ClaimRecord {
  const row = view.claims.get(ordinal)
  const source = shards.find(row.sourceNetwork)
  const deposit = source?.deposits.find(row.depositCount)
  const shown = row.isSetByAdministrator ? contentOfKnownDeposit(source, deposit) : contentOfClaim(view, row)
  const sender = view.claims.senders.find(ordinal)
  return {
    transactionHash: view.claims.getTransactionHash(ordinal),
    globalIndex: row.globalIndex,
    amount: shown.amount,
    timestampSec: row.timestampSec,
    bridgeTransactionHash: findBridgeTransaction(view.networkId, source, deposit, row, shown),
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    sourceNetwork: row.sourceNetwork,
    depositCount: row.depositCount,
    destinationNetwork: view.networkId,
    destinationAddress: shown.destinationAddress,
    tokenNetwork: shown.token.network,
    tokenAddress: shown.token.address,
    // An administrator's SetClaim has no caller; the stored row repeats the transaction's sender there.
    caller: row.isSetByAdministrator ? null : (sender?.caller ?? null),
    transactionSender: sender?.transactionSender ?? null,
  }
}

/** SetClaim tells of nothing but the deposit; it is listed once that is known. */
function contentOfKnownDeposit(
  source: ShardView | undefined,
  deposit: DepositRow | undefined,
): ClaimedContent {
  if (source === undefined || deposit === undefined)
    throw new InvariantError('a claim set by an administrator was listed before its deposit is known')
  return contentOfDeposit(source, deposit)
}

/**
 * Transaction of the deposit that was claimed. Where the exit tree was cut, its deposit count may name another deposit by now:
 * then the archived one with the claim's content is meant, or none that is known here.
 */
function findBridgeTransaction(
  claimedOn: NetworkId,
  source: ShardView | undefined,
  deposit: DepositRow | undefined,
  row: ClaimRow,
  shown: ClaimedContent,
): Hash | null {
  const archived = source?.deposits.archivedAt(row.depositCount) ?? []
  if (source === undefined || archived.length === 0 || row.isSetByAdministrator)
    return deposit?.transactionHash ?? null
  const candidates = [...(deposit === undefined ? [] : [deposit]), ...archived.map((each) => each.row)]
  const claimed = candidates.find(
    (each) => each.destinationNetwork === claimedOn && isSameContent(contentOfDeposit(source, each), shown),
  )
  return claimed?.transactionHash ?? null
}
