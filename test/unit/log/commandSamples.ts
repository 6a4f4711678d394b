import { headPlaces } from '../../../src/board/statusBoard.js'
import type { BlockHeader, ChainEvent } from '../../../src/protocol/chainEvent.js'
import type {
  BlockNumber,
  ClaimOrdinal,
  DepositCount,
  L1InfoTreeIndex,
  LeafCount,
  Lineage,
  NetworkId,
} from '../../../src/protocol/units.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import { packedBlocks } from '../../support/packedBlocks.js'

/** Bytes of one value each, so that they are seen in hex. */
export const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
export const address = (byte: number): Uint8Array => new Uint8Array(20).fill(byte)

const network = (id: number) => id as NetworkId
const leaves = (count: number) => count as LeafCount
const count = (depositCount: number) => depositCount as DepositCount
export const block = (number: number) => number as BlockNumber

const place = (logIndex: number) => ({ blockNumber: block(7), logIndex, transactionHash: hash(logIndex) })
const log = (number: number, logIndex: number, hashByte: number) => ({
  ...{ blockNumber: block(number), logIndex, transactionHash: hash(hashByte) },
})
const caller = { caller: address(0xca), transactionSender: address(0x5e) }

/** One event of each type, in block 7, in transactions of their own. */
export const sampleEvents: { readonly [Type in ChainEvent['type']]: Extract<ChainEvent, { type: Type }> } = {
  deposit: {
    ...{ type: 'deposit', ...place(1), leafType: 1, originNetwork: network(2), originAddress: address(0x0a) },
    ...{ destinationNetwork: network(3), destinationAddress: address(0xde), amount: 256n },
    ...{ metadata: Uint8Array.of(0xaa, 0xbb), depositCount: count(300), sender: caller },
  },
  claim: {
    ...{ type: 'claim', ...place(2), generation: 'v1', globalIndex: 5n, originNetwork: network(0) },
    ...{ originAddress: address(0x0a), destinationAddress: address(0xde), amount: 0n, sender: null },
  },
  claimUnset: {
    ...{ type: 'claimUnset', ...place(3), sourceNetwork: network(4), depositCount: count(6) },
    hashChain: hash(0xc4),
  },
  claimSet: {
    ...{ type: 'claimSet', ...place(4), sourceNetwork: network(4), depositCount: count(6) },
    sender: { caller: address(0x5e), transactionSender: address(0x5e), isProvisional: true },
  },
  wrappedToken: {
    ...{ type: 'wrappedToken', ...place(5), originNetwork: network(1), originTokenAddress: address(0x70) },
    ...{ wrappedTokenAddress: address(0x3a), metadata: new Uint8Array(0) },
  },
  sovereignToken: {
    ...{ type: 'sovereignToken', ...place(6), originNetwork: network(1), originTokenAddress: address(0x70) },
    ...{ sovereignTokenAddress: address(0x3a), isNotMintable: true },
  },
  legacyTokenRemoved: { type: 'legacyTokenRemoved', ...place(7), sovereignTokenAddress: address(0x3a) },
  l1InfoLeaf: { type: 'l1InfoLeaf', ...place(8), mainnetExitRoot: hash(0xe0), rollupExitRoot: hash(0xe1) },
  l1InfoRoot: {
    ...{ type: 'l1InfoRoot', ...place(9), l1InfoRoot: hash(0xe2), leafCount: leaves(2 ** 32 - 1) },
    ...{ previousBlockHash: hash(0xb6), timestampSec: 2 ** 53 - 1 },
  },
  l1InfoRootMapInit: {
    ...{ type: 'l1InfoRootMapInit', ...place(10), l1InfoRoot: hash(0xe2), leafCount: leaves(127) },
  },
  v1GlobalExitRoot: {
    ...{ type: 'v1GlobalExitRoot', ...place(11), mainnetExitRoot: hash(0xe0), rollupExitRoot: hash(0xe1) },
  },
  rollupAdded: {
    ...{ type: 'rollupAdded', ...place(12), networkId: network(5), chainId: 2n ** 64n - 1n },
    ...{ rollupAddress: address(0x40), initialLocalExitRoot: hash(0) },
  },
  rollupSettled: {
    ...{ type: 'rollupSettled', ...place(13), networkId: network(5), localExitRoot: hash(0xe3) },
    certainty: 'pending',
  },
  gerInjected: { type: 'gerInjected', ...place(14), globalExitRoot: hash(0xe4) },
  gerRemoved: { type: 'gerRemoved', ...place(15), globalExitRoot: hash(0xe4) },
  backwardLet: {
    ...{ type: 'backwardLet', ...place(16), previousLeafCount: leaves(9), previousRoot: hash(0xe5) },
    ...{ newLeafCount: leaves(8), newRoot: hash(0xe6) },
  },
  forwardLet: {
    ...{ type: 'forwardLet', ...place(17), previousLeafCount: leaves(8), previousRoot: hash(0xe6) },
    ...{ newLeafCount: leaves(9), newRoot: hash(0xe7), sender: { ...caller, isProvisional: false } },
    newLeaves: [
      {
        ...{ leafType: 0, originNetwork: network(0), originAddress: address(0x0a), amount: 1n },
        ...{ destinationNetwork: network(1), destinationAddress: address(0xde), metadata: hash(0x3e) },
      },
    ],
  },
  emergencyState: { type: 'emergencyState', ...place(18), active: true },
  tokenMigrated: {
    ...{ type: 'tokenMigrated', ...place(19), account: address(0xac), legacyTokenAddress: address(0x3a) },
    ...{ updatedTokenAddress: address(0x3b), amount: 256n },
  },
}

export const header = (number: number): BlockHeader => ({
  ...{ number: block(number), hash: hash(0xb0 + number), parentHash: hash(0xb0 + number - 1) },
  timestampSec: 1_000 + number,
})

export function batchOfEvents(events: readonly ChainEvent[]): ShardCommand {
  return {
    type: 'applyBlocks',
    batch: {
      ...{ fromBlock: block(7), head: header(7), blocks: [{ header: header(7), events }] },
      ...{ finalizedBlock: block(5), undoFloor: block(4) },
    },
  }
}

const rowDeposit = { ...sampleEvents.deposit, leafType: 0, sender: null }

/** Two deposits of one transaction with one token, and a claim, as rows. */
const [rows] = packedBlocks([
  {
    header: header(7),
    events: [
      { ...rowDeposit, depositCount: count(300) },
      { ...rowDeposit, depositCount: count(301), logIndex: 2 },
      { ...sampleEvents.claim, generation: 'v2', globalIndex: 2n ** 64n + 5n },
    ],
  },
])

/** One command of each type; of `applyBlocks` the packed one. */
export const sampleCommands: {
  readonly [Type in ShardCommand['type']]: Extract<ShardCommand, { type: Type }>
} = {
  applyBlocks: {
    type: 'applyBlocks',
    batch: {
      ...{ fromBlock: block(6), head: header(8), blocks: [rows!] },
      ...{ finalizedBlock: block(5), undoFloor: block(4) },
      ...{ batchUndoFloor: block(3), perTransactionFrom: block(128) },
    },
  },
  revertTo: { type: 'revertTo', ancestor: block(2 ** 48 - 1), reorgSeenAtSec: 300 },
  startOver: { type: 'startOver', startOvers: { count: 3, notBeforeMs: undefined } },
  noteStartOvers: { type: 'noteStartOvers', startOvers: { count: 3, notBeforeMs: 1.5 } },
  noteCatchingUp: { type: 'noteCatchingUp', isCatchingUp: true },
  noteClaimsCompared: {
    type: 'noteClaimsCompared',
    compared: [
      { sourceNetwork: network(0), deposits: 128 },
      { sourceNetwork: network(2), deposits: 2 ** 32 - 1 },
    ],
    isWhole: false,
  },
  setFinalized: { type: 'setFinalized', block: block(16_384) },
  resolveSenders: {
    type: 'resolveSenders',
    resolved: [
      { kind: 'deposit', ordinal: count(70), ...log(300, 1, 0x7a), sender: caller },
      { kind: 'claim', ordinal: 2 as ClaimOrdinal, ...log(302, 128, 0x7a), sender: null },
      {
        ...{ kind: 'deposit', ordinal: count(71), ...log(301, 0, 0x7b) },
        sender: { caller: address(0xcb), transactionSender: address(0xcb), isProvisional: true },
      },
    ],
  },
  correctSenders: {
    type: 'correctSenders',
    corrected: [
      {
        row: {
          ...{ kind: 'claim', ordinal: 9 as ClaimOrdinal, transactionHash: hash(0x7a), logIndex: 1 },
          ...{ blockNumber: block(7), isUnknown: true },
          transactionLogs: [
            { kind: 'claimSet', logIndex: 0 },
            {
              ...{ kind: 'claim', logIndex: 1, globalIndex: 5n, destinationAddress: address(0xde) },
              amount: 2n ** 256n - 1n,
            },
          ],
        },
        sender: caller,
      },
    ],
  },
  addPolledGers: {
    type: 'addPolledGers',
    globalExitRoots: [hash(0xe4), hash(0xe5)],
    polledLeaves: 2,
  },
  addSettledRoots: {
    type: 'addSettledRoots',
    found: [{ root: hash(0xe3), lineage: 1 as Lineage, leafCount: leaves(4) }],
  },
  begin: {
    type: 'begin',
    settings: {
      ...{ logId: new Uint8Array(16).fill(0x1d), networkId: network(0), chainId: 1 },
      ...{ bridge: address(0xb1), globalExitRootManager: address(0xb2), rollupManager: address(0xb3) },
      ...{ startBlock: block(16_384), rollbackBlocks: 128 },
      ...{ finalityTag: 'finalized', finalityDepth: 3, gerInjection: 'event' },
      feedKeepEvents: 1_000_000,
    },
  },
  mark: {
    type: 'mark',
    mark: {
      ...{ localExitRoot: hash(0xe3), deposits: 128, claims: 2, l1InfoLeaves: 3 },
      stretch: { table: 'archivedDeposits', from: Uint8Array.of(0xde, 0xad), entries: 256 },
      digest: hash(0xd1),
      schema: 7,
    },
  },
  noteHalt: { type: 'noteHalt', reason: 'missing_log' },
  noteHeadPlace: { type: 'noteHeadPlace', place: headPlaces.belowFinal },
  noteClaimable: {
    type: 'noteClaimable',
    news: {
      madeFrom: [{ networkId: network(1), commits: 300, epoch: 2 }],
      stage: 'news',
      unclaimable: [{ sourceNetwork: network(0), depositCount: count(7) }],
      claimable: [
        {
          ...{ sourceNetwork: network(2), depositCount: count(8) },
          ...{ transactionHash: hash(0x7a), destinationAddress: address(0x0a), leafType: 1 },
          l1InfoTreeIndex: 5 as L1InfoTreeIndex,
        },
      ],
    },
  },
}
