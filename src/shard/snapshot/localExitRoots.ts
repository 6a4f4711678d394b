import { EMPTY_TREE_ROOT } from '../../merkle/branch.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getRootsAtCounts } from '../../merkle/treeProofs.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { LeafCount, Lineage } from '../../protocol/units.js'
import { decodeArchivedDeposit } from '../../store/layout/depositRow.js'
import { metaKey, uint32Key } from '../../store/layout/keys.js'
import type { Counters } from '../../store/layout/metaValues.js'
import {
  decodeLocalExitRootEntry,
  decodeUint32,
  type LocalExitRootEntry,
} from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { LineageSpan, LocalExitRoots } from '../localExitRoots.types.js'
import { readCounters, readReorgs } from '../position/chainPosition.js'
import { findRootAtBlockEnd } from './hashRuns.js'
import { localExitTreeSource, readLineages } from './tiles.js'

const ZERO = new Uint8Array(32)
/** What the root of no deposits stands for. That root is `EMPTY_TREE_ROOT` or 32 zero bytes, depending on contract and version. */
const NO_LEAVES: LocalExitRootEntry = { lineage: 0 as Lineage, leafCount: 0 as LeafCount }

/** Lineage and leaf count of a local exit root; undefined for a root that this shard does not know. */
export function findLocalExitRoot(view: ReadView, root: Hash): LocalExitRootEntry | undefined {
  if (equalBytes(root, ZERO) || equalBytes(root, EMPTY_TREE_ROOT)) return NO_LEAVES
  const atBlockEnd = findRootAtBlockEnd(view, root)
  if (atBlockEnd !== undefined) return atBlockEnd
  const insideBlock = view.get('settledInsideBlocks', root)
  return insideBlock === undefined ? undefined : decodeLocalExitRootEntry(insideBlock)
}

/** Number of stored roots that were settled inside a block. */
export function readSettledInsideBlocks(view: ReadView): number {
  const stored = view.get('meta', metaKey('settledInsideBlocks'))
  return stored === undefined ? 0 : decodeUint32(stored)
}

/** The local exit roots of the writer's own shard. Each call reads the newest state. */
export function openLocalExitRoots(view: ReadView, hasher: TreeHasher): LocalExitRoots {
  return {
    reorgs: () => readReorgs(view),
    lineages: () => readLineageSpans(view, readCounters(view)),
    find: (root) => findLocalExitRoot(view, root),
    rootsAt(lineage, leafCounts) {
      const tree = localExitTreeSource(view, hasher, readCounters(view).lineage)
      return getRootsAtCounts(tree, lineage, leafCounts)
    },
  }
}

/** Every lineage, by number. @param counters the newest ones; the writer passes its own before it has stored them. */
export function readLineageSpans(
  view: ReadView,
  { lineage: newest, deposits, archivedDeposits }: Readonly<Counters>,
): LineageSpan[] {
  const lineages = readLineages(view, newest)
  return lineages.map(({ cut }, lineage): LineageSpan => {
    if (lineage === newest) return { cut, leafCount: deposits }
    // The archive holds the leaves that each cut removed. If a cut removed none, the lineage ended exactly at that cut.
    const end = firstArchivedAfter(view, lineage, archivedDeposits)
    const last = end === 0 ? undefined : readArchived(view, end - 1)
    return { cut, leafCount: last?.lineage === lineage ? last.depositCount + 1 : lineages[lineage + 1]!.cut }
  })
}

function firstArchivedAfter(view: ReadView, lineage: number, archived: number): number {
  let low = 0
  let high = archived
  while (low < high) {
    const middle = (low + high) >>> 1
    if (readArchived(view, middle).lineage > lineage) high = middle
    else low = middle + 1
  }
  return low
}

function readArchived(view: ReadView, ordinal: number) {
  return decodeArchivedDeposit(view.get('archivedDeposits', uint32Key(ordinal))!)
}
