import { EMPTY_TREE_ROOT } from '../../merkle/branch.js'
import { getLeaf, getRoot, getRootsAtCounts } from '../../merkle/treeProofs.js'
import { equalBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import { encodeHex } from '../../protocol/hex.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeExitState } from '../../store/layout/metaValues.js'
import { decodeLocalExitRootEntry, decodeUint32 } from '../../store/layout/smallRows.js'
import { hashKinds } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { FoundExitRoot } from '../localExitRoots.types.js'
import { entriesOfKind, exitRootOf, findRootAtBlockEnd } from '../snapshot/hashRuns.js'
import { readSettledInsideBlocks } from '../snapshot/localExitRoots.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import {
  DamageError,
  entriesOf,
  expectEqual,
  expectHash,
  expectStored,
  lineageLeafCounts,
  type VerifyContext,
} from './check.js'

/** Number of roots that are computed together. */
const BATCH = 2048

/** Checks the newest root: on the L1 the last mainnet exit root, on an L2 the stored root of the last block's end. */
export function checkNewestRoot({ view, networkId, hasher, counters }: VerifyContext): string {
  const { lineage, deposits } = counters
  const tree = localExitTreeSource(view, hasher, lineage)
  if (networkId === 0) {
    const { mainnetExitRoot, mainnetLeafCount } = decodeExitState(view.get('meta', metaKey('exitState')))
    if (mainnetLeafCount > deposits)
      throw new DamageError(
        `the mainnet exit root covers ${mainnetLeafCount} deposits, only ${deposits} are counted`,
      )
    const root = getRoot(tree, lineage, mainnetLeafCount)
    const isEmpty = mainnetLeafCount === 0 && mainnetExitRoot.every((byte) => byte === 0)
    if (!isEmpty) expectHash(`mainnet exit root of ${mainnetLeafCount} deposits`, mainnetExitRoot, root)
    // The tiles of deposits that no exit root covers yet must be there, too.
    getRoot(tree, lineage, deposits)
    return `${encodeHex(isEmpty ? mainnetExitRoot : root)} of ${mainnetLeafCount} deposits`
  }
  const root = getRoot(tree, lineage, deposits)
  if (deposits === 0 && lineage === 0) return 'no deposits'
  const place = `local exit root ${encodeHex(root)} of ${deposits} deposits`
  const entry = expectStored(place, findRootAtBlockEnd(view, root))
  expectEqual(`${place}, leaf count`, deposits, entry.leafCount)
  expectEqual(`${place}, lineage`, lineage, entry.lineage)
  return `${encodeHex(root)} of ${deposits} deposits`
}

/** Checks that every stored local exit root is the root of its leaf count in its lineage. */
export function checkExitRoots({ view, hasher, counters }: VerifyContext): string {
  const tree = localExitTreeSource(view, hasher, counters.lineage)
  const leafCounts = lineageLeafCounts(view, counters)
  const pending: { root: Uint8Array; lineage: number; leafCount: number }[] = []
  let total = 0
  const flush = (): void => {
    pending.sort((a, b) => a.lineage - b.lineage || a.leafCount - b.leafCount)
    for (let from = 0; from < pending.length; ) {
      const { lineage } = pending[from]!
      const end = pending.findIndex((entry, index) => index > from && entry.lineage !== lineage)
      const same = pending.slice(from, end < 0 ? pending.length : end)
      const roots = getRootsAtCounts(
        tree,
        lineage,
        same.map(({ leafCount }) => leafCount),
      )
      same.forEach(({ root, leafCount }, index) => {
        const place = `exit root of ${leafCount} deposits in lineage ${lineage}`
        expectHash(place, roots.subarray(32 * index, 32 * index + 32), root)
      })
      from += same.length
    }
    pending.length = 0
  }
  for (const { root, lineage, leafCount } of keptRoots(view)) {
    const most = leafCounts[lineage]
    if (most === undefined || leafCount > most)
      throw new DamageError(
        `exit root ${encodeHex(root)} stands for ${leafCount} deposits of lineage ${lineage}, which has ${most ?? 'no'}`,
      )
    // The root of no deposits needs no tile.
    if (leafCount === 0) expectHash('exit root of no deposits', EMPTY_TREE_ROOT, root)
    else pending.push({ root, lineage, leafCount })
    total++
    if (pending.length === BATCH) flush()
  }
  flush()
  return `${total} roots`
}

/** All stored roots: those of block ends, and those settled inside a block. */
function* keptRoots(view: ReadView): Generator<FoundExitRoot> {
  for (const words of entriesOfKind(view, hashKinds.localExitRoots)) yield exitRootOf(words)
  let insideBlocks = 0
  for (const { key, value } of entriesOf(view, 'settledInsideBlocks')) {
    yield { root: key, ...decodeLocalExitRootEntry(value) }
    insideBlocks++
  }
  expectEqual('roots settled inside blocks', readSettledInsideBlocks(view), insideBlocks)
}

/** Checks that the stored stretches of each older lineage are exactly its regrown deposits: equal leaves at or above the lowest later cut. */
export function checkRegrownLeaves(context: VerifyContext): string {
  const stored = storedStretches(context)
  const { view, hasher, counters } = context
  const { lineage: newest, deposits } = counters
  const tree = localExitTreeSource(view, hasher, newest)
  const leafCounts = lineageLeafCounts(view, counters)
  let total = 0
  for (let lineage = 0; lineage < newest; lineage++) {
    const stretches: string[] = []
    const lowestCut = Math.min(...tree.lineages.slice(lineage + 1).map(({ cut }) => cut))
    const end = Math.min(leafCounts[lineage]!, deposits)
    for (let depositCount = lowestCut; depositCount < end; ) {
      const from = depositCount
      while (
        depositCount < end &&
        equalBytes(getLeaf(tree, lineage, depositCount), getLeaf(tree, newest, depositCount))
      )
        depositCount++
      if (depositCount > from) stretches.push(`${from} to ${depositCount - 1}`)
      else depositCount++
    }
    const found = stored.get(lineage) ?? []
    expectEqual(`regrown deposits of lineage ${lineage}`, stretches.join(', '), found.join(', '))
    total += stretches.length
    stored.delete(lineage)
  }
  for (const lineage of stored.keys())
    expectEqual('newest lineage with regrown deposits', newest - 1, lineage)
  return `${total} stretches`
}

function storedStretches({ view }: VerifyContext): Map<number, string[]> {
  const stretches = new Map<number, string[]>()
  for (const { key, value } of entriesOf(view, 'regrownStretches')) {
    const lineage = (key[0]! << 8) | key[1]!
    const known = stretches.get(lineage) ?? []
    known.push(`${readUint32BigEndian(key, 2)} to ${decodeUint32(value) - 1}`)
    stretches.set(lineage, known)
  }
  return stretches
}
