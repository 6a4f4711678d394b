import { plainKeccak } from './plainKeccak.js'

/**
 * The bridge contract's tree said in the plainest way, on an independent keccak: levels of nodes, padded with the zero
 * hash of their height. The oracle of the tree tests.
 */
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
  branch(index: number): Uint8Array {
    const siblings = Array.from(
      { length: 32 },
      (_, h) => this.levels[h]![(index >>> h) ^ 1] ?? NaiveTree.zeroHashes[h]!,
    )
    return Buffer.concat(siblings)
  }
}

export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  return plainKeccak(Buffer.concat([left, right]))
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

/** Leaf number `i` of a test tree: keccak of its number and a salt. */
export function testLeaf(i: number, salt = 0): Uint8Array {
  const seed = new Uint8Array(8)
  new DataView(seed.buffer).setUint32(0, i)
  new DataView(seed.buffer).setUint32(4, salt)
  return plainKeccak(seed)
}

/**
 * The deposit contract's own algorithm: a frontier of 32 nodes. Cheap enough to give roots at many leaf counts of a
 * large tree.
 * @see DepositContractBase (agglayer-contracts)
 */
export class ContractTree {
  #leafCount = 0
  readonly #frontier: Uint8Array[] = []

  append(leaf: Uint8Array): void {
    this.#leafCount++
    let node = leaf
    for (let h = 0; h < 32; h++) {
      if ((this.#leafCount >>> h) & 1) {
        this.#frontier[h] = node
        return
      }
      node = hashPair(this.#frontier[h]!, node)
    }
  }

  get root(): Uint8Array {
    let node = NaiveTree.zeroHashes[0]!
    for (let h = 0; h < 32; h++)
      node =
        (this.#leafCount >>> h) & 1
          ? hashPair(this.#frontier[h]!, node)
          : hashPair(node, NaiveTree.zeroHashes[h]!)
    return node
  }
}
