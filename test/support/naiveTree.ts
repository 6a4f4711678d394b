import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Hex } from 'viem'
import { bytesToHex, concat, hexToBytes, numberToHex } from 'viem/utils'
import type { ForwardLeaf } from '../../src/protocol/chainEvent.js'

/*
 * The one oracle of hashes and trees: the contracts' own text in the plainest way, on noble's keccak. Nothing here comes from
 * `src`. Bytes where tests compare trees, hex where they compare chains.
 */

export const ZERO_HASH: Hex = `0x${'00'.repeat(32)}`
export const ZERO_ADDRESS: Hex = `0x${'00'.repeat(20)}`

const LONGEST_KEPT = 256
const MOST_KEPT = 1 << 16
const known = new Map<string, Uint8Array>()

/** keccak-256. Models build the same trees again for every block, so digests of short texts are kept. */
export function plainKeccak(bytes: Uint8Array): Uint8Array {
  if (bytes.length > LONGEST_KEPT) return keccak_256(bytes)
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  let digest = known.get(key)
  if (digest === undefined) {
    digest = keccak_256(bytes)
    if (known.size === MOST_KEPT) known.clear()
    known.set(key, digest)
  }
  return digest.slice()
}

export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  return plainKeccak(Buffer.concat([left, right]))
}

export function keccak(...parts: readonly Hex[]): Hex {
  return bytesToHex(plainKeccak(hexToBytes(concat(parts))))
}

/** The tree as levels of nodes, padded with the zero hash of their height. */
export class NaiveTree {
  static readonly zeroHashes: readonly Uint8Array[] = (() => {
    const hashes: Uint8Array[] = [new Uint8Array(32)]
    for (let h = 0; h < 32; h++) hashes.push(hashPair(hashes[h]!, hashes[h]!))
    return hashes
  })()

  readonly levels: Uint8Array[][]

  constructor(leaves: readonly Uint8Array[]) {
    this.levels = [[...leaves]]
    for (let h = 0; h < 32; h++) {
      const below = this.levels[h]!
      const level: Uint8Array[] = []
      for (let i = 0; i < below.length; i += 2)
        level.push(hashPair(below[i]!, below[i + 1] ?? NaiveTree.zeroHashes[h]!))
      this.levels.push(level)
    }
  }

  get root(): Uint8Array {
    return this.levels[32]![0] ?? NaiveTree.zeroHashes[32]!
  }

  /** 32 siblings, leaf level first. */
  siblings(index: number): Uint8Array[] {
    const at = (h: number) => this.levels[h]![(index >>> h) ^ 1] ?? NaiveTree.zeroHashes[h]!
    return Array.from({ length: 32 }, (_, h) => at(h))
  }

  branch(index: number): Uint8Array {
    return Buffer.concat(this.siblings(index))
  }
}

/** Folds a leaf with its branch as the contract's `calculateRoot` does. */
export function naiveFold(leaf: Uint8Array, branch: Uint8Array, index: number): Uint8Array {
  let node = leaf
  for (let h = 0; h < 32; h++) {
    const sibling = branch.subarray(32 * h, 32 * (h + 1))
    node = (index >>> h) & 1 ? hashPair(sibling, node) : hashPair(node, sibling)
  }
  return node
}

/** Root of the empty tree (Z32). */
export const EMPTY_ROOT = bytesToHex(NaiveTree.zeroHashes[32]!)

const treeOf = (leaves: readonly Hex[]) => new NaiveTree(leaves.map((leaf) => hexToBytes(leaf)))

export function naiveRoot(leaves: readonly Hex[]): Hex {
  return bytesToHex(treeOf(leaves).root)
}

/** Siblings of leaf `index`, leaf level first. */
export function naiveBranch(leaves: readonly Hex[], index: number): Hex[] {
  return treeOf(leaves)
    .siblings(index)
    .map((sibling) => bytesToHex(sibling))
}

/** Root that a leaf and its siblings give. */
export function foldNaively(leaf: Hex, siblings: readonly Hex[], index: number): Hex {
  return bytesToHex(naiveFold(hexToBytes(leaf), hexToBytes(concat(siblings)), index))
}

/**
 * The deposit contract's own algorithm, a frontier of 32 nodes: cheap enough to give roots at many leaf counts of a large
 * tree. Never changed in place.
 * @see DepositContractBase (agglayer-contracts)
 */
export class ContractTree {
  readonly leafCount: number
  readonly #frontier: readonly Uint8Array[]

  constructor(leafCount = 0, frontier: readonly Uint8Array[] = []) {
    this.leafCount = leafCount
    this.#frontier = frontier
  }

  append(leaf: Uint8Array): ContractTree {
    const leafCount = this.leafCount + 1
    const frontier = [...this.#frontier]
    let node = leaf
    let h = 0
    for (; ((leafCount >>> h) & 1) === 0; h++) node = hashPair(frontier[h]!, node)
    frontier[h] = node
    return new ContractTree(leafCount, frontier)
  }

  get root(): Uint8Array {
    let node = NaiveTree.zeroHashes[0]!
    for (let h = 0; h < 32; h++)
      node =
        (this.leafCount >>> h) & 1
          ? hashPair(this.#frontier[h]!, node)
          : hashPair(node, NaiveTree.zeroHashes[h]!)
    return node
  }
}

/** Leaf number `i` of a test tree: keccak of its number and a salt. */
export function testLeaf(i: number, salt = 0): Uint8Array {
  const seed = Buffer.alloc(8)
  seed.writeUInt32BE(salt, seed.writeUInt32BE(i))
  return plainKeccak(seed)
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

const hexOf = (bytes: Hex | Uint8Array): Hex => (typeof bytes === 'string' ? bytes : bytesToHex(bytes))

/** Leaf of the local exit tree: keccak of 113 packed bytes. */
export function depositLeaf(parts: LeafParts | ForwardLeaf): Hex {
  return keccak(
    numberToHex(parts.leafType, { size: 1 }),
    numberToHex(parts.originNetwork, { size: 4 }),
    hexOf(parts.originAddress),
    numberToHex(parts.destinationNetwork, { size: 4 }),
    hexOf(parts.destinationAddress),
    numberToHex(parts.amount, { size: 32 }),
    keccak(hexOf(parts.metadata)),
  )
}

export function globalExitRoot(mainnetExitRoot: Hex, rollupExitRoot: Hex): Hex {
  return keccak(mainnetExitRoot, rollupExitRoot)
}

/** Leaf of the L1 info tree: keccak of 72 packed bytes. */
export function l1InfoLeaf(ger: Hex, parentHash: Hex, timestampSec: number): Hex {
  return keccak(ger, parentHash, numberToHex(timestampSec, { size: 8 }))
}

/** The leaves of the rollups' tree: local exit roots, position = network id − 1. */
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
