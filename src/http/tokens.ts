import { type Route, routes } from '../api/routes.js'
import { type ContentCoding, MIN_CODED_BYTES } from '../pool/contentCoding.js'
import type { OperationId, QueryByOperation } from '../query/queries.js'

/** What an answer costs that the front has at hand: an error, a probe, OPTIONS. */
export const SMALL_TOKENS = 0.1
/** A document lies in memory, but is long. A query that is malformed was parsed for nothing. */
export const USUAL_TOKENS = 1

const ROWS_PER_TOKEN = 100
/** Compressing an answer takes twice the time of making it. */
const CODED_FACTOR = 3

/** Tokens that a query takes from its client's bucket: about the CPU time of its answer, with that of a point query as 1. It is the same when the answer is kept. */
export function tokensOf<K extends OperationId>(
  operation: K,
  query: QueryByOperation[K],
  coding: ContentCoding,
): number {
  // TypeScript does not see that these take the query of this operation.
  const route = routes[operation] as unknown as Costs<QueryByOperation[K]>
  const tokens = route.cost + (route.mostRows?.(query) ?? 0) / ROWS_PER_TOKEN
  const isCoded = coding !== 'identity' && route.estimateBytes(query) >= MIN_CODED_BYTES
  return isCoded ? CODED_FACTOR * tokens : tokens
}

type Costs<Query> = Pick<Route<Query>, 'cost' | 'mostRows' | 'estimateBytes'>
