import { type Route, routes } from '../api/routes.js'
import { LONGEST_EVENT_BYTES } from '../query/feed/feedRecords.js'
import type { BridgesQuery, FeedQuery, PoolOperation } from '../query/queries.js'
import type { NamedQuery } from './queryCodec.js'

/** An answer estimated above this goes alone, in the lane for large ones. */
const LARGE_BYTES = 256 * 1024
/** More work is a page: this is a record, a proof, also a compressed one, or a few rows. */
const POINT_WORK = 32 * 1024
/** A page that is compressed takes three to four times the time of one that is not. */
const CODING_FACTOR = 4
/** Rows that lie anywhere are read one by one. */
export const SCATTERED_FACTOR = 2
/** Work of a row that is only stepped over, as that of one of the page: its list is read, and its time. */
const WALKED_ROW_WORK = 1_000
/** Least work of a list for which a set of all rows of a network may have to be made first: a page's, however few rows are asked for. */
const SET_WORK = 2 * POINT_WORK

/** Fields of a query that say only where in a list it begins and ends. Any other one picks rows. */
const PAGING: ReadonlySet<string> = new Set([
  'networkId',
  'pageNumber',
  'pageSize',
  'skipped',
  'isAscending',
  'cursor',
])

/** What the pool must know of an operation. */
type PoolRoute = Pick<
  Route<never>,
  'rows' | 'walkedRows' | 'estimateBytes' | 'estimateWork' | 'entitledBytes'
>

const EVENT_BYTES = 1_100

const readFeed: PoolRoute = {
  estimateBytes: ({ limit }: FeedQuery) => limit * EVENT_BYTES,
  entitledBytes: ({ limit }: FeedQuery) => limit * LONGEST_EVENT_BYTES,
}

export function routeOf(operation: PoolOperation): PoolRoute {
  return operation === 'readFeed' ? readFeed : routes[operation]
}

/** Upper estimate of the answer's bytes. */
export function estimateBytes({ operation, query }: Pick<NamedQuery, 'operation' | 'query'>): number {
  // `query` is this operation's: TypeScript does not connect the two.
  return routeOf(operation).estimateBytes(query as never)
}

/**
 * Upper estimate of the processor time that an answer takes, as bytes of a plain page that takes as long: a row has some 1,000 and takes
 * a microsecond.
 * @param bytes what `estimateBytes` says.
 */
export function estimateWork(named: NamedQuery, bytes: number): number {
  const { operation, query, coding, isBodiless, isTagless } = named
  const route = routeOf(operation)
  // Only looked up, but among the pages.
  if (isTagless === true) return Math.max(SET_WORK, route.estimateWork?.(query as never) ?? 0)
  const coded = coding === 'identity' || isBodiless === true ? bytes : CODING_FACTOR * bytes
  const work = route.rows !== undefined && isScattered(named) ? SCATTERED_FACTOR * coded : coded
  // As in `estimateBytes`.
  const least = route.estimateWork?.(query as never) ?? (mayNeedSet(query) ? SET_WORK : 0)
  return Math.max(work, least) + WALKED_ROW_WORK * (route.walkedRows?.(query as never) ?? 0)
}

export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES
}

export function isPoint(work: number): boolean {
  return work <= POINT_WORK
}

/** Of one deposit the row itself is looked at. */
function mayNeedSet(query: Partial<BridgesQuery>): boolean {
  const { depositCounts, networkIds, leafType, claimed, readyForClaim } = query
  if (depositCounts?.length === 1) return false
  return (
    networkIds !== undefined || leafType !== undefined || claimed !== undefined || readyForClaim !== undefined
  )
}

/** Whether the rows of a list lie anywhere, not beside each other. */
export function isScattered({ query }: Pick<NamedQuery, 'query'>): boolean {
  for (const name in query) if (!PAGING.has(name)) return true
  return false
}
