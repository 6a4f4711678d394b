import { InvariantError } from '../../errors/invariantError.js'
import { type Answer, success } from '../../query/answers.js'
import { type Cursor, decodeCursor, encodeCursor, filterHash } from '../../query/cursor.js'
import type { OperationId, Paging } from '../../query/queries.js'
import { cursorOutdated } from '../../query/refusals.js'
import type { Rewind } from '../../store/layout/metaValues.js'
import type { OrdinalList } from '../sets/ordinalList.js'

/** Ordinals of one page, in the order of the answer, and what the answer says of it. */
export interface OrdinalPage {
  readonly ordinals: readonly number[]
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly nextCursor: string | null
}

export interface PageFrame {
  readonly operation: OperationId
  /** Only ordinals in [from, below). */
  readonly from: number
  readonly below: number
  readonly state: RewindState
  /** What the ordinals are of. */
  readonly rows: keyof Rewind
}

/** What a snapshot says of rows that were taken back. */
interface RewindState {
  readonly rewindCount: number
  /** Rows below these are the same now as at that count of rewinds. */
  untouchedSince(rewindCount: number): Rewind
}

/**
 * One page of a list. A cursor is the ordinal between what was given and what comes next, so it stays right however many rows
 * are appended; it is refused only when a rewind reached below it.
 */
export function pageOf(list: OrdinalList, frame: PageFrame, query: Paging): Answer<OrdinalPage> {
  const { pageSize, isAscending = false } = query
  const first = frame.from === 0 ? 0 : list.rank(frame.from)
  const end = frame.below === Number.POSITIVE_INFINITY ? list.length : Math.max(first, list.rank(frame.below))
  /** Rows before the page, in the order of the answer. */
  let skipped = (query.pageNumber - 1) * pageSize
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
            numbers: [frame.state.rewindCount, isAscending ? last + 1 : last],
          }),
  })
}

/** The cursor of a query, which the parser has checked. */
export function readCursor(bytes: Uint8Array): Cursor {
  const cursor = decodeCursor(bytes)
  if (cursor === undefined) throw new InvariantError('a cursor came through that is none')
  return cursor
}

/** undefined: rows below the border were replaced since the cursor was made. */
function borderOf(bytes: Uint8Array, { state, rows }: PageFrame): number | undefined {
  const [seen = 0, border = 0] = readCursor(bytes).numbers
  // More than there were: the shard has been indexed anew.
  return seen > state.rewindCount || state.untouchedSince(seen)[rows] < border ? undefined : border
}
