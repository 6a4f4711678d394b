import type { Bridge, ClaimProof } from '../client/bridgeClient.js'
import type { Hasher } from '../merkle/hasher.js'
import { bytesOf } from './spelling.js'

/** One hash on the way up. */
export interface FoldStep {
  readonly left: string
  readonly right: string
  readonly result: string
}

/** A tree from a leaf to its root. */
export interface FoldedTree {
  readonly title: string
  /** What its root is called. */
  readonly rootName: string
  readonly leaf: string
  readonly steps: readonly FoldStep[]
  readonly root: string
  /** What the service says that the root is. */
  readonly expected: string
}

export interface FoldedProof {
  /** The deposit's leaf, made from the bridge itself, and what the service says that it is. */
  readonly leaf: { readonly made: string; readonly expected: string }
  /** One tree for a bridge from layer 1, two for one from elsewhere. */
  readonly trees: readonly FoldedTree[]
  /** keccak(mainnet exit root, rollup exit root), and what the service says. */
  readonly globalExitRoot: { readonly made: string; readonly expected: string }
  /** The leaf of the L1 info tree, and what the service says. */
  readonly l1InfoLeaf: { readonly made: string; readonly expected: string }
  readonly isRight: boolean
}

const U32 = 8
const U64 = 16
const U256 = 64

/**
 * Folds a proof from the bridge to the leaf of the L1 info tree, and believes nothing of what the service says of the steps between.
 * @throws RangeError where the bridge's metadata are too long to be shown, so that its leaf can't be made.
 */
export function foldProof(bridge: Bridge, proof: ClaimProof, hasher: Pick<Hasher, 'hash'>): FoldedProof {
  const keccak = (hex: string): string => hexOf(hasher.hash(bytesOf(`0x${hex}`)!))
  const { l1InfoTreeLeaf: info } = proof
  if (bridge.metadata === null)
    throw new RangeError('The data of this bridge are too long to be checked in a browser.')
  const leaf = keccak(
    number(bridge.leafType, 2) +
      number(bridge.tokenNetwork, U32) +
      plain(bridge.tokenAddress) +
      number(bridge.destinationNetwork, U32) +
      plain(bridge.destinationAddress) +
      number(bridge.amount, U256) +
      plain(keccak(plain(bridge.metadata))),
  )
  const fold = (
    title: string,
    rootName: string,
    from: string,
    siblings: readonly string[],
    index: number,
    expected?: string,
  ): FoldedTree => {
    const steps: FoldStep[] = []
    let node = from
    for (const [level, sibling] of siblings.entries()) {
      const isRight = Math.floor(index / 2 ** level) % 2 === 1
      const [left, right] = isRight ? [sibling, node] : [node, sibling]
      node = keccak(plain(left) + plain(right))
      steps.push({ left, right, result: node })
    }
    return { title, rootName, leaf: from, steps, root: node, expected: expected ?? node }
  }
  const trees: FoldedTree[] = []
  if (bridge.originNetwork === 0)
    trees.push(
      fold(
        'All that was sent from layer 1',
        'Sent from layer 1',
        leaf,
        proof.smtProofLocalExitRoot,
        bridge.depositCount,
        info.mainnetExitRoot,
      ),
    )
  else {
    const local = fold(
      `All that was sent from network ${bridge.originNetwork}`,
      `Sent from network ${bridge.originNetwork}`,
      leaf,
      proof.smtProofLocalExitRoot,
      bridge.depositCount,
    )
    trees.push(
      local,
      fold(
        'All networks besides layer 1',
        'From all besides layer 1',
        local.root,
        proof.smtProofRollupExitRoot,
        bridge.originNetwork - 1,
        info.rollupExitRoot,
      ),
    )
  }
  const [mainnet, rollup] =
    bridge.originNetwork === 0
      ? [trees[0]!.root, info.rollupExitRoot]
      : [info.mainnetExitRoot, trees[1]!.root]
  const globalExitRoot = { made: keccak(plain(mainnet) + plain(rollup)), expected: info.globalExitRoot }
  const l1InfoLeaf = {
    made: keccak(plain(globalExitRoot.made) + plain(info.previousBlockHash) + number(info.timestamp, U64)),
    expected: info.hash,
  }
  const pairs = [
    { made: leaf, expected: proof.leafHash },
    ...trees.map(({ root, expected }) => ({ made: root, expected })),
    globalExitRoot,
    l1InfoLeaf,
  ]
  return {
    leaf: pairs[0]!,
    trees,
    globalExitRoot,
    l1InfoLeaf,
    isRight: pairs.every(({ made, expected }) => made === expected),
  }
}

function plain(hex: string): string {
  return hex.slice(2).toLowerCase()
}

function number(value: number | bigint, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

function hexOf(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => number(byte, 2)).join('')}`
}
