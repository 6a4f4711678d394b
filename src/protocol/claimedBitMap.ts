import { L1_NETWORK_ID } from './networks.js'
import type { NetworkId } from './units.js'

/** Deposits per word of a bridge's `claimedBitMap`. */
export const DEPOSITS_PER_WORD = 256

/** How many words the first `deposits` deposits of a source network take. */
export function wordsOf(deposits: number): number {
  return Math.ceil(deposits / DEPOSITS_PER_WORD)
}

/** One word of the map. Its bit i is deposit 256·word + i of the source network. */
export interface ClaimedWord {
  readonly sourceNetwork: NetworkId
  readonly word: number
}

/**
 * The position at which a bridge keeps a word: deposits are numbered `depositCount + sourceNetwork · 2^32`. The L1's bridge
 * numbers those of network 1 by the bare deposit count, as it did when there was no other rollup.
 * @see PolygonZkEVMBridgeV2.isClaimed (agglayer-contracts)
 */
export function claimedWordPosition(networkId: number, { sourceNetwork, word }: ClaimedWord): number {
  const isBare = networkId === L1_NETWORK_ID && sourceNetwork === 1
  return isBare ? word : sourceNetwork * 2 ** 24 + word
}
