import type { Paging } from '../../query/queries.js'
import type { Page } from '../../query/records.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import type { OrdinalList } from '../sets/ordinalList.js'
import type { ShardView } from '../snapshot/shardView.js'
import { skippedBy } from './pageOf.js'

/** The matching rows of one network, in the order of its chain. */
interface NewestStrand {
  readonly rows: OrdinalList
  /** Unix seconds of a row. */
  timeOf(ordinal: number): number
  /** Whether a row may be earlier than one before it. */
  readonly doTimesFall: boolean
}

/** A row of one of the strands. */
interface StrandRow {
  /** Position among the strands. */
  readonly strand: number
  readonly ordinal: number
}

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

/** Rows before a page that are stepped over one by one. */
const MAX_STEPS = 1_000
/** Later than any block. */
const LATEST_SEC = 2 ** 48

/**
 * A page of the rows of several networks, newest first; of rows with one time those of the later strand come first. Rows of one network
 * stay in the order of its chain, even where its times fall.
 * @param skipped rows in front of the page. @returns at most `count` rows.
 */
export function newestOfAll(
  strands: readonly NewestStrand[],
  skipped: number,
  count: number,
): readonly StrandRow[] {
  const ends = strands.map(({ rows }) => rows.length)
  let left = skipped
  if (left > MAX_STEPS) {
    const near = endsNear(strands, skipped)
    if (near !== undefined) {
      left -= ends.reduce((sum, end, at) => sum + end - near[at]!, 0)
      ends.splice(0, ends.length, ...near)
    }
  }
  const wanted = left + count
  // The newest `wanted` of each hold the page, whatever the others have.
  const heads = strands.map(({ rows }, at) => rows.slice(Math.max(0, ends[at]! - wanted), ends[at]!))
  const times = heads.map((ordinals, at) => timeOfLast(strands[at]!, ordinals))
  const page: StrandRow[] = []
  for (let step = 0; step < wanted; step++) {
    let chosen = -1
    for (let at = 0; at < heads.length; at++)
      if (times[at]! >= 0 && (chosen < 0 || times[at]! >= times[chosen]!)) chosen = at
    if (chosen < 0) break
    const ordinal = heads[chosen]!.pop()!
    times[chosen] = timeOfLast(strands[chosen]!, heads[chosen]!)
    if (step >= left) page.push({ strand: chosen, ordinal })
  }
  return page
}

/** @returns −1 when there are no more. */
function timeOfLast({ timeOf }: NewestStrand, ordinals: readonly number[]): number {
  const last = ordinals.at(-1)
  return last === undefined ? -1 : timeOf(last)
}

/**
 * How many rows of each strand are before the latest time that at most `skipped` rows are at or after. undefined where times fall: then no
 * time divides the rows.
 */
function endsNear(strands: readonly NewestStrand[], skipped: number): readonly number[] | undefined {
  if (strands.some(({ doTimesFall }) => doTimesFall)) return undefined
  const before = (time: number): number[] => strands.map((strand) => countBefore(strand, time))
  const all = strands.reduce((sum, { rows }) => sum + rows.length, 0)
  const countFrom = (time: number): number => all - before(time).reduce((sum, rank) => sum + rank, 0)
  let low = -1
  let high = LATEST_SEC
  // Invariant: more than `skipped` rows are at or after `low`, or it is before all; at most `skipped` are at or after `high`.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (countFrom(middle) <= skipped) high = middle
    else low = middle
  }
  return before(high)
}

function countBefore({ rows, timeOf }: NewestStrand, time: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (timeOf(rows.slice(middle, middle + 1)[0]!) < time) low = middle + 1
    else high = middle
  }
  return low
}
