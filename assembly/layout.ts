/**
 * Where everything lies in the one fixed memory. Each place is reserved at compile time (`memory.data`), so addresses are
 * constants, nothing overlaps, nothing is ever allocated, and the host's views stay valid for the life of the instance.
 */

/** Bytes of a hash: digests, nodes, leaves. */
export const HASH: usize = 32
/** Depth of every tree. */
export const DEPTH: i32 = 32
/** Levels of one tile; see src/merkle/nodeStore.ts for the order of its nodes. */
export const TILE_LEVELS: i32 = 6
/** Bytes of one stored tile: 64 + 32 + … + 2 nodes. */
export const TILE_BYTES: usize = 126 * HASH

/** Keccak-f[1600] round constants (FIPS 202, section 3.2.5). */
export const ROUND_CONSTANTS: usize = memory.data<u64>(
  [
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
  ],
  64,
)
export const ROUND_CONSTANTS_END: usize = ROUND_CONSTANTS + 24 * 8

/** Sponge state: 25 lanes. */
export const STATE: usize = memory.data(200, 64)
/** Result of the last `hash`, `foldBranch`, `root…` or `prove` call. */
export const DIGEST: usize = memory.data(32, 64)
/** Result for path B of `rootPair`. */
export const DIGEST_B: usize = memory.data(32, 64)
/** Zero hashes Z0 … Z32, filled when the instance starts. */
export const ZERO_HASHES: usize = memory.data(33 * 32, 64)

/** Bytes that the host hands in: a message (piece), pairs or messages to hash in place. */
export const INPUT: usize = memory.data(65536, 64)
/** The characters 0 … f. */
export const HEX_DIGITS: usize = memory.data<u8>(
  [0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66],
  16,
)
/** Text of up to 64 nodes: `"0x`, 64 digits, `"` and a comma each. */
export const TEXT: usize = memory.data(64 * 69, 64)

/** One tile being built, and behind it the node above it. */
export const TILE: usize = memory.data(127 * 32, 64)

/** For each of two paths: the tiles on it, lowest group first. */
export const PATH_A: usize = memory.data(6 * 126 * 32, 64)
export const PATH_B: usize = memory.data(6 * 126 * 32, 64)
/** For each of the two paths: its siblings, leaf level first. */
export const BRANCH_A: usize = memory.data(32 * 32, 64)
export const BRANCH_B: usize = memory.data(32 * 32, 64)
/**
 * Right edge of a tree: the incomplete node of each level 0 … 32 that holds the next free position; behind them the 32
 * siblings of these nodes.
 */
export const EDGE: usize = memory.data(65 * 32, 64)
export const EDGE_BRANCH: usize = EDGE + 33 * 32
