import { isUint256Text } from '../../protocol/uint256.js'
import { type Cursor, decodeCursor } from '../../query/cursor.js'

/** The parameters that the query string had, under their wire names, without defaults. */
type Given = Readonly<Record<string, unknown>>

// Rules that a schema can't say. Each check returns what is wrong, or undefined.

export function checkBridgesQuery(given: Given): string | undefined {
  return checkRange(given, 'from_block', 'to_block') ?? checkRange(given, 'from_timestamp', 'to_timestamp')
}

export function checkClaimsQuery({ global_index: index }: Given): string | undefined {
  return typeof index === 'string' && !isUint256Text(index)
    ? `global_index ${index} exceeds 2^256 - 1`
    : undefined
}

function checkRange(given: Given, from: string, to: string): string | undefined {
  const first = given[from]
  const last = given[to]
  return typeof first === 'number' && typeof last === 'number' && first > last
    ? `${from} ${first} exceeds ${to} ${last}`
    : undefined
}

/** Decodes the cursor of a query. @returns the cursor; or what is wrong with it, as text. */
export function readCursor(text: string, given: Given): Cursor | string {
  if (given.page_number !== undefined) return 'page_number and cursor exclude each other'
  const cursor = decodeCursor(Buffer.from(text, 'base64url'))
  if (cursor === undefined) return `cursor "${text}" is not a cursor that this service gave`
  const order = cursor.isAscending ? 'asc' : 'desc'
  return given.order !== undefined && given.order !== order
    ? `order ${given.order} contradicts the cursor, which is of order ${order}`
    : cursor
}
