import type { Hex } from 'viem'
import { bytesToHex, concat, hexToBytes, numberToHex } from 'viem/utils'
import { plainKeccak } from './plainKeccak.js'

/**
 * Hashes and trees of the fake chain, after the contracts' own text and on a plain keccak: nothing here comes from `src`.
 * Slow and plain on purpose: it is the oracle.
 */
export const ZERO_HASH: Hex = `0x${'00'.repeat(32)}`
export const ZERO_ADDRESS: Hex = `0x${'00'.repeat(20)}`

const TREE_DEPTH = 32

export function keccak(...parts: readonly Hex[]): Hex {
  return bytesToHex(plainKeccak(hexToBytes(concat(parts))))
}

const zeroHashes: readonly Hex[] = (() => {
  const hashes: Hex[] = [ZERO_HASH]
  for (let level = 0; level < TREE_DEPTH; level++) hashes.push(keccak(hashes[level]!, hashes[level]!))
  return hashes
})()

/** Root of the empty tree (Z32). */
export const EMPTY_ROOT: Hex = zeroHashes[TREE_DEPTH]!

/** Root over all leaves, level by level. */
export function naiveRoot(leaves: readonly Hex[]): Hex {
  let level = leaves
  for (let height = 0; height < TREE_DEPTH; height++) {
    const above: Hex[] = []
    for (let i = 0; i < level.length; i += 2)
      above.push(keccak(level[i]!, level[i + 1] ?? zeroHashes[height]!))
    level = above
  }
  return level[0] ?? EMPTY_ROOT
}

/** Siblings of leaf `index`, leaf level first. */
export function naiveBranch(leaves: readonly Hex[], index: number): Hex[] {
  const siblings: Hex[] = []
  let level = leaves
  let position = index
  for (let height = 0; height < TREE_DEPTH; height++) {
    siblings.push(level[position ^ 1] ?? zeroHashes[height]!)
    const above: Hex[] = []
    for (let i = 0; i < level.length; i += 2)
      above.push(keccak(level[i]!, level[i + 1] ?? zeroHashes[height]!))
    level = above
    position >>>= 1
  }
  return siblings
}

/** Root that a leaf and its siblings give. */
export function foldNaively(leaf: Hex, siblings: readonly Hex[], index: number): Hex {
  return siblings.reduce(
    (node, sibling, height) =>
      Math.floor(index / 2 ** height) % 2 === 1 ? keccak(sibling, node) : keccak(node, sibling),
    leaf,
  )
}

/** The deposit contract's own incremental tree: 32 left siblings and a count. Values are never changed in place. */
export interface Frontier {
  readonly leafCount: number
  readonly branch: readonly Hex[]
}

export const EMPTY_FRONTIER: Frontier = { leafCount: 0, branch: Array<Hex>(TREE_DEPTH).fill(ZERO_HASH) }

/** `_addLeaf` of the contracts. */
export function append(tree: Frontier, leaf: Hex): Frontier {
  const branch = [...tree.branch]
  const leafCount = tree.leafCount + 1
  let node = leaf
  for (let height = 0; height < TREE_DEPTH; height++) {
    if (Math.floor(leafCount / 2 ** height) % 2 === 1) {
      branch[height] = node
      break
    }
    node = keccak(branch[height]!, node)
  }
  return { leafCount, branch }
}

/** `getRoot` of the contracts. */
export function rootOf(tree: Frontier): Hex {
  let node = ZERO_HASH
  for (let height = 0; height < TREE_DEPTH; height++) {
    node =
      Math.floor(tree.leafCount / 2 ** height) % 2 === 1
        ? keccak(tree.branch[height]!, node)
        : keccak(node, zeroHashes[height]!)
  }
  return node
}

export interface LeafParts {
  readonly leafType: number
  readonly originNetwork: number
  readonly originAddress: Hex
  readonly destinationNetwork: number
  readonly destinationAddress: Hex
  readonly amount: bigint
  readonly metadata: Hex
}

/** Leaf of the local exit tree: keccak of 113 packed bytes. */
export function depositLeaf(parts: LeafParts): Hex {
  return keccak(
    numberToHex(parts.leafType, { size: 1 }),
    numberToHex(parts.originNetwork, { size: 4 }),
    parts.originAddress,
    numberToHex(parts.destinationNetwork, { size: 4 }),
    parts.destinationAddress,
    numberToHex(parts.amount, { size: 32 }),
    keccak(parts.metadata),
  )
}

export function globalExitRoot(mainnetExitRoot: Hex, rollupExitRoot: Hex): Hex {
  return keccak(mainnetExitRoot, rollupExitRoot)
}

/** Leaf of the L1 info tree: keccak of 72 packed bytes. */
export function l1InfoLeaf(ger: Hex, parentHash: Hex, timestampSec: number): Hex {
  return keccak(ger, parentHash, numberToHex(timestampSec, { size: 8 }))
}

/** Root over the rollups' local exit roots; position = network id − 1. No rollup: 32 zero bytes. */
export function rollupExitRoot(localExitRoots: ReadonlyMap<number, Hex>): Hex {
  if (localExitRoots.size === 0) return ZERO_HASH
  return naiveRoot(rollupLeaves(localExitRoots))
}

export function rollupLeaves(localExitRoots: ReadonlyMap<number, Hex>): Hex[] {
  const count = Math.max(0, ...localExitRoots.keys())
  return Array.from({ length: count }, (_, index) => localExitRoots.get(index + 1) ?? ZERO_HASH)
}

/** mainnet flag · 2^64 + rollup index · 2^32 + deposit count. */
export function globalIndexOf(sourceNetwork: number, depositCount: number): bigint {
  return sourceNetwork === 0
    ? (1n << 64n) + BigInt(depositCount)
    : (BigInt(sourceNetwork - 1) << 32n) + BigInt(depositCount)
}

/** 2048-bit bloom of a block's logs: three bits per address and topic (yellow paper 4.3.1). */
export function bloomOf(logs: readonly { readonly address: Hex; readonly topics: readonly Hex[] }[]): Hex {
  const bloom = new Uint8Array(256)
  for (const log of logs)
    for (const item of [log.address, ...log.topics]) {
      const hash = plainKeccak(hexToBytes(item))
      for (const pair of [0, 2, 4]) {
        const bit = ((hash[pair]! << 8) | hash[pair + 1]!) & 2047
        bloom[255 - (bit >> 3)]! |= 1 << (bit & 7)
      }
    }
  return bytesToHex(bloom)
}
