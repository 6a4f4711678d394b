import { getAddress, hexToBytes, numberToBytes } from 'viem/utils'
import type { ChecksumAddress } from '../../src/protocol/checksumAddress.js'
import { asBlockNumber, asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../src/protocol/units.js'
import type { NetworksRecord } from '../../src/query/healthRecords.js'
import type {
  ClaimProofRecord,
  ClaimTransactionRecord,
  L1InfoLeafRecord,
  L1InfoTreeIndexRecord,
} from '../../src/query/proofRecords.js'
import {
  type BridgeRecord,
  bridgeTemplate,
  type ClaimRecord,
  type Page,
  type TokenMappingRecord,
} from '../../src/query/records.js'
import type { BridgeStatusAnswer, SearchAnswer } from '../../src/query/statusRecords.js'

/** Records with a different value in every field, so that a test notices two swapped fields. */

function hashOf(byte: number): Uint8Array {
  return new Uint8Array(32).fill(byte)
}

export function uint256(value: bigint): Uint8Array {
  return numberToBytes(value, { size: 32 })
}

/** Checksummed by viem, so that the mask does not come from the code under test. */
export function checksumAddress(text: string): ChecksumAddress {
  const spelled = getAddress(text).slice(2)
  const mask = new Uint8Array(5)
  for (let digit = 0; digit < 40; digit++)
    if (/[A-F]/.test(spelled[digit]!)) mask[digit >> 3]! |= 0x80 >> (digit & 7)
  return { bytes: hexToBytes(`0x${spelled}`), checksumMask: mask }
}

export const SENDER = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
export const RECEIVER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
export const TOKEN = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
export const ORIGINATOR = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb'

export function bridgeRecord(fields: Partial<BridgeRecord> = {}): BridgeRecord {
  return {
    transactionHash: hashOf(0x1a),
    depositCount: asDepositCount(7),
    sourceNetwork: asNetworkId(1),
    destinationNetwork: asNetworkId(0),
    originAddress: checksumAddress(SENDER),
    transactionSender: checksumAddress(ORIGINATOR),
    destinationAddress: checksumAddress(RECEIVER),
    amount: uint256(1_000_000_000_000_000_000n),
    timestampSec: 1_700_000_001,
    blockNumber: asBlockNumber(4_294_967_297),
    logIndex: 3,
    leafType: 0,
    tokenNetwork: asNetworkId(2),
    tokenAddress: checksumAddress(TOKEN),
    metadata: Uint8Array.of(0xde, 0xad),
    metadataLength: undefined,
    metadataHash: undefined,
    globalIndex: uint256(7n),
    readyForClaim: true,
    claimTransactionHash: hashOf(0x2b),
    l1InfoTreeIndex: asL1InfoTreeIndex(11),
    claimMatches: undefined,
    ...fields,
  }
}

export function claimRecord(fields: Partial<ClaimRecord> = {}): ClaimRecord {
  return {
    transactionHash: hashOf(0x3c),
    globalIndex: uint256((1n << 64n) + 5n),
    amount: uint256(42n),
    timestampSec: 1_700_000_002,
    bridgeTransactionHash: hashOf(0x4d),
    blockNumber: asBlockNumber(12),
    logIndex: 6,
    sourceNetwork: asNetworkId(0),
    depositCount: asDepositCount(5),
    destinationNetwork: asNetworkId(1),
    destinationAddress: checksumAddress(RECEIVER),
    tokenNetwork: asNetworkId(3),
    tokenAddress: checksumAddress(TOKEN),
    caller: checksumAddress(SENDER),
    transactionSender: checksumAddress(ORIGINATOR),
    ...fields,
  }
}

export function tokenMappingRecord(fields: Partial<TokenMappingRecord> = {}): TokenMappingRecord {
  return {
    transactionHash: hashOf(0x5e),
    blockNumber: asBlockNumber(13),
    logIndex: 8,
    timestampSec: 1_700_000_003,
    originNetwork: asNetworkId(0),
    originTokenAddress: checksumAddress(TOKEN),
    wrappedNetwork: asNetworkId(1),
    wrappedTokenAddress: checksumAddress(RECEIVER),
    metadata: new Uint8Array(0),
    metadataLength: undefined,
    metadataHash: undefined,
    ...{ name: null, symbol: null, decimals: null },
    isNotMintable: false,
    tokenType: 0,
    isCurrent: true,
    ...fields,
  }
}

export function l1InfoLeafRecord(): L1InfoLeafRecord {
  return {
    l1InfoTreeIndex: asL1InfoTreeIndex(9),
    mainnetExitRoot: hashOf(0x61),
    rollupExitRoot: hashOf(0x62),
    globalExitRoot: hashOf(0x63),
    previousBlockHash: hashOf(0x64),
    timestampSec: 1_700_000_004,
    blockNumber: asBlockNumber(14),
    hash: hashOf(0x65),
  }
}

export function claimProofRecord(fields: Partial<ClaimProofRecord> = {}): ClaimProofRecord {
  return {
    localExitRootBranch: Uint8Array.from({ length: 1024 }, (_, at) => at >> 5),
    rollupExitRootBranch: Uint8Array.from({ length: 1024 }, (_, at) => 0x80 + (at >> 5)),
    leaf: l1InfoLeafRecord(),
    globalIndex: uint256(5n << 32n),
    leafHash: hashOf(0x66),
    isFinal: false,
    ...fields,
  }
}

export function l1InfoTreeIndexRecord(): L1InfoTreeIndexRecord {
  return { ...l1InfoLeafRecord(), firstCoveringIndex: asL1InfoTreeIndex(4) }
}

export function claimTransactionRecord(): ClaimTransactionRecord {
  return {
    to: checksumAddress(TOKEN),
    data: Uint8Array.of(0xcc, 0xaa, 0x2d, 0x11),
    value: new Uint8Array(32),
    chainId: 1101,
    leafType: 0,
    sourceNetwork: asNetworkId(1),
    destinationNetwork: asNetworkId(0),
    depositCount: asDepositCount(7),
    globalIndex: uint256(7n),
    l1InfoTreeIndex: asL1InfoTreeIndex(11),
  }
}

/** Two bridges: one with all that a status may have, one with as little as possible. */
export function bridgeStatusAnswer(): BridgeStatusAnswer {
  const { transactionHash, depositCount, sourceNetwork, destinationNetwork, globalIndex } = bridgeRecord()
  const { readyForClaim, claimTransactionHash, l1InfoTreeIndex } = bridgeRecord()
  const bridge = { transactionHash, depositCount, sourceNetwork, destinationNetwork, globalIndex }
  const nothing = {
    blockNumber: undefined,
    timestampSec: undefined,
    transactionHash: undefined,
    l1InfoTreeIndex: undefined,
    globalExitRoot: undefined,
    typical: undefined,
  }
  return {
    statuses: [
      {
        ...bridge,
        ...{ readyForClaim, claimTransactionHash, l1InfoTreeIndex, claimMatches: false },
        currentStage: 'claimable',
        waitsFor: { event: 'finality', networkId: asNetworkId(3), blockNumber: asBlockNumber(16) },
        stages: [
          {
            stage: 'injected',
            state: 'removed',
            networkId: asNetworkId(4),
            blockNumber: asBlockNumber(15),
            timestampSec: 1_700_000_005,
            transactionHash: hashOf(0x71),
            l1InfoTreeIndex: asL1InfoTreeIndex(12),
            globalExitRoot: hashOf(0x72),
            typical: { since: 'in_l1_info_tree', medianSec: 600, p90Sec: 900, sampleSize: 21 },
          },
          { ...nothing, stage: 'claimed', state: 'waiting', networkId: asNetworkId(5) },
        ],
      },
      {
        ...bridge,
        ...{
          readyForClaim: false,
          claimTransactionHash: null,
          l1InfoTreeIndex: null,
          claimMatches: undefined,
        },
        ...{ currentStage: 'claimed', waitsFor: null, stages: [] },
      },
    ],
    total: 2,
  }
}

export function searchAnswer(): SearchAnswer {
  const nothing = {
    ...{ sourceNetwork: undefined, depositCount: undefined, transactionHash: undefined, address: undefined },
    ...{
      bridgesSent: undefined,
      bridgesReceived: undefined,
      claimsMade: undefined,
      claimsReceived: undefined,
    },
    ...{ tokenNetwork: undefined, tokenAddress: undefined, isCurrent: undefined },
    ...{ name: undefined, symbol: undefined, decimals: undefined },
  }
  const address = checksumAddress(SENDER)
  return {
    results: [
      {
        ...nothing,
        ...{ type: 'claim', networkId: asNetworkId(1), sourceNetwork: asNetworkId(2) },
        ...{ depositCount: asDepositCount(7), transactionHash: hashOf(0x73) },
      },
      {
        ...nothing,
        ...{ type: 'address', networkId: asNetworkId(3), address },
        ...{ bridgesSent: 4, bridgesReceived: 5, claimsMade: 6, claimsReceived: 8 },
      },
      {
        ...nothing,
        ...{ type: 'token', networkId: asNetworkId(9), transactionHash: hashOf(0x74), address },
        ...{ tokenNetwork: asNetworkId(10), tokenAddress: checksumAddress(TOKEN) },
        ...{ name: 'Fake', symbol: null, decimals: 18, isCurrent: true },
      },
    ],
    isComplete: true,
  }
}

/** A page of bridges, unless `fields` have the template of another record. */
export function pageOf<Row>(rows: readonly Row[], fields: Partial<Page<Row>> = {}): Page<Row> {
  const template = bridgeTemplate
  return { rows, template, page: 1, limit: 100, total: rows.length, nextCursor: null, ...fields }
}

/** For tests that ask for no `/networks`. */
export const NO_NETWORKS: NetworksRecord = { primary_network: 0, networks: [], capabilities: [] }
