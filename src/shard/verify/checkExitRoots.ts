import { EMPTY_TREE_ROOT } from '../../merkle/branch.js'
import { getRoot, getRootsAtCounts } from '../../merkle/treeProofs.js'
import { encodeHex } from '../../protocol/hex.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeExitState } from '../../store/layout/metaValues.js'
import { decodeLocalExitRootEntry } from '../../store/layout/smallRows.js'
import { hashKinds } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { FoundExitRoot } from '../localExitRoots.types.js'
import { entriesOfKind, exitRootOf, findRootAtBlockEnd } from '../snapshot/hashRuns.js'
import { readSettledInsideBlocks } from '../snapshot/localExitRoots.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { DamageError, entriesOf, expectEqual, expectHash, expectStored, type VerifyContext } from './check.js'
import { lineageLeafCounts } from './lineages.js'

/** Roots worked out together. */
const BATCH = 2048

/** The root of the tree as it is now is the one that the chain last told of (an L2 settles the root of any block's end). */
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
    // Deposits that no exit root covers yet: their tiles must be there all the same.
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

/** Every exit root that is kept is the root of the leaves that it stands for. */
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
    // Z32 of no deposits needs no tile.
    if (leafCount === 0) expectHash('exit root of no deposits', EMPTY_TREE_ROOT, root)
    else pending.push({ root, lineage, leafCount })
    total++
    if (pending.length === BATCH) flush()
  }
  flush()
  return `${total} roots`
}

/** The stored roots: of block ends, and of places inside a block that were settled. */
function* keptRoots(view: ReadView): Generator<FoundExitRoot> {
  for (const words of entriesOfKind(view, hashKinds.localExitRoots)) yield exitRootOf(words)
  let insideBlocks = 0
  for (const { key, value } of entriesOf(view, 'settledInsideBlocks')) {
    yield { root: key, ...decodeLocalExitRootEntry(value) }
    insideBlocks++
  }
  expectEqual('roots settled inside blocks', readSettledInsideBlocks(view), insideBlocks)
}
