import { L1_NETWORK_ID } from './networks.js'
import type { NetworkId } from './units.js'

/** Deposits per word of a bridge's `claimedBitMap`. */
export const DEPOSITS_PER_WORD = 256

/** One word of the map: deposits 256·word … 256·word + 255 of one source network; bit i is the i-th of them. */
export interface ClaimedWord {
  readonly sourceNetwork: NetworkId
  readonly word: number
}

/**
 * Where a bridge keeps a word: by `depositCount + sourceNetwork · 2^32`. The bridge on layer 1 has kept the bare deposit
 * count for network 1, as it was before there were others.
 * @see PolygonZkEVMBridgeV2.isClaimed (agglayer-contracts)
 */
export function claimedWordPosition(networkId: number, { sourceNetwork, word }: ClaimedWord): number {
  const isBare = networkId === L1_NETWORK_ID && sourceNetwork === 1
  return isBare ? word : sourceNetwork * 2 ** 24 + word
}
