import type { FieldPlaces, RowOutput, RowWriter } from '../../query/packedRows.js'
import type { Page } from '../../query/records.js'
import type { RowTemplate } from '../../query/rowTemplate.js'
import type { RowArena } from './rowArena.js'

/** What the answer says of a page, and which rows it has, in the order of the answer. */
interface OrdinalPage extends Omit<Page<never>, 'rows' | 'template' | 'writeRows'> {
  readonly ordinals: readonly number[]
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
  readonly #ordinals: readonly number[]
  readonly #packer: (writer: RowWriter) => RowPacker
  readonly #makeRow: (ordinal: number) => Row
  #rows: readonly Row[] | undefined

  constructor(
    page: OrdinalPage,
    template: RowTemplate,
    packer: (writer: RowWriter) => RowPacker,
    makeRow: (ordinal: number) => Row,
  ) {
    this.page = page.page
    this.limit = page.limit
    this.total = page.total
    this.nextCursor = page.nextCursor
    this.template = template
    this.#ordinals = page.ordinals
    this.#packer = packer
    this.#makeRow = makeRow
  }

  get rows(): readonly Row[] {
    this.#rows ??= this.#ordinals.map(this.#makeRow)
    return this.#rows
  }

  writeRows(output: RowOutput<Row>, from: number, to: number): boolean {
    const packer = this.#packer(output.rowWriter)
    const { arena } = packer
    const end = Math.min(to, this.#ordinals.length)
    arena.begin(this.template, packer.places, output)
    for (let at = from; at < end; at++) {
      const ordinal = this.#ordinals[at]!
      if (packer.pack(ordinal)) continue
      arena.flush()
      output.writeAlone(this.#makeRow(ordinal))
    }
    arena.end()
    return end === this.#ordinals.length
  }
}
