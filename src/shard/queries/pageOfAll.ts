import type { Paging } from '../../query/queries.js'
import type { Page } from '../../query/records.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import { type NewestStrand, newestOfAll } from '../sets/newestOfAll.js'
import type { ShardView } from '../snapshot/shardView.js'
import { skippedBy } from './pageOf.js'

interface ViewStrand extends NewestStrand {
  readonly view: ShardView
}

/** Cuts one page out of the lists of several networks: newest first, without a cursor. */
export function pageOfAll<Row>(
  strands: readonly ViewStrand[],
  query: Paging,
  template: RowTemplate,
  makeRow: (view: ShardView, ordinal: number) => Row,
): Page<Row> {
  const places = newestOfAll(strands, skippedBy(query), query.pageSize)
  return {
    template,
    rows: places.map(({ strand, ordinal }) => makeRow(strands[strand]!.view, ordinal)),
    page: query.pageNumber,
    limit: query.pageSize,
    total: strands.reduce((sum, { rows }) => sum + rows.length, 0),
    nextCursor: null,
  }
}
