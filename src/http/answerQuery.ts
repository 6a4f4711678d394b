import { createQueryParser, type QueryParser } from '../api/parse/parseQuery.js'
import { routes } from '../api/routes.js'
import type { VersionNow } from '../board/version.js'
import type { QueryReply } from '../pool/batchMessages.js'
import type { ContentCoding } from '../pool/contentCoding.js'
import type { QueryPool } from '../pool/queryPool.js'
import type { PoolRequest } from '../pool/requestLanes.js'
import { failure } from '../query/answers.js'
import type { OperationId, QueryByOperation } from '../query/queries.js'
import type { HttpMetrics } from '../telemetry/frontCounts.js'
import type { AnswerCache } from './cache.js'
import type { CachedAnswer } from './packedAnswers.js'
import type { Payment } from './payment.js'
import type { ReadyHeads } from './readyHeads.js'
import { asksForSequence, refuseAlone, type Sequences } from './sequences.js'
import { tokensOf, tokensOfAnswer, USUAL_TOKENS } from './tokens.js'
import { cacheControlOf, isList } from './wire/cacheControl.js'
import { type Exchange, type Outgoing, retryAfterLine } from './wire/exchange.js'
import { contentLines, entityTag, positionLine, VARY_LINE } from './wire/headers.js'
import type { WireRequest } from './wire/wire.js'

type QueryParsers = { readonly [K in OperationId]: QueryParser<QueryByOperation[K]> }

/** One parser per data endpoint. */
export function createQueryParsers(servedNetworks: ReadonlySet<number>): QueryParsers {
  return {
    getBridges: createQueryParser(routes.getBridges, servedNetworks, 'getBridges'),
    getClaims: createQueryParser(routes.getClaims, servedNetworks, 'getClaims'),
    getClaimProof: createQueryParser(routes.getClaimProof, servedNetworks, 'getClaimProof'),
    getL1InfoTreeIndex: createQueryParser(routes.getL1InfoTreeIndex, servedNetworks, 'getL1InfoTreeIndex'),
    getInjectedL1InfoLeaf: createQueryParser(
      routes.getInjectedL1InfoLeaf,
      servedNetworks,
      'getInjectedL1InfoLeaf',
    ),
    getTokenMappings: createQueryParser(routes.getTokenMappings, servedNetworks, 'getTokenMappings'),
    getClaimTransaction: createQueryParser(routes.getClaimTransaction, servedNetworks, 'getClaimTransaction'),
    getBridgeStatus: createQueryParser(routes.getBridgeStatus, servedNetworks, 'getBridgeStatus'),
    getSearch: createQueryParser(routes.getSearch, servedNetworks, 'getSearch'),
  }
}

const OVERLOAD_RETRY_SEC = 1

/** What all queries of a server share. */
export interface QueryContext {
  readonly parsers: QueryParsers
  readonly cache: AnswerCache
  readonly heads: ReadyHeads
  readonly pool: Pick<QueryPool, 'submit'>
  /** How many networks are served. */
  readonly networks: number
  /** Whether answers may be compressed. */
  readonly mayCompress: boolean
  readVersion(): VersionNow
  /** Where the feeds are: what is read from now on is as new as that. */
  readPosition(): string
  readonly metrics: HttpMetrics
  /** Absent: this service is alone. */
  readonly sequences?: Sequences
}

/** An endpoint of a dialect. */
export interface SpokenEndpoint {
  /** The name that its answers are kept and counted under. */
  readonly label: string
  /** Place of its form in `dialectForms`. */
  readonly form: number
  readonly parse: QueryParser<QueryByOperation[OperationId]>
}

/**
 * Answers a query, which may first have to wait for what another instance of the cluster has shown already.
 * @param spoken the endpoint, where it is not our own API's.
 */
export function answerQuery(
  context: QueryContext,
  exchange: Exchange,
  operation: OperationId,
  rawQuery: string,
  coding: ContentCoding,
  request: WireRequest,
  payment?: Payment,
  spoken?: SpokenEndpoint,
): void {
  const { sequences } = context
  const asks = asksForSequence(rawQuery)
  if (sequences === undefined) {
    const refusal = asks ? refuseAlone(rawQuery) : undefined
    if (refusal === undefined) answerNow(context, exchange, operation, rawQuery, coding, payment, spoken)
    else if (payment === undefined || payment.take(USUAL_TOKENS)) exchange.refuse(refusal)
    return
  }
  // Waiting, or being refused for what it waits for, costs as much as a point.
  if (asks && payment !== undefined && !payment.take(USUAL_TOKENS)) return
  const answer = (): void => {
    const diverged = sequences.refusal()
    if (diverged !== undefined) {
      exchange.refuse(diverged)
      return
    }
    exchange.dataLine = sequences.blocksLine()
    answerNow(context, exchange, operation, rawQuery, coding, payment, spoken)
  }
  if (asks) sequences.whenStored(rawQuery, exchange, request, answer)
  else answer()
}

/** Answers from the cache, or parses the query and submits it to the pool, or refuses it. */
function answerNow(
  context: QueryContext,
  exchange: Exchange,
  operation: OperationId,
  rawQuery: string,
  coding: ContentCoding,
  payment?: Payment,
  spoken?: SpokenEndpoint,
): void {
  const { cache } = context
  const label = spoken?.label ?? operation
  const version = cache.isWorthwhile(label) ? unchangingVersion(context) : undefined
  if (version !== undefined) {
    // Before anything is parsed: most clients spell a query the same way each time.
    const found = cache.findSpelling(label, rawQuery, coding, version)
    if (found !== undefined) {
      if (payment === undefined || payment.take(found.tokens)) sendCached(context, exchange, label, found)
      return
    }
  }
  const parsed = (spoken?.parse ?? context.parsers[operation])(rawQuery)
  if (!parsed.ok) {
    if (payment === undefined || payment.take(USUAL_TOKENS)) exchange.refuse(parsed)
    return
  }
  const { query } = parsed.value
  if (payment !== undefined && !payment.take(tokensOf({ operation, query, coding }, context.networks))) return
  let key: string | undefined
  if (version !== undefined) {
    key = parsed.value.key
    const found = cache.find(label, key, coding, version)
    if (found !== undefined) {
      cache.addSpelling(label, rawQuery, coding, key)
      payment?.settle(found.tokens)
      sendCached(context, exchange, label, found)
      return
    }
  }
  // Whose answers are those of another service says nothing of our feeds.
  const position = spoken === undefined && isList(operation) ? context.readPosition() : ''
  const pending = new PendingQuery(
    context,
    exchange,
    operation,
    query,
    coding,
    key,
    payment,
    spoken,
    position,
  )
  if (context.pool.submit(pending)) exchange.hold()
  else exchange.refuse(failure('SERVICE_UNAVAILABLE', 'too many requests are waiting', OVERLOAD_RETRY_SEC))
}

/**
 * The version to look in the cache with. Undefined while a commit or a halt is being published: a client may have seen the new
 * state already, and a kept answer would show it the old one again.
 */
function unchangingVersion(context: QueryContext): VersionNow | undefined {
  const version = context.readVersion()
  return version.isChanging ? undefined : version
}

function sendCached(context: QueryContext, exchange: Exchange, label: string, found: Outgoing): void {
  context.metrics.cacheHit(label)
  exchange.send(found)
}

/** A query on its way through the pool. */
class PendingQuery implements PoolRequest {
  readonly operation: OperationId
  readonly query: QueryByOperation[OperationId]
  readonly coding: ContentCoding
  readonly form: number | undefined
  readonly isBodiless: boolean
  readonly isTagless: boolean
  private readonly label: string
  private readonly context: QueryContext
  private readonly exchange: Exchange
  private readonly cacheKey: string | undefined
  private readonly payment: Payment | undefined
  /** '' where the answer does not tell it. */
  private readonly position: string

  constructor(
    context: QueryContext,
    exchange: Exchange,
    operation: OperationId,
    query: QueryByOperation[OperationId],
    coding: ContentCoding,
    cacheKey: string | undefined,
    payment: Payment | undefined,
    spoken: SpokenEndpoint | undefined,
    position: string,
  ) {
    this.context = context
    this.exchange = exchange
    this.operation = operation
    this.query = query
    this.coding = coding
    this.form = spoken?.form
    this.label = spoken?.label ?? operation
    this.isTagless = isList(operation) && exchange.needsNoTag()
    this.isBodiless = this.isTagless || exchange.needsNoBody(coding)
    this.cacheKey = this.isBodiless ? undefined : cacheKey
    this.payment = payment
    this.position = position
  }

  isWanted(): boolean {
    return this.exchange.isWaiting
  }

  deliver(reply: QueryReply): void {
    if (reply.fault !== undefined) {
      this.exchange.fail(reply.fault)
      return
    }
    const { context, exchange, operation } = this
    // What is not rendered was looked up.
    if (!this.isBodiless) this.payment?.settle(this.tokensOf(reply))
    if (reply.status === 200 && this.cacheKey === undefined) {
      const cacheControl = cacheControlOf(operation, 200, reply.life)
      if (exchange.isPlain(cacheControl)) {
        exchange.sendReady(
          context.heads.fill(cacheControl, reply.coding, reply.tag, this.position),
          reply.body,
        )
        return
      }
    }
    const answer = outgoing(operation, reply, context.mayCompress, this.isBodiless, this.position)
    let kept: Outgoing | undefined
    try {
      kept = this.keep(answer, reply)
    } finally {
      // Also where there is no memory to keep it.
      exchange.send(kept ?? answer)
    }
  }

  private keep(answer: Outgoing & Pick<CachedAnswer, 'body'>, reply: QueryReply): Outgoing | undefined {
    const { context, label, coding, cacheKey } = this
    const { life, version } = reply
    if (cacheKey === undefined || life === undefined) return undefined
    const kept = { ...answer, life, tokens: this.tokensOf(reply) }
    return context.cache.keep(label, cacheKey, coding, kept, version, context.readVersion())
  }

  private tokensOf(reply: QueryReply): number {
    return tokensOfAnswer(this, this.context.networks, reply)
  }
}

function outgoing(
  operation: OperationId,
  reply: QueryReply,
  mayCompress: boolean,
  isBodiless: boolean,
  position: string,
): Omit<CachedAnswer, 'life' | 'tokens'> {
  const { status, body, coding, tag, life, retryAfterSec } = reply
  return {
    status,
    body,
    isLent: true,
    isBodiless: isBodiless && status === 200,
    cacheControl: cacheControlOf(operation, status, life),
    lines: (mayCompress ? VARY_LINE : '') + positionLine(position) + retryAfterLine(retryAfterSec),
    bodyLines: contentLines(coding),
    etag: tag.length === 0 ? '' : entityTag(String.fromCharCode(...tag), coding),
  }
}
