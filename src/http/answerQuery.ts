import type { VersionNow } from '../board/shardVersion.js'
import type { QueryReply } from '../pool/batchMessages.js'
import type { ContentCoding } from '../pool/contentCoding.js'
import type { QueryPool } from '../pool/queryPool.js'
import type { PoolRequest } from '../pool/requestLanes.js'
import { failure } from '../query/answers.js'
import type { OperationId, QueryByOperation } from '../query/queries.js'
import type { HttpMetrics } from '../telemetry/metrics.js'
import type { AnswerCache, CachedAnswer } from './cache.js'
import type { QueryParsers } from './queryParsers.js'
import type { ReadyHeads } from './readyHeads.js'
import { cacheControlOf } from './wire/cacheControl.js'
import { entityTag } from './wire/etag.js'
import { contentLines, VARY_LINE } from './wire/headers.js'
import { type Exchange, type Outgoing, retryAfterLine } from './wire/respond.js'

const OVERLOAD_RETRY_SEC = 1

export interface QueryDesk {
  readonly parsers: QueryParsers
  readonly cache: AnswerCache
  readonly heads: ReadyHeads
  readonly pool: Pick<QueryPool, 'submit'>
  /** False where answers have one coding only. */
  readonly isCoding: boolean
  readVersion(): VersionNow
  readonly metrics: HttpMetrics
}

/** Cached answer, or text → query → a place in the pool's next batch, or a refusal. */
export function answerQuery(
  desk: QueryDesk,
  exchange: Exchange,
  operation: OperationId,
  rawQuery: string,
  coding: ContentCoding,
): void {
  const { cache } = desk
  const version = cache.isWorthwhile(operation) ? settledVersion(desk) : undefined
  if (version !== undefined) {
    // Before anything is parsed: most clients spell a query the same way each time.
    const found = cache.findSpelling(operation, rawQuery, coding, version)
    if (found !== undefined) {
      sendCached(desk, exchange, operation, found)
      return
    }
  }
  const parsed = desk.parsers[operation](rawQuery)
  if (!parsed.ok) {
    exchange.refuse(parsed)
    return
  }
  const { query } = parsed.value
  let key: string | undefined
  if (version !== undefined) {
    key = parsed.value.key
    const found = cache.find(operation, key, coding, version)
    if (found !== undefined) {
      cache.addSpelling(operation, rawQuery, coding, key)
      sendCached(desk, exchange, operation, found)
      return
    }
  }
  const pending = new PendingQuery(desk, exchange, operation, query, coding, key)
  if (desk.pool.submit(pending)) exchange.hold()
  else exchange.refuse(failure('SERVICE_UNAVAILABLE', 'too many requests are waiting', OVERLOAD_RETRY_SEC))
}

/** Undefined while a commit or a halt is under way: others may know of it already, and a kept answer would go back behind them. */
function settledVersion(desk: QueryDesk): VersionNow | undefined {
  const version = desk.readVersion()
  return version.isChanging ? undefined : version
}

function sendCached(desk: QueryDesk, exchange: Exchange, operation: OperationId, found: Outgoing): void {
  desk.metrics.cacheHit(operation)
  exchange.send(found)
}

/** A query on its way through the pool. */
class PendingQuery implements PoolRequest {
  readonly operation: OperationId
  readonly query: QueryByOperation[OperationId]
  readonly coding: ContentCoding
  private readonly desk: QueryDesk
  private readonly exchange: Exchange
  private readonly cacheKey: string | undefined

  constructor(
    desk: QueryDesk,
    exchange: Exchange,
    operation: OperationId,
    query: QueryByOperation[OperationId],
    coding: ContentCoding,
    cacheKey: string | undefined,
  ) {
    this.desk = desk
    this.exchange = exchange
    this.operation = operation
    this.query = query
    this.coding = coding
    this.cacheKey = cacheKey
  }

  settle(reply: QueryReply): void {
    if (reply.fault !== undefined) {
      this.exchange.fail(reply.fault)
      return
    }
    const { desk, exchange, operation, coding } = this
    if (reply.status === 200 && this.cacheKey === undefined && exchange.isPlain()) {
      const cacheControl = cacheControlOf(operation, 200, reply.life)
      exchange.sendReady(desk.heads.fill(cacheControl, reply.coding, reply.tag), reply.body)
      return
    }
    const answer = outgoing(operation, reply, desk.isCoding)
    exchange.send(answer)
    const { life } = reply
    if (this.cacheKey === undefined || life === undefined) return
    desk.cache.keep(operation, this.cacheKey, coding, { ...answer, life }, reply.version, desk.readVersion())
  }
}

function outgoing(operation: OperationId, reply: QueryReply, isCoding: boolean): Omit<CachedAnswer, 'life'> {
  const { status, body, coding, tag, life, retryAfterSec } = reply
  return {
    status,
    body,
    isLent: true,
    cacheControl: cacheControlOf(operation, status, life),
    lines: (isCoding ? VARY_LINE : '') + retryAfterLine(retryAfterSec),
    bodyLines: contentLines(coding),
    etag: tag.length === 0 ? '' : entityTag(String.fromCharCode(...tag), coding),
  }
}
