import type { Paging } from '../../query/queries.js'
import type { Page } from '../../query/records.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import { type NetworkRows, PackedPage, type RowStretch } from '../rows/packedPage.js'
import type { OrdinalList } from '../sets/ordinalList.js'
import { skippedBy } from './pageOf.js'

/** The matching rows of one network, in the order of its chain. */
interface Strand {
  readonly rows: OrdinalList
  /** Unix seconds of a row. */
  timeOf(ordinal: number): number
}

/** A row of one of the strands. */
interface StrandRow {
  /** Position among the strands. */
  readonly strand: number
  readonly ordinal: number
}

interface ListStrand<Row> extends Strand {
  readonly list: NetworkRows<Row>
}

/** Cuts one page out of the lists of several networks, without a cursor. */
export function pageOfAll<Row>(
  strands: readonly ListStrand<Row>[],
  query: Paging,
  template: RowTemplate,
): Page<Row> {
  const { isAscending = false, pageSize } = query
  const facts = { page: query.pageNumber, limit: pageSize, total: totalOf(strands), nextCursor: null }
  const places = placesOfAll(strands, skippedBy(query), pageSize, isAscending)
  return new PackedPage(facts, template, stretchesOf(strands, places))
}

/** Puts neighbours of one network together. */
function stretchesOf<Row>(
  strands: readonly ListStrand<Row>[],
  places: readonly StrandRow[],
): readonly RowStretch<Row>[] {
  const stretches: RowStretch<Row>[] = []
  let ordinals: number[] = []
  let last = -1
  for (const { strand, ordinal } of places) {
    if (strand !== last) {
      ordinals = []
      stretches.push({ ordinals, list: strands[strand]!.list })
      last = strand
    }
    ordinals.push(ordinal)
  }
  return stretches
}

/** Rows of a network that are read in one go. */
const ROWS_AT_ONCE = 1_000

/**
 * A page of the rows of several networks, newest first; of rows with one time those of the later strand come first. Ascending, both are the
 * other way round. Rows of one network stay in the order of its chain, even where its times fall. So no time divides the rows: those in
 * front of the page are stepped over one by one, and whoever asks is told how many they may be (`MAX_WALKED_ROWS`).
 * @param skipped rows in front of the page. @returns at most `count` rows.
 */
export function placesOfAll(
  strands: readonly Strand[],
  skipped: number,
  count: number,
  isAscending: boolean,
): readonly StrandRow[] {
  const wanted = skipped + count
  if (skipped >= totalOf(strands)) return []
  const atOnce = Math.min(wanted, ROWS_AT_ONCE)
  const ends = strands.map((strand) => new StrandEnd(strand, atOnce, isAscending))
  const page: StrandRow[] = []
  for (let step = 0; step < wanted; step++) {
    let chosen = -1
    for (let at = 0; at < ends.length; at++) {
      const { timeSec } = ends[at]!
      if (timeSec < 0) continue
      const best = chosen < 0 ? timeSec : ends[chosen]!.timeSec
      if (chosen < 0 || (isAscending ? timeSec < best : timeSec >= best)) chosen = at
    }
    if (chosen < 0) break
    const ordinal = ends[chosen]!.pop()
    if (step >= skipped) page.push({ strand: chosen, ordinal })
  }
  return page
}

function totalOf(strands: readonly Strand[]): number {
  return strands.reduce((sum, { rows }) => sum + rows.length, 0)
}

/** The newest row of a strand that was not taken yet, or the oldest one. */
class StrandEnd {
  /** Unix seconds of that row; −1 when there are no more. */
  timeSec = -1
  readonly #strand: Strand
  readonly #rowsAtOnce: number
  readonly #isAscending: boolean
  /** Rows that were not read yet: those below, ascending those from here on. */
  #unread: number
  /** The next one last. */
  #ordinals: number[] = []

  constructor(strand: Strand, rowsAtOnce: number, isAscending: boolean) {
    this.#strand = strand
    this.#rowsAtOnce = rowsAtOnce
    this.#isAscending = isAscending
    this.#unread = isAscending ? 0 : strand.rows.length
    this.#look()
  }

  /** Takes the row, which must be there. */
  pop(): number {
    const ordinal = this.#ordinals.pop()!
    this.#look()
    return ordinal
  }

  #look(): void {
    if (this.#ordinals.length === 0) this.#ordinals = this.#read()
    const last = this.#ordinals.at(-1)
    this.timeSec = last === undefined ? -1 : this.#strand.timeOf(last)
  }

  #read(): number[] {
    const { rows } = this.#strand
    const from = this.#isAscending ? this.#unread : Math.max(0, this.#unread - this.#rowsAtOnce)
    const to = this.#isAscending ? Math.min(rows.length, this.#unread + this.#rowsAtOnce) : this.#unread
    this.#unread = this.#isAscending ? to : from
    const read = rows.slice(from, to)
    return this.#isAscending ? read.reverse() : read
  }
}
