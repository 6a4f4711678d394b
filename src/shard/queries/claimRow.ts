import { InvariantError } from '../../errors/invariantError.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { ClaimRecord } from '../../protocol/records.js'
import { equalBytes } from '../../store/codecs/bytes.js'
import type { ClaimRow } from '../../store/codecs/claimRow.js'
import type { DepositRow } from '../../store/codecs/depositRow.js'
import type { TokenEntry } from '../../store/codecs/smallRows.js'
import type { ShardReaders } from '../reader.js'
import type { ShardView } from '../shardView.js'

/** What a claim or a deposit pays, to whom. */
interface Transfer {
  readonly token: TokenEntry
  readonly destinationAddress: ClaimRow['destinationAddress']
  readonly amount: Uint8Array
}

/** A claim with what its source's shard tells of the deposit. @param ordinal must be below the number of claims. */
export function claimRow(shards: ShardReaders, view: ShardView, ordinal: number): ClaimRecord {
  const row = view.claims.get(ordinal)
  const source = shards.find(row.sourceNetwork)
  const deposit = source?.deposits.find(row.depositCount)
  const shown = row.isSetByAdministrator
    ? transferOfDeposit(source, deposit)
    : { ...row, token: view.dictionary.getToken(row.tokenId) }
  const sender = row.isSetByAdministrator ? undefined : view.claims.findSender(ordinal)
  return {
    transactionHash: view.claims.getTransactionHash(ordinal),
    globalIndex: row.globalIndex,
    amount: shown.amount,
    timestampSec: row.timestampSec,
    bridgeTransactionHash: findBridgeTransaction(source, deposit, row, shown),
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    sourceNetwork: row.sourceNetwork,
    depositCount: row.depositCount,
    destinationNetwork: view.networkId,
    destinationAddress: shown.destinationAddress,
    tokenNetwork: shown.token.network,
    tokenAddress: shown.token.address,
    caller: sender?.caller ?? null,
    transactionSender: sender?.transactionSender ?? null,
  }
}

/** SetClaim tells of nothing but the deposit; it is listed once that is known. */
function transferOfDeposit(source: ShardView | undefined, deposit: DepositRow | undefined): Transfer {
  if (source === undefined || deposit === undefined)
    throw new InvariantError('a claim set by an administrator was listed before its deposit is known')
  return transferOf(source, deposit)
}

function transferOf(source: ShardView, deposit: DepositRow): Transfer {
  return { ...deposit, token: source.dictionary.getToken(deposit.tokenId) }
}

/**
 * Transaction of the deposit that was claimed. Where the exit tree was cut, its deposit count may name another deposit by now:
 * then the archived one with the claim's content is meant.
 */
function findBridgeTransaction(
  source: ShardView | undefined,
  deposit: DepositRow | undefined,
  row: ClaimRow,
  shown: Transfer,
): Hash | null {
  if (source === undefined) return null
  if (source.state.counters.archivedDeposits > 0 && !row.isSetByAdministrator) {
    if (deposit !== undefined && isSameTransfer(transferOf(source, deposit), shown))
      return deposit.transactionHash
    for (const archived of source.deposits.listArchived())
      if (
        archived.depositCount === row.depositCount &&
        isSameTransfer(transferOf(source, archived.row), shown)
      )
        return archived.row.transactionHash
  }
  return deposit?.transactionHash ?? null
}

function isSameTransfer(left: Transfer, right: Transfer): boolean {
  return (
    left.token.network === right.token.network &&
    equalBytes(left.token.address.bytes, right.token.address.bytes) &&
    equalBytes(left.destinationAddress.bytes, right.destinationAddress.bytes) &&
    equalBytes(left.amount, right.amount)
  )
}
