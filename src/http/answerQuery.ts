import type { AnswerLife } from '../api/present.js'
import { failure } from '../errors/answers.js'
import type { QueryReply } from '../pool/messages.js'
import type { QueryPool } from '../pool/queryPool.js'
import type { PoolRequest } from '../pool/requestLanes.js'
import type { ShardVersion } from '../pool/shardVersion.js'
import type { OperationId, QueryByOperation } from '../protocol/queries.js'
import type { HttpMetrics } from '../telemetry/metrics.js'
import type { AnswerCache } from './cache.js'
import { JSON_TYPE } from './headers.js'
import type { QueryParsers } from './queryParsers.js'
import type { Exchange, Outgoing } from './respond.js'

/** Data that may change with the next commit: keep it, but ask before each use. */
const REVALIDATE = 'no-cache'
/** Final: no reorg that is followed changes it. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

const OVERLOAD_RETRY_SEC = 1

export interface QueryDesk {
  readonly parsers: QueryParsers
  readonly cache: AnswerCache
  readonly pool: Pick<QueryPool, 'submit'>
  readVersion(): ShardVersion
  readonly metrics: HttpMetrics
}

/** Text → query → cached answer, or a place in the pool's next batch, or a refusal. */
export function answerQuery(
  desk: QueryDesk,
  exchange: Exchange,
  operation: OperationId,
  rawQuery: string,
): void {
  const parsed = desk.parsers[operation](rawQuery)
  if (!parsed.ok) {
    exchange.refuse(parsed)
    return
  }
  const { query, key } = parsed.value
  const { cache } = desk
  const isCached = cache.isWorthwhile(operation)
  if (isCached) {
    const found = cache.find(operation, key, desk.readVersion())
    if (found !== undefined) {
      desk.metrics.cacheHit(operation)
      exchange.send(outgoing(found))
      return
    }
  }
  const pending = new PendingQuery(desk, exchange, operation, query, isCached ? key : undefined)
  if (desk.pool.submit(pending)) exchange.hold()
  else exchange.refuse(failure('SERVICE_UNAVAILABLE', 'too many requests are waiting', OVERLOAD_RETRY_SEC))
}

/** A query on its way through the pool. */
class PendingQuery implements PoolRequest {
  readonly operation: OperationId
  readonly query: QueryByOperation[OperationId]
  private readonly desk: QueryDesk
  private readonly exchange: Exchange
  private readonly cacheKey: string | undefined

  constructor(
    desk: QueryDesk,
    exchange: Exchange,
    operation: OperationId,
    query: QueryByOperation[OperationId],
    cacheKey: string | undefined,
  ) {
    this.desk = desk
    this.exchange = exchange
    this.operation = operation
    this.query = query
    this.cacheKey = cacheKey
  }

  settle(reply: QueryReply): void {
    if (reply.fault !== undefined) {
      this.exchange.fail(reply.fault)
      return
    }
    this.exchange.send(outgoing(reply))
    const { life } = reply
    if (this.cacheKey === undefined || life === undefined) return
    const answer = { status: reply.status, body: reply.body, retryAfterSec: reply.retryAfterSec, life }
    this.desk.cache.keep(this.operation, this.cacheKey, answer, reply.version, this.desk.readVersion())
  }
}

function outgoing(answer: {
  readonly status: number
  readonly body: Uint8Array
  readonly retryAfterSec: number
  readonly life: AnswerLife | undefined
}): Outgoing {
  return {
    status: answer.status,
    body: answer.body,
    contentType: JSON_TYPE,
    cacheControl: answer.life === 'epoch' ? IMMUTABLE : REVALIDATE,
    retryAfterSec: answer.retryAfterSec,
    headers: [],
  }
}
