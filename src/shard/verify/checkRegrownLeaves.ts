import { isSameHash } from '../../merkle/branch.js'
import { getLeaf } from '../../merkle/treeProofs.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import { entriesOf, expectEqual, type VerifyContext } from './check.js'
import { lineageLeafCounts } from './lineages.js'

/** The stored stretches of each older lineage are exactly the equal leaves at or above the lowest later cut. */
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
        isSameHash(getLeaf(tree, lineage, depositCount), getLeaf(tree, newest, depositCount))
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
