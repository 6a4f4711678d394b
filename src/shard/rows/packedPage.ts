import type { FieldPlaces, RowOutput, RowWriter } from '../../query/packedRows.js'
import type { Page } from '../../query/records.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import type { RowArena } from './rowArena.js'

/** What the answer says of a page. */
type PageFacts = Pick<Page<never>, 'page' | 'limit' | 'total' | 'nextCursor'>

/** Rows of one network that stand beside each other in a page, in the order of the answer. */
export interface RowStretch<Row> {
  readonly ordinals: readonly number[]
  readonly list: NetworkRows<Row>
}

/** The list of one network that rows of a page are from. */
export interface NetworkRows<Row> {
  /** The packer of the list, at the beginning of a page. */
  packer(writer: RowWriter): RowPacker
  makeRow(ordinal: number): Row
}

/** Puts the rows of one network's list into the arena. */
export interface RowPacker {
  readonly arena: RowArena
  /** Where the fields of its rows stand. */
  readonly places: FieldPlaces
  /** Begins a page of the task at hand. @param template how its rows are spelled: some fields are looked up only for those that show them. */
  begin(template: RowTemplate): void
  /** Adds one row. @returns false for a row that the packed form can't show. */
  pack(ordinal: number): boolean
  /** As `hasShortRows` of a page, of one row. */
  isShort(ordinal: number): boolean
}

/**
 * A page whose rows are written from the chunks that they are stored in, inside the task that made it or inside later ones that see
 * the same snapshots (`ShardReaders.rememberSnapshots`). Records are made of the
 * few that can't be, and of all when somebody reads `rows`. A class, because an object literal with a getter has a shape of its
 * own each time: 3 µs of 10 that a single row took, a third of it for the garbage collector (November 2026, Node 20).
 */
export class PackedPage<Row> implements Page<Row> {
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly nextCursor: string | null
  readonly template: RowTemplate
  readonly #stretches: readonly RowStretch<Row>[]
  #rows: readonly Row[] | undefined

  constructor(page: PageFacts, template: RowTemplate, stretches: readonly RowStretch<Row>[]) {
    this.page = page.page
    this.limit = page.limit
    this.total = page.total
    this.nextCursor = page.nextCursor
    this.template = template
    this.#stretches = stretches
  }

  get rows(): readonly Row[] {
    this.#rows ??= this.#stretches.flatMap(({ ordinals, list }) =>
      ordinals.map((ordinal) => list.makeRow(ordinal)),
    )
    return this.#rows
  }

  hasShortRows(rowWriter: RowWriter): boolean {
    return this.#stretches.every(({ ordinals, list }) => {
      const packer = list.packer(rowWriter)
      return ordinals.every((ordinal) => packer.isShort(ordinal))
    })
  }

  writeRows(output: RowOutput<Row>, from: number, to: number): boolean {
    const stretches = this.#stretches
    if (stretches.length === 1) {
      const { ordinals, list } = stretches[0]!
      this.#writeStretch(output, list.packer(output.rowWriter), stretches[0]!, from, to)
      return to >= ordinals.length
    }
    /** A packer begins a page once, however often the page comes back to its network. */
    const begun = new Map<NetworkRows<Row>, RowPacker>()
    /** Rows in front of the stretch. */
    let before = 0
    for (const stretch of stretches) {
      const { ordinals, list } = stretch
      if (before < to && before + ordinals.length > from) {
        let packer = begun.get(list)
        if (packer === undefined) {
          packer = list.packer(output.rowWriter)
          begun.set(list, packer)
        }
        this.#writeStretch(output, packer, stretch, Math.max(0, from - before), to - before)
      }
      before += ordinals.length
    }
    return to >= before
  }

  #writeStretch(
    output: RowOutput<Row>,
    packer: RowPacker,
    { ordinals, list }: RowStretch<Row>,
    from: number,
    to: number,
  ): void {
    const { arena } = packer
    const end = Math.min(to, ordinals.length)
    arena.begin(this.template, packer.places, output)
    for (let at = from; at < end; at++) {
      const ordinal = ordinals[at]!
      if (packer.pack(ordinal)) continue
      arena.flush()
      output.writeAlone(list.makeRow(ordinal))
    }
    arena.end()
  }
}
