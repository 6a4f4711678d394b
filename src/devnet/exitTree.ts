import type { Hex } from 'viem'
import { concat, keccak256 } from 'viem/utils'

/*
 * The bridge's trees in the simplest form: every root and proof is computed from the list of leaves. It is independent of the
 * service's trees, so that the scenario's claims can prove those right.
 */

const depth = 32
const zeroLeaf: Hex = `0x${'00'.repeat(32)}`

/** Root over `leaves`, which start at position 0 and may be empty. */
export function rootOver(leaves: readonly Hex[]): Hex {
  return levelsOver(leaves).root
}

/** The 32 siblings of the leaf at `position`, leaf level first. */
export function branchOf(leaves: readonly Hex[], position: number): Hex[] {
  return levelsOver(leaves).levels.map(({ nodes, empty }, height) => {
    const sibling = Math.floor(position / 2 ** height) ^ 1
    return nodes[sibling] ?? empty
  })
}

interface Level {
  readonly nodes: readonly Hex[]
  /** Node of this level that has no leaf below it. */
  readonly empty: Hex
}

function levelsOver(leaves: readonly Hex[]): { levels: Level[]; root: Hex } {
  const levels: Level[] = []
  let nodes = leaves
  let empty = zeroLeaf
  for (let height = 0; height < depth; height++) {
    levels.push({ nodes, empty })
    const parents: Hex[] = []
    for (let i = 0; i < nodes.length; i += 2) parents.push(join(nodes[i]!, nodes[i + 1] ?? empty))
    nodes = parents
    empty = join(empty, empty)
  }
  return { levels, root: nodes[0] ?? empty }
}

function join(left: Hex, right: Hex): Hex {
  return keccak256(concat([left, right]))
}
