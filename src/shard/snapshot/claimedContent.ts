import { equalBytes } from '../../protocol/abiBytes.js'
import type { ClaimRow } from '../../store/layout/claimRow.js'
import type { DepositRow } from '../../store/layout/depositRow.js'
import type { TokenEntry } from '../../store/layout/smallRows.js'
import type { ShardView } from './shardView.js'

/** Token, amount and destination address of a claim or a deposit: all that a ClaimEvent holds about the deposit besides its global index. */
export interface ClaimedContent {
  readonly token: TokenEntry
  readonly destinationAddress: ClaimRow['destinationAddress']
  readonly amount: Uint8Array
}

export function contentOfDeposit(source: ShardView, deposit: DepositRow): ClaimedContent {
  return { ...deposit, token: source.dictionary.getToken(deposit.tokenId) }
}

/** @param claim must come from a ClaimEvent, since SetClaim has no content. */
export function contentOfClaim(destination: ShardView, claim: ClaimRow): ClaimedContent {
  return { ...claim, token: destination.dictionary.getToken(claim.tokenId) }
}

export function isSameContent(left: ClaimedContent, right: ClaimedContent): boolean {
  return (
    left.token.network === right.token.network &&
    equalBytes(left.token.address.bytes, right.token.address.bytes) &&
    equalBytes(left.destinationAddress.bytes, right.destinationAddress.bytes) &&
    equalBytes(left.amount, right.amount)
  )
}

/**
 * Whether the claim in force for a deposit count paid the current deposit, the one that lists show. After a cut of the local exit tree
 * a deposit count is used again. The claim may then have paid the archived deposit, and the current one can't be claimed any more.
 * @param depositCount must be below the number of deposits. @param ordinal of the claim, below the number of claims.
 */
export function claimsListedDeposit(
  source: ShardView,
  depositCount: number,
  destination: ShardView,
  ordinal: number,
): boolean {
  if (source.deposits.archivedAt(depositCount).length === 0) return true
  const claim = destination.claims.get(ordinal)
  return (
    claim.isSetByAdministrator ||
    isSameContent(
      contentOfDeposit(source, source.deposits.get(depositCount)),
      contentOfClaim(destination, claim),
    )
  )
}
