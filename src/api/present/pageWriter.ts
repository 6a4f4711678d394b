import type { RowOutput, RowWriter } from '../../query/packedRows.js'
import { type Page, paginationDefinition } from '../../query/records.js'
import { type RowTemplate, templateOf } from '../../query/rowTemplate.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import { recordWriter, type WriteValue } from './recordWriter.js'

const COMMA = asciiBytes(',')
const PAGINATION = asciiBytes('],"pagination":')
const END = asciiBytes('}')

const writePagination = recordWriter(templateOf(paginationDefinition))

/** The end of a page in our own API. */
const writePaginationEnd: WriteValue<Page<unknown>> = (writer, page) => {
  writer.raw(PAGINATION)
  writePagination(writer, page)
  writer.raw(END)
}

export interface PageWriter<Row> {
  readonly write: WriteValue<Page<Row>>
  /**
   * Writes rows `from` to `to` − 1, before the first one the opening of the page, behind the last one its end.
   * @returns whether the page is whole.
   */
  writePart(writer: JsonWriter, page: Page<Row>, from: number, to: number): boolean
  /** Whether the page need not be written to know that it is not too long. */
  isShort(writer: JsonWriter, page: Page<Row>): boolean
}

/**
 * Writes pages, their rows by the template that each page has.
 * @param start JSON in front of the first row, such as `{"bridges":[`.
 * @param rowWriterOf makes what writes one row from its record.
 * @param writeEnd writes what follows the last row, from the bracket on: in our own API `],"pagination":{…}}`.
 */
export function pageWriter<Row extends object>(
  start: string,
  rowWriterOf: (template: RowTemplate) => WriteValue<Row> = (template) => recordWriter<Row>(template),
  writeEnd: WriteValue<Page<Row>> = writePaginationEnd,
): PageWriter<Row> {
  const opening = asciiBytes(start)
  /** There are as many templates as dialects. */
  const made = new Map<RowTemplate, WriteValue<Row>>()

  function writePart(writer: JsonWriter, page: Page<Row>, from: number, to: number): boolean {
    let writeRow = made.get(page.template)
    if (writeRow === undefined) {
      writeRow = rowWriterOf(page.template)
      made.set(page.template, writeRow)
    }
    if (from === 0) writer.raw(opening)
    const isWhole =
      page.writeRows !== undefined && writer.rowWriter !== undefined
        ? page.writeRows(new PageRows(writer, writer.rowWriter, writeRow, from === 0), from, to)
        : writeRecords(writer, page.rows, writeRow, from, to)
    if (!isWhole) return false
    writeEnd(writer, page)
    return true
  }

  return {
    write: (writer, page) => void writePart(writer, page, 0, Number.POSITIVE_INFINITY),
    writePart,
    // Of those without the question all rows are short.
    isShort: ({ rowWriter }, page) =>
      page.hasShortRows === undefined || (rowWriter !== undefined && page.hasShortRows(rowWriter)),
  }
}

/** @returns whether these were the last rows. */
function writeRecords<Row>(
  writer: JsonWriter,
  rows: readonly Row[],
  writeRow: WriteValue<Row>,
  from: number,
  to: number,
): boolean {
  const end = Math.min(to, rows.length)
  for (let at = from; at < end; at++) {
    if (at > 0) writer.raw(COMMA)
    writeRow(writer, rows[at]!)
  }
  return end === rows.length
}

/** The rows of one page, or of a part of it, put into the answer one after another. */
class PageRows<Row> implements RowOutput<Row> {
  readonly rowWriter: RowWriter
  readonly #writer: JsonWriter
  readonly #writeRow: WriteValue<Row>
  /** Where the page's first row begins; in a later part of the page, where no row begins. */
  readonly #begin: number

  constructor(writer: JsonWriter, rowWriter: RowWriter, writeRow: WriteValue<Row>, isFirst: boolean) {
    this.rowWriter = rowWriter
    this.#writer = writer
    this.#writeRow = writeRow
    this.#begin = isFirst ? writer.length : -1
  }

  append(rows: Uint8Array): void {
    this.#comma()
    this.#writer.append(rows)
  }

  writeAlone(row: Row): void {
    this.#comma()
    this.#writeRow(this.#writer, row)
  }

  #comma(): void {
    if (this.#writer.length > this.#begin) this.#writer.raw(COMMA)
  }
}
