import { asNetworkId, asRollupIndex, type NetworkId, type RollupIndex } from './units.js'

/** The L1 is the only network with a rollup manager and an L1 info tree. */
export const L1_NETWORK_ID = asNetworkId(0)

export function isL1(networkId: NetworkId): boolean {
  return networkId === L1_NETWORK_ID
}

/**
 * Which leaf of the rollup exit tree holds a network's local exit root: network id − 1. (A rollupID is a network id.)
 * @throws RangeError for the L1, which has no place in that tree.
 */
export function rollupIndexOf(networkId: NetworkId): RollupIndex {
  if (networkId === 0) throw new RangeError('network 0 has no rollup index')
  return asRollupIndex(networkId - 1)
}

/** The inverse of `rollupIndexOf`. */
export function networkIdOf(rollupIndex: RollupIndex): NetworkId {
  return asNetworkId(rollupIndex + 1)
}
