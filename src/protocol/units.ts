declare const unit: unique symbol
type Unit<Name extends string> = number & { readonly [unit]: Name }

/** 0 is the L1, n ≥ 1 the rollup with rollupID n. Never a chain id. */
export type NetworkId = Unit<'NetworkId'>
/** 0-based position of a deposit in its network's local exit tree, as in BridgeEvent. */
export type DepositCount = Unit<'DepositCount'>
/** Number of leaves of a tree. A deposit is among them when `depositCount < leafCount`. */
export type LeafCount = Unit<'LeafCount'>
/** 0-based position of a leaf in the L1 info tree. */
export type L1InfoTreeIndex = Unit<'L1InfoTreeIndex'>
/** Position of a rollup's local exit root in the rollup exit tree: network id − 1. */
export type RollupIndex = Unit<'RollupIndex'>
export type BlockNumber = Unit<'BlockNumber'>
/** 0-based position of a claim in its network's shard, in the order of the chain. Used again only after a reorg. */
export type ClaimOrdinal = Unit<'ClaimOrdinal'>
/** Number of a lineage: 0 at first, one more after each BackwardLET. */
export type Lineage = Unit<'Lineage'>

const UINT32_MAX = 0xffff_ffff

function uint32<T extends number>(name: string, value: number): T {
  if (!Number.isInteger(value) || value < 0 || value > UINT32_MAX)
    throw new RangeError(`${name} ${value} is not a uint32`)
  return value as T
}

export const asNetworkId = (value: number): NetworkId => uint32('network id', value)
export const asDepositCount = (value: number): DepositCount => uint32('deposit count', value)
export const asL1InfoTreeIndex = (value: number): L1InfoTreeIndex => uint32('L1 info tree index', value)
export const asRollupIndex = (value: number): RollupIndex => uint32('rollup index', value)
export const asClaimOrdinal = (value: number): ClaimOrdinal => uint32('claim ordinal', value)

/** @throws RangeError outside 0 … 2^32 − 1, which is the leaf count of a full tree. */
export const asLeafCount = (value: number): LeafCount => uint32('leaf count', value)

/** @throws RangeError outside 0 … 2^48 − 1: the store keeps 6 bytes. */
export function asBlockNumber(value: number): BlockNumber {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 48)
    throw new RangeError(`block number ${value} is out of range`)
  return value as BlockNumber
}
