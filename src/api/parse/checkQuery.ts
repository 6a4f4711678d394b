import { isUint256Text } from '../../protocol/uint256.js'
import { type Cursor, decodeCursor } from '../../query/cursor.js'

const UINT32_MAX = 0xffff_ffff

/** The parameters that the query string had, under their wire names, without defaults. */
type Given = Readonly<Record<string, unknown>>

// Rules that a schema can't say. Each check returns what is wrong, or undefined.

export function checkBridgesQuery(given: Given): string | undefined {
  return checkRange(given, 'from_block', 'to_block') ?? checkRange(given, 'from_timestamp', 'to_timestamp')
}

export function checkClaimsQuery({ global_index: index }: Given): string | undefined {
  return checkUint256('global_index', index)
}

export function checkBridgeStatusQuery(given: Given): string | undefined {
  const { network_id: network, deposit_count: count, global_index: index, tx_hash: hash } = given
  const named = [count, index, hash].filter((value) => value !== undefined).length
  if (named !== 1) return 'exactly one of deposit_count, global_index and tx_hash is needed'
  if (count !== undefined && network === undefined) return 'network_id is required with deposit_count'
  if (index !== undefined && network !== undefined) return 'network_id and global_index exclude each other'
  return checkUint256('global_index', index)
}

export function checkSearchQuery({ q }: Given): string | undefined {
  if (typeof q !== 'string' || !q.includes(':')) return checkUint256('q', q)
  return q.split(':').some((number) => Number(number) > UINT32_MAX)
    ? `q ${q} has a number that exceeds ${UINT32_MAX}`
    : undefined
}

export function checkEventsQuery({
  origin_network: network,
  deposit_count: count,
}: Given): string | undefined {
  return (network === undefined) === (count === undefined)
    ? undefined
    : 'origin_network and deposit_count name a bridge together'
}

/** @param value text of an integer, decimal or hexadecimal; anything else is none of this check's business. */
function checkUint256(name: string, value: unknown): string | undefined {
  return typeof value === 'string' && !isUint256Text(value) ? `${name} ${value} exceeds 2^256 - 1` : undefined
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
