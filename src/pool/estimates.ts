import { type Route, routes } from '../api/routes.js'
import type { NamedQuery } from './queryCodec.js'

/** An answer estimated above this goes alone, in the lane for large ones. */
const LARGE_BYTES = 256 * 1024
/** More work is a page: this is a record, a proof, also a compressed one, or a few rows. */
const POINT_WORK = 32 * 1024
/** A page that is compressed takes three to four times the time of one that is not. */
const CODING_FACTOR = 4
/** Rows that lie anywhere are read one by one. */
const SCATTERED_FACTOR = 2

/** Fields of a query that say only where in a list it begins and ends. Any other one picks rows. */
const PAGING: ReadonlySet<string> = new Set(['networkId', 'pageNumber', 'pageSize', 'isAscending', 'cursor'])

/** Upper estimate of the answer's bytes. */
export function estimateBytes({ operation, query }: Pick<NamedQuery, 'operation' | 'query'>): number {
  // `query` is this operation's: TypeScript does not connect the two.
  const route: Pick<Route<never>, 'estimateBytes'> = routes[operation]
  return route.estimateBytes(query as never)
}

/**
 * Upper estimate of the processor time that an answer takes, as bytes of a plain page that takes as long: a row has some 1,000 and takes
 * a microsecond.
 * @param bytes what `estimateBytes` says.
 */
export function estimateWork(named: NamedQuery, bytes: number): number {
  const coded = named.coding === 'identity' || named.isBodiless === true ? bytes : CODING_FACTOR * bytes
  return 'rows' in routes[named.operation] && isScattered(named) ? SCATTERED_FACTOR * coded : coded
}

export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES
}

export function isPoint(work: number): boolean {
  return work <= POINT_WORK
}

function isScattered({ query }: NamedQuery): boolean {
  for (const name in query) if (!PAGING.has(name)) return true
  return false
}
