import { isWholeMetadata, type MetadataDigest } from '../../protocol/metadata.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import type { PackedRows, RowWriter } from '../../query/packedRows.js'
import type { Page } from '../../query/records.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'
import { rowFields, type WireNames } from './rowFields.js'

/** The bytes `,"name":` (the first field of an object has `{` in front instead). */
export function key(name: string): Uint8Array {
  return asciiBytes(`,"${name}":`)
}

export function firstKey(name: string): Uint8Array {
  return asciiBytes(`{"${name}":`)
}

const COMMA = asciiBytes(',')
export const END_OBJECT = asciiBytes('}')
export const END_ARRAY = asciiBytes(']')

const PAGINATION = asciiBytes('],"pagination":{"page":')
const LIMIT = key('limit')
const TOTAL = key('total')
const NEXT_CURSOR = key('next_cursor')
const END_PAGE = asciiBytes('}}')

/** `{"<name>":[rows],"pagination":{…}}`; `opening` is `{"<name>":[`. */
export function writePage<Row>(
  writer: JsonWriter,
  opening: Uint8Array,
  page: Page<Row>,
  writeRow: (writer: JsonWriter, row: Row) => void,
): void {
  writer.raw(opening)
  for (let index = 0; index < page.rows.length; index++) {
    if (index > 0) writer.raw(COMMA)
    writeRow(writer, page.rows[index]!)
  }
  writePagination(writer, page)
}

/** The same, from the rows' stored bytes. @param names fields in the order of the wire. */
export function writePackedPage<Row>(
  writer: JsonWriter,
  rowWriter: RowWriter,
  opening: Uint8Array,
  page: Page<Row>,
  packed: PackedRows<Row>,
  names: WireNames,
  writeRow: (writer: JsonWriter, row: Row) => void,
): void {
  writer.raw(opening)
  const begin = writer.length
  const comma = (): void => {
    if (writer.length > begin) writer.raw(COMMA)
  }
  rowWriter.use(rowFields(names, packed.sources))
  packed.writeTo(
    rowWriter,
    (text) => {
      comma()
      writer.append(text)
    },
    (row) => {
      comma()
      writeRow(writer, row)
    },
  )
  writePagination(writer, page)
}

const METADATA = key('metadata')
const METADATA_LENGTH = key('metadata_length')
const METADATA_HASH = key('metadata_hash')

export function writeMetadata(writer: JsonWriter, metadata: Uint8Array | MetadataDigest): void {
  writer.raw(METADATA)
  if (isWholeMetadata(metadata)) {
    writer.hex(metadata)
    return
  }
  writer.null()
  writer.raw(METADATA_LENGTH)
  writer.uint(metadata.length)
  writer.raw(METADATA_HASH)
  writer.hex(metadata.hash)
}

function writePagination(writer: JsonWriter, page: Page<unknown>): void {
  writer.raw(PAGINATION)
  writer.uint(page.page)
  writer.raw(LIMIT)
  writer.uint(page.limit)
  writer.raw(TOTAL)
  writer.uint(page.total)
  writer.raw(NEXT_CURSOR)
  writer.textOrNull(page.nextCursor)
  writer.raw(END_PAGE)
}

const globalIndex = new Uint8Array(32)
const globalIndexView = new DataView(globalIndex.buffer)

/**
 * Canonical global index: mainnet flag · 2^64 + rollup index · 2^32 + deposit count.
 * @returns 32 bytes, overwritten by the next call.
 */
export function canonicalGlobalIndex(sourceNetwork: NetworkId, depositCount: DepositCount): Uint8Array {
  const isMainnet = sourceNetwork === 0
  globalIndex[23] = isMainnet ? 1 : 0
  globalIndexView.setUint32(24, isMainnet ? 0 : sourceNetwork - 1)
  globalIndexView.setUint32(28, depositCount)
  return globalIndex
}
