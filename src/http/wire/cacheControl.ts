import type { AnswerLife } from '../../api/present/present.js'
import { operationIds, routes } from '../../api/routes.js'
import type { OperationId } from '../../query/queries.js'

/** For errors and for answers about this moment, such as health: no cache on the way may keep them. */
export const NO_STORE = 'no-store'
/** For documents, which change only with a release. */
export const ONE_HOUR = 'public, max-age=3600'

/**
 * For answers from final data: only a reorg of final blocks could change them, and the service does not follow one. And for files whose name
 * holds a digest of them.
 */
export const IMMUTABLE = 'public, max-age=31536000, immutable'
/** For data that may change with the next commit: caches keep it, but ask before each use. */
export const REVALIDATE = 'no-cache'
/** For lists: one may be a block behind, and is refreshed by the next request. */
const LIST = 'public, max-age=2, stale-while-revalidate=10'
/** For what is not there yet and may come with the next block: kept just long enough to absorb a rush of requests. */
const MISSING = 'public, max-age=1'

/** `Cache-Control` of a data endpoint's answer. */
export function cacheControlOf(operation: OperationId, status: number, life: AnswerLife | undefined): string {
  if (status === 404) return MISSING
  if (status !== 200) return NO_STORE
  if (life === 'epoch') return IMMUTABLE
  return lists.has(operation) ? LIST : REVALIDATE
}

/** The same where the answer tells of the client that asked: a cache that serves many may not keep it, not even to ask before each use. */
export function ofOneClient(cacheControl: string): string {
  return cacheControl === REVALIDATE ? `private, ${REVALIDATE}` : cacheControl
}

/** Whether a cache that serves many clients may keep the answer without asking. */
export function isForSharedCaches(cacheControl: string): boolean {
  return cacheControl.startsWith('public')
}

/** Whether an operation answers a page of a list. */
export function isList(operation: OperationId): boolean {
  return lists.has(operation)
}

const lists: ReadonlySet<OperationId> = new Set(
  operationIds.filter((operation) => 'page_size' in routes[operation].parameters.properties),
)
