import { type Answer, success } from '../../errors/answers.js'
import type { ClaimsQuery } from '../../protocol/queries.js'
import type { ClaimRecord, Page } from '../../protocol/records.js'
import { listKinds } from '../../store/tables.js'
import { newestPositionsExcept, type OrdinalList, wholeRange } from '../ordinalList.js'
import type { ShardReaders } from '../reader.js'
import { networkNotServed } from '../refusals.js'
import { claimRow } from './claimRow.js'

/** Claims in force on one network, newest first. A page beyond the end is empty, with the same total. */
export function getClaims(shards: ShardReaders, query: ClaimsQuery): Answer<Page<ClaimRecord>> {
  const view = shards.find(query.networkId)
  if (view === undefined) return networkNotServed(query.networkId)
  const list =
    query.fromAddress === undefined
      ? wholeRange(view.claims.count)
      : view.list(listKinds.claimsBySender, query.fromAddress)
  const excluded = positionsOf(list, shards.unlistedClaims.of(view))
  const skip = (query.pageNumber - 1) * query.pageSize
  return success({
    rows: newestPositionsExcept(list.length, excluded, skip, query.pageSize).map((position) =>
      claimRow(shards, view, list.at(position)),
    ),
    page: query.pageNumber,
    limit: query.pageSize,
    total: list.length - excluded.length,
  })
}

/** Where those of the ordinals that are in the list stand in it. @param ordinals ascending. */
function positionsOf(list: OrdinalList, ordinals: readonly number[]): number[] {
  const positions: number[] = []
  let from = 0
  for (const ordinal of ordinals) {
    from = list.rank(ordinal, from)
    if (from === list.length) break
    if (list.at(from) === ordinal) positions.push(from)
  }
  return positions
}
