import type { AnswerLife } from '../../api/present/present.js'
import { operationIds, routes } from '../../api/routes.js'
import type { OperationId } from '../../query/queries.js'

/** Nothing that we fail at, and nothing that tells of this moment, is worth keeping by a cache on the way. */
export const NO_STORE = 'no-store'
/** Documents change with a release only. */
export const ONE_HOUR = 'public, max-age=3600'

/** Final: no reorg that is followed changes it. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
/** Data that may change with the next commit: keep it, but ask before each use. */
const REVALIDATE = 'no-cache'
/** A list a block behind is still a list; the next look refreshes it. */
const LIST = 'public, max-age=2, stale-while-revalidate=10'
/** What is not there yet comes with one of the next blocks: just enough to keep a stampede off. */
const MISSING = 'public, max-age=1'

/** `Cache-Control` of a data endpoint's answer. */
export function cacheControlOf(operation: OperationId, status: number, life: AnswerLife | undefined): string {
  if (status === 404) return MISSING
  if (status !== 200) return NO_STORE
  if (life === 'epoch') return IMMUTABLE
  return lists.has(operation) ? LIST : REVALIDATE
}

const lists: ReadonlySet<OperationId> = new Set(
  operationIds.filter((operation) => 'page_size' in routes[operation].parameters.properties),
)
