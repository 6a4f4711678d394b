import type { PackedRows } from '../../query/packedRows.js'
import type { Page } from '../../query/records.js'
import type { OrdinalPage } from './pageOf.js'

/**
 * A page whose rows are made when somebody reads them: one that is written from its stored bytes makes none. A class, because
 * an object literal with a getter has a shape of its own each time: 3 µs of 10 that a single row took, a third of it for the
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
