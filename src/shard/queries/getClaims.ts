import { type Answer, success } from '../../query/answers.js'
import type { ClaimsQuery } from '../../query/queries.js'
import type { ClaimRecord, Page } from '../../query/records.js'
import { networkNotServed } from '../../query/refusals.js'
import { PackedClaims } from '../rows/packedClaims.js'
import { claimRow } from './claimRecord.js'
import { LazyPage } from './lazyPage.js'
import { pageOf } from './pageOf.js'
import { selectClaims } from './selectClaims.js'
import type { ShardReaders } from './shardReaders.js'

/** Claims in force on one network, newest first unless asked otherwise. A page beyond the end is empty, with the same total. */
export function getClaims(shards: ShardReaders, query: ClaimsQuery): Answer<Page<ClaimRecord>> {
  const view = shards.find(query.networkId)
  if (view === undefined) return networkNotServed(query.networkId)
  const frame = {
    operation: 'getClaims' as const,
    from: 0,
    below: Number.POSITIVE_INFINITY,
    state: view.state,
    rows: 'claims' as const,
  }
  const page = pageOf(selectClaims(shards, view, query), frame, query)
  if (!page.ok) return page
  const { ordinals } = page.value
  const makeRow = (ordinal: number): ClaimRecord => claimRow(shards, view, ordinal)
  return success(
    new LazyPage(page.value, new PackedClaims(shards.rowPackers, view, ordinals, makeRow), makeRow),
  )
}
