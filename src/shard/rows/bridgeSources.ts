import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import { encodeGlobalIndexBytes } from '../../protocol/globalIndex.js'
import { type MetadataDigest, shownMetadata } from '../../protocol/metadata.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import type { FieldPlace } from '../../query/packedRows.js'
import type { BridgeRecord } from '../../query/records.js'
import { type DepositRow, depositFields } from '../../store/layout/depositRow.js'
import type { SenderRow } from '../../store/layout/senderRow.js'
import { TOKEN_ADDRESS_AT, type TokenEntry } from '../../store/layout/smallRows.js'
import type { ClaimPath } from '../readiness/claimPath.js'
import type { Sources } from './rowSources.js'

/** What the shards tell of one deposit. */
export interface BridgeRowFacts {
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  readonly row: DepositRow
  readonly sender: SenderRow | undefined
  readonly token: TokenEntry
  readonly metadata: Uint8Array | MetadataDigest
  readonly path: ClaimPath
  /** Transaction of the claim in force. */
  readonly claimTransactionHash: Uint8Array | null
  /** Whether that claim, if there is one, paid this deposit's content. */
  readonly claimMatches: boolean
}

/** Bases of a row in the arena, and behind them its values. */
export const bridgeBases = { row: 0, sender: 1, token: 2, origin: 3, claimHash: 4, metadata: 5 } as const
export const bridgeValues = { depositCount: 0, metadataLength: 1, ready: 2, l1InfoTreeIndex: 3 } as const

const { row: base, sender, token, origin, claimHash, metadata } = bridgeBases
const { depositCount, metadataLength, ready, l1InfoTreeIndex } = bridgeValues

const MESSAGE = 1
/** Bytes of a global index above the deposit count. */
const GLOBAL_INDEX_HEAD_BYTES = 28

function globalIndexPlace(networkId: NetworkId): FieldPlace {
  const head = encodeGlobalIndexBytes(networkId, 0 as DepositCount).subarray(0, GLOBAL_INDEX_HEAD_BYTES)
  return { kind: 'hexValue', value: depositCount, head: Buffer.from(head).toString('hex') }
}

export const bridgeSources: Sources<BridgeRecord, BridgeRowFacts> = {
  transactionHash: {
    place: { kind: 'hash', base, offset: depositFields.transactionHash },
    of: ({ row }) => row.transactionHash,
  },
  depositCount: {
    place: { kind: 'value', value: depositCount },
    of: (facts) => facts.depositCount,
  },
  sourceNetwork: {
    place: (networkId) => ({ kind: 'constant', number: networkId }),
    of: (facts) => facts.sourceNetwork,
  },
  destinationNetwork: {
    place: { kind: 'uint32', base, offset: depositFields.destinationNetwork },
    of: ({ row }) => row.destinationNetwork,
  },
  originAddress: {
    place: { kind: 'address', base: origin, offset: 0 },
    // The sender of a message is its own originAddress.
    of: (facts) => (facts.row.leafType === MESSAGE ? facts.token.address : (facts.sender?.caller ?? null)),
  },
  destinationAddress: {
    place: { kind: 'address', base, offset: depositFields.destinationAddress },
    of: ({ row }) => row.destinationAddress,
  },
  amount: {
    place: { kind: 'amount', base, offset: depositFields.amount },
    of: ({ row }) => row.amount,
  },
  timestampSec: {
    place: { kind: 'uint48', base, offset: depositFields.timestampSec },
    of: ({ row }) => row.timestampSec,
  },
  readyForClaim: {
    place: { kind: 'flag', value: ready },
    of: (facts) => facts.claimTransactionHash === null && facts.path.isReady(facts.depositCount),
  },
  blockNumber: {
    place: { kind: 'uint48', base, offset: depositFields.blockNumber },
    of: ({ row }) => row.blockNumber,
  },
  logIndex: {
    place: { kind: 'uint32', base, offset: depositFields.logIndex },
    of: ({ row }) => row.logIndex,
  },
  leafType: {
    place: { kind: 'uint8', base, offset: depositFields.leafType },
    of: ({ row }) => row.leafType,
  },
  tokenNetwork: {
    place: { kind: 'uint32', base: token, offset: 0 },
    of: (facts) => facts.token.network,
  },
  tokenAddress: {
    place: { kind: 'address', base: token, offset: TOKEN_ADDRESS_AT },
    of: (facts) => facts.token.address,
  },
  metadata: {
    place: { kind: 'bytes', base: metadata, lengthValue: metadataLength },
    of: (facts) => shownMetadata(facts.metadata).metadata,
  },
  metadataLength: { of: (facts) => shownMetadata(facts.metadata).metadataLength },
  metadataHash: { of: (facts) => shownMetadata(facts.metadata).metadataHash },
  transactionSender: {
    place: { kind: 'address', base: sender, offset: CHECKSUM_ADDRESS_BYTES },
    of: (facts) => facts.sender?.transactionSender ?? null,
  },
  globalIndex: {
    place: globalIndexPlace,
    of: (facts) => encodeGlobalIndexBytes(facts.sourceNetwork, facts.depositCount),
  },
  claimTransactionHash: {
    place: { kind: 'hash', base: claimHash, offset: 0 },
    of: (facts) => facts.claimTransactionHash,
  },
  l1InfoTreeIndex: {
    place: { kind: 'value', value: l1InfoTreeIndex },
    of: (facts) => facts.path.findUsable(facts.depositCount) ?? null,
  },
  claimMatches: { of: (facts) => (facts.claimMatches ? undefined : false) },
}
