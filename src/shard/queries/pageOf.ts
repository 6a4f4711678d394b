import { type Answer, success } from '../../query/answers.js'
import { encodeCursor, filterHash } from '../../query/cursor.js'
import type { OperationId, Paging } from '../../query/queries.js'
import { cursorOutdated } from '../../query/refusals.js'
import type { Rewind } from '../../store/layout/metaValues.js'
import type { OrdinalList } from '../sets/ordinalList.js'

/** The ordinals of one page in the order of the answer, and the answer's fields about the page. */
export interface OrdinalPage {
  readonly ordinals: readonly number[]
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly nextCursor: string | null
}

export interface PageFrame {
  readonly operation: OperationId
  /** Only ordinals `from` … `below` − 1 are in the pages. */
  readonly from: number
  readonly below: number
  readonly state: RewindState
  /** The rows that the ordinals belong to. */
  readonly rows: keyof Rewind
}

/** The rewinds of a snapshot. */
interface RewindState {
  readonly epoch: number
  /** Rows below the result are the same now as they were after that number of rewinds. */
  untouchedSince(epoch: number): Rewind
}

/** Number of rows in front of a page that no cursor names. */
export function skippedBy({ skipped, pageNumber, pageSize }: Paging): number {
  return skipped ?? (pageNumber - 1) * pageSize
}

/**
 * Cuts one page out of a list. A cursor is the ordinal between the rows already given and the rest, so it stays right however many
 * rows are appended. It is refused only when a rewind took back rows below it.
 */
export function pageOf(list: OrdinalList, frame: PageFrame, query: Paging): Answer<OrdinalPage> {
  const { pageSize, isAscending = false } = query
  const first = frame.from === 0 ? 0 : list.rank(frame.from)
  const end = frame.below === Number.POSITIVE_INFINITY ? list.length : Math.max(first, list.rank(frame.below))
  /** Number of rows before the page, in the order of the answer. */
  let skipped = skippedBy(query)
  if (query.cursor !== undefined) {
    const border = borderOf(query.cursor, frame)
    if (border === undefined) return cursorOutdated()
    const rank = Math.min(Math.max(list.rank(border), first), end)
    skipped = isAscending ? rank - first : end - rank
  }
  const total = end - first
  const from = isAscending ? first + skipped : Math.max(first, end - skipped - pageSize)
  const to = isAscending ? Math.min(end, first + skipped + pageSize) : end - skipped
  const ordinals = from < to ? list.slice(from, to) : []
  if (!isAscending) ordinals.reverse()
  const isLast = isAscending ? to >= end : from <= first
  const last = ordinals.at(-1)
  return success({
    ordinals,
    page: query.cursor === undefined ? query.pageNumber : Math.floor(skipped / pageSize) + 1,
    limit: pageSize,
    total,
    nextCursor:
      isLast || last === undefined
        ? null
        : encodeCursor({
            isAscending,
            filterHash: filterHash(frame.operation, query),
            numbers: [frame.state.epoch, isAscending ? last + 1 : last],
          }),
  })
}

/** The cursor's ordinal; undefined when a rewind has replaced rows below it since the cursor was made. */
function borderOf(cursor: readonly number[], { state, rows }: PageFrame): number | undefined {
  const [seen = 0, border = 0] = cursor
  // If the cursor has seen more rewinds than there are, the shard was indexed anew.
  return seen > state.epoch || state.untouchedSince(seen)[rows] < border ? undefined : border
}
