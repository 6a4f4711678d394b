import { decodeArchivedDeposit } from '../../store/layout/depositRow.js'
import type { Counters } from '../../store/layout/metaValues.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { readLineages } from '../snapshot/tiles.js'
import { entriesOf } from './check.js'

/**
 * Leaves that each lineage of the local exit tree grew to. Of a lineage that was cut, the deposits behind the cut are in
 * the archive: where there are none, it ended at the cut.
 */
export function lineageLeafCounts(view: ReadView, { lineage, deposits }: Readonly<Counters>): number[] {
  const leafCounts = readLineages(view, lineage)
    .slice(1)
    .map(({ cut }) => cut)
  leafCounts.push(deposits)
  if (lineage === 0) return leafCounts
  for (const { value } of entriesOf(view, 'archivedDeposits')) {
    const archived = decodeArchivedDeposit(value)
    leafCounts[archived.lineage] = Math.max(leafCounts[archived.lineage] ?? 0, archived.depositCount + 1)
  }
  return leafCounts
}
