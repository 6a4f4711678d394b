import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import type { NetworkId } from '../../protocol/units.js'
import type { ClaimRecord } from '../../query/records.js'
import { type ClaimRow, claimFields } from '../../store/layout/claimRow.js'
import { depositFields } from '../../store/layout/depositRow.js'
import type { SenderRow } from '../../store/layout/senderRow.js'
import { TOKEN_ADDRESS_AT } from '../../store/layout/smallRows.js'
import type { ClaimedContent } from '../snapshot/claimedContent.js'
import type { Sources } from './rowSources.js'

/** What the shards tell of one claim. */
export interface ClaimRowFacts {
  readonly destinationNetwork: NetworkId
  readonly row: ClaimRow
  readonly transactionHash: Uint8Array
  readonly bridgeTransactionHash: Uint8Array | null
  /** What was claimed: as the event says, or the deposit. */
  readonly content: ClaimedContent
  readonly sender: SenderRow | undefined
}

/** Bases of a row in the arena. */
export const claimBases = { row: 0, hash: 1, sender: 2, token: 3, deposit: 4 } as const

const { row: base, hash, sender, token, deposit } = claimBases

export const claimSources: Sources<ClaimRecord, ClaimRowFacts> = {
  transactionHash: {
    place: { kind: 'hash', base: hash, offset: 0 },
    of: (facts) => facts.transactionHash,
  },
  globalIndex: {
    place: { kind: 'hash', base, offset: claimFields.globalIndex },
    of: ({ row }) => row.globalIndex,
  },
  amount: {
    place: { kind: 'amount', base, offset: claimFields.amount },
    of: ({ content }) => content.amount,
  },
  timestampSec: {
    place: { kind: 'uint48', base, offset: claimFields.timestampSec },
    of: ({ row }) => row.timestampSec,
  },
  bridgeTransactionHash: {
    place: { kind: 'hash', base: deposit, offset: depositFields.transactionHash },
    of: (facts) => facts.bridgeTransactionHash,
  },
  blockNumber: {
    place: { kind: 'uint48', base, offset: claimFields.blockNumber },
    of: ({ row }) => row.blockNumber,
  },
  logIndex: {
    place: { kind: 'uint32', base, offset: claimFields.logIndex },
    of: ({ row }) => row.logIndex,
  },
  sourceNetwork: {
    place: { kind: 'uint32', base, offset: claimFields.sourceNetwork },
    of: ({ row }) => row.sourceNetwork,
  },
  depositCount: {
    place: { kind: 'uint32', base, offset: claimFields.depositCount },
    of: ({ row }) => row.depositCount,
  },
  destinationNetwork: {
    place: (networkId) => ({ kind: 'constant', number: networkId }),
    of: (facts) => facts.destinationNetwork,
  },
  destinationAddress: {
    place: { kind: 'address', base, offset: claimFields.destinationAddress },
    of: ({ content }) => content.destinationAddress,
  },
  tokenNetwork: {
    place: { kind: 'uint32', base: token, offset: 0 },
    of: ({ content }) => content.token.network,
  },
  tokenAddress: {
    place: { kind: 'address', base: token, offset: TOKEN_ADDRESS_AT },
    of: ({ content }) => content.token.address,
  },
  caller: {
    place: { kind: 'address', base: sender, offset: 0 },
    // An administrator's SetClaim has no caller; the stored row repeats the transaction's sender there.
    of: (facts) => (facts.row.isSetByAdministrator ? null : (facts.sender?.caller ?? null)),
  },
  transactionSender: {
    place: { kind: 'address', base: sender, offset: CHECKSUM_ADDRESS_BYTES },
    of: (facts) => facts.sender?.transactionSender ?? null,
  },
}
