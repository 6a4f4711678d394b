import { createZeroHashes } from '../../src/merkle/branch.js'
import type { Hasher } from '../../src/merkle/hasher.js'

/** Computes the roots of a tree that only grows. It keeps one node per level. */
export class Frontier {
  count = 0
  private readonly hasher: Hasher
  private readonly zeros: readonly Uint8Array[]
  private readonly nodes: Uint8Array[] = []

  constructor(hasher: Hasher) {
    this.hasher = hasher
    this.zeros = createZeroHashes(hasher)
  }

  append(leaf: Uint8Array): void {
    let node = leaf
    let level = 0
    for (let rest = this.count; (rest & 1) === 1; rest >>>= 1) {
      node = this.hasher.hashPair(this.nodes[level]!, node)
      level++
    }
    this.nodes[level] = node
    this.count++
  }

  root(): Uint8Array {
    let node = this.zeros[0]!
    for (let level = 0; level < 32; level++)
      node =
        (this.count >>> level) & 1
          ? this.hasher.hashPair(this.nodes[level]!, node)
          : this.hasher.hashPair(node, this.zeros[level]!)
    return node
  }
}
