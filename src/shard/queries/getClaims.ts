import { type Answer, success } from '../../errors/answers.js'
import type { ClaimsQuery } from '../../protocol/queries.js'
import type { ClaimRecord, Page } from '../../protocol/records.js'
import { LazyPage } from '../lazyPage.js'
import { PackedClaims } from '../packedClaims.js'
import { pageOf } from '../pageOf.js'
import type { ShardReaders } from '../reader.js'
import { networkNotServed } from '../refusals.js'
import { claimRow } from './claimRow.js'
import { selectClaims } from './selectClaims.js'

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
  return success(new LazyPage(page.value, new PackedClaims(shards, view, ordinals, makeRow), makeRow))
}
