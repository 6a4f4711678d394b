/** Rows that are made when somebody reads them: a page that is written from its stored bytes makes none. */
export class LazyRows<Row> {
  readonly #length: number
  readonly #make: (row: number) => Row
  #rows: readonly Row[] | undefined

  constructor(length: number, make: (row: number) => Row) {
    this.#length = length
    this.#make = make
  }

  get all(): readonly Row[] {
    this.#rows ??= Array.from({ length: this.#length }, (_, row) => this.#make(row))
    return this.#rows
  }
}
