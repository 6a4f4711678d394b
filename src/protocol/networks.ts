import { asNetworkId, asRollupIndex, type NetworkId, type RollupIndex } from './units.js'

/** The L1: the only network with a rollup manager and an L1 info tree. */
export const L1_NETWORK_ID = asNetworkId(0)

export function isL1(networkId: NetworkId): boolean {
  return networkId === L1_NETWORK_ID
}

/**
 * Position of a network's local exit root in the rollup exit tree: rollupID − 1 = network id − 1.
 * @throws RangeError for the L1, which has no place in that tree.
 */
export function rollupIndexOf(networkId: NetworkId): RollupIndex {
  if (networkId === 0) throw new RangeError('network 0 has no rollup index')
  return asRollupIndex(networkId - 1)
}

/** Inverse of `rollupIndexOf`. */
export function networkIdOf(rollupIndex: RollupIndex): NetworkId {
  return asNetworkId(rollupIndex + 1)
}
