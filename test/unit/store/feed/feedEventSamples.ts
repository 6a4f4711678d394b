import type { ChecksumAddress } from '../../../../src/protocol/checksumAddress.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../../../../src/protocol/units.js'
import type { FeedEvent } from '../../../../src/store/feed/feedEvent.js'

const hash = (byte: number) => new Uint8Array(32).fill(byte)
/** An address of 20 equal bytes. */
export const address = (byte: number): ChecksumAddress => ({
  bytes: new Uint8Array(20).fill(byte),
  checksumMask: Uint8Array.of(1, 2, 3, 4, byte),
})
const sender = { caller: address(0xca), transactionSender: address(0x5e) }
const place = {
  blockNumber: 0x0102_0304_0506 as BlockNumber,
  timestampSec: 0x0a0b_0c0d,
  logIndex: 7,
  transactionHash: hash(0x7a),
}
const content = {
  tokenNetwork: 0xffff_ffff as NetworkId,
  tokenAddress: address(0xde),
  destinationAddress: address(0xda),
  amount: hash(0xff),
}
export const deposit = { sourceNetwork: 3 as NetworkId, depositCount: 9 as DepositCount }

/** With and without each thing that may be absent. */
export const feedEventSamples: readonly FeedEvent[] = [
  {
    type: 'bridge',
    ...place,
    ...content,
    ...{ depositCount: 5 as DepositCount, leafType: 1, destinationNetwork: 2 as NetworkId },
    ...{ metadata: Uint8Array.of(0xaa, 0xbb), sender },
  },
  {
    type: 'bridge',
    ...place,
    ...content,
    ...{ depositCount: 5 as DepositCount, leafType: 0, destinationNetwork: 2 as NetworkId },
    ...{ metadata: { length: 5_000, hash: hash(3) }, sender: null },
  },
  { type: 'claim', ...place, ...deposit, isInForce: true, globalIndex: hash(1), content, sender },
  {
    type: 'claim',
    ...place,
    ...deposit,
    ...{ isInForce: false, globalIndex: hash(1), content: null, sender: null },
  },
  {
    type: 'claimable',
    ...deposit,
    ...{ transactionHash: hash(8), destinationAddress: address(4), leafType: 1 },
    l1InfoTreeIndex: 0xffff_fffe as L1InfoTreeIndex,
  },
  { type: 'unclaimable', ...deposit, destinationAddress: address(4) },
  {
    type: 'token_mapping',
    ...place,
    ...{ originNetwork: 1 as NetworkId, originTokenAddress: address(1), wrappedTokenAddress: address(2) },
    ...{ metadata: new Uint8Array(0), tokenType: 1, isNotMintable: true, isCurrent: false, isRemoved: true },
  },
  { type: 'sync', blockNumber: 0 as BlockNumber, timestampSec: 0, finalBlock: null, isHistory: true },
  {
    type: 'sync',
    ...{ blockNumber: 8 as BlockNumber, timestampSec: 1, finalBlock: 7 as BlockNumber, isHistory: false },
  },
  { type: 'reorg', ancestor: -1, depositCount: 0 as DepositCount, isCut: false },
  { type: 'reorg', ancestor: 2 ** 48 - 2, depositCount: 4 as DepositCount, isCut: true },
  { type: 'start_over' },
  { type: 'halted', reason: 'catching_up' },
  { type: 'resumed', reason: 'missing_log' },
]
