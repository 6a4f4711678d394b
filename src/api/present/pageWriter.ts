import type { RowOutput, RowWriter } from '../../query/packedRows.js'
import { type Page, paginationDefinition } from '../../query/records.js'
import { type RowTemplate, templateOf } from '../../query/rowTemplate.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import { recordWriter, type WriteValue } from './recordWriter.js'

const COMMA = asciiBytes(',')
const PAGINATION = asciiBytes('],"pagination":')
const END = asciiBytes('}')

const writePagination = recordWriter(templateOf(paginationDefinition))

/**
 * Writes pages: `{"<name>":[rows],"pagination":{…}}`, their rows by the template that each page has.
 * @param rowWriterOf makes what writes one row from its record.
 */
export function pageWriter<Row extends object>(
  name: string,
  rowWriterOf: (template: RowTemplate) => WriteValue<Row>,
): WriteValue<Page<Row>> {
  const opening = asciiBytes(`{"${name}":[`)
  /** There are as many templates as dialects. */
  const made = new Map<RowTemplate, WriteValue<Row>>()
  return (writer, page) => {
    let writeRow = made.get(page.template)
    if (writeRow === undefined) {
      writeRow = rowWriterOf(page.template)
      made.set(page.template, writeRow)
    }
    writer.raw(opening)
    if (page.writeRows !== undefined && writer.rowWriter !== undefined)
      page.writeRows(new PageRows(writer, writer.rowWriter, writeRow))
    else writeRecords(writer, page.rows, writeRow)
    writer.raw(PAGINATION)
    writePagination(writer, page)
    writer.raw(END)
  }
}

function writeRecords<Row>(writer: JsonWriter, rows: readonly Row[], writeRow: WriteValue<Row>): void {
  for (let at = 0; at < rows.length; at++) {
    if (at > 0) writer.raw(COMMA)
    writeRow(writer, rows[at]!)
  }
}

/** The rows of one page, put into the answer one after another. */
class PageRows<Row> implements RowOutput<Row> {
  readonly rowWriter: RowWriter
  readonly #writer: JsonWriter
  readonly #writeRow: WriteValue<Row>
  readonly #begin: number

  constructor(writer: JsonWriter, rowWriter: RowWriter, writeRow: WriteValue<Row>) {
    this.rowWriter = rowWriter
    this.#writer = writer
    this.#writeRow = writeRow
    this.#begin = writer.length
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
