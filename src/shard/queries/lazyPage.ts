import type { PackedRows } from '../../query/packedRows.js'
import type { Page } from '../../query/records.js'
import type { OrdinalPage } from './pageOf.js'

/**
 * A page that makes its rows only when somebody reads them: a page that is written from stored bytes needs none. It is a class
 * because V8 gives each object literal with a getter a new shape, which took 3 of the 10 µs of a single row, a third of it in the
 * garbage collector (November 2026, Node 20).
 */
export class LazyPage<Row> implements Page<Row> {
  readonly page: number
  readonly limit: number
  readonly total: number
  readonly nextCursor: string | null
  readonly packed: PackedRows<Row>
  readonly #ordinals: readonly number[]
  readonly #make: (ordinal: number) => Row
  #rows: readonly Row[] | undefined

  constructor(page: OrdinalPage, packed: PackedRows<Row>, make: (ordinal: number) => Row) {
    this.page = page.page
    this.limit = page.limit
    this.total = page.total
    this.nextCursor = page.nextCursor
    this.packed = packed
    this.#ordinals = page.ordinals
    this.#make = make
  }

  get rows(): readonly Row[] {
    this.#rows ??= this.#ordinals.map(this.#make)
    return this.#rows
  }
}
