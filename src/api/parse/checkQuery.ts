import { decodeCursor, filterHash } from '../../query/cursor.js'
import type {
  BridgesQuery,
  ClaimsQuery,
  OperationId,
  Paging,
  TokenMappingsQuery,
} from '../../query/queries.js'

/**
 * Rules between parameters, which no schema says.
 * @param given what was in the query string, under its wire names, without defaults.
 * @returns what is wrong, or undefined.
 */
type Given = Readonly<Record<string, unknown>>

export function checkBridges(query: BridgesQuery, given: Given): string | undefined {
  return (
    checkRange(given, 'from_block', 'to_block') ??
    checkRange(given, 'from_timestamp', 'to_timestamp') ??
    checkCursor('getBridges', query, given)
  )
}

export function checkClaims(query: ClaimsQuery, given: Given): string | undefined {
  const index = given.global_index
  if (typeof index === 'string' && BigInt(index) >= 2n ** 256n)
    return `global_index ${index} exceeds 2^256 - 1`
  return checkCursor('getClaims', query, given)
}

export function checkTokenMappings(query: TokenMappingsQuery, given: Given): string | undefined {
  return checkCursor('getTokenMappings', query, given)
}

function checkRange(given: Given, from: string, to: string): string | undefined {
  const first = given[from]
  const last = given[to]
  return typeof first === 'number' && typeof last === 'number' && first > last
    ? `${from} ${first} exceeds ${to} ${last}`
    : undefined
}

function checkCursor(operation: OperationId, query: Paging, given: Given): string | undefined {
  if (query.cursor === undefined) return undefined
  if (given.page_number !== undefined) return 'page_number and cursor exclude each other'
  const cursor = decodeCursor(query.cursor)
  if (cursor === undefined) return `cursor "${given.cursor}" is not a cursor that this service gave`
  const order = cursor.isAscending ? 'asc' : 'desc'
  if (given.order !== undefined && given.order !== order)
    return `order ${given.order} contradicts the cursor, which is of order ${order}`
  return cursor.filterHash === filterHash(operation, query)
    ? undefined
    : 'cursor is of a query with other filters: repeat them, or start again without it'
}
