import type { Answer, Failure } from '../../../query/answers.js'
import type { SyncStatusRecord } from '../../../query/healthRecords.js'
import type { OperationId, PoolOperation, PoolQueries, QueryByOperation } from '../../../query/queries.js'
import type { RowTemplate } from '../../../query/rowTemplate.js'
import type { QueryParser } from '../../parse/parseQuery.js'
import type { Presenter, RecordByOperation } from '../../present/present.js'

/**
 * A dialect is the API of another service, spoken over our queries: a table of paths, parameters, row templates and errors. It asks
 * the same operations as our own API, through the same batches, cache and limits; only how it is asked and answered differs.
 */

/** How a dialect says no. */
export interface Refusal {
  readonly status: number
  readonly body: string
  readonly contentType: string
}

/** An endpoint that a query of ours answers. */
export interface DialectEndpoint<K extends OperationId = OperationId> {
  /** Label of metrics and lines of the log, and the name under which answers are kept. */
  readonly label: string
  /** Below the dialect's base path. Its last part, or its last two, may be `{name}`: what stands there is given to the parser in front of the query string, as a parameter of that name. */
  readonly path: string
  readonly operation: K
  /** @param servedNetworks ids of the networks that are indexed here. */
  createParser(servedNetworks: ReadonlySet<number>): QueryParser<QueryByOperation[K]>
  /** How an answer is spelled. */
  readonly form: DialectForm<K>
}

/** How the answers of an endpoint are spelled: all that a query thread must know of it. */
export interface DialectForm<K extends PoolOperation = OperationId> {
  /** Of a list: how its rows are spelled. */
  readonly rows?: RowTemplate
  readonly presenter: Presenter<RecordByOperation[K]>
  /** What makes a success of ours a refusal here. @returns undefined for a success. */
  lacks?(value: RecordByOperation[K], query: PoolQueries[K]): Failure | undefined
  refuse(failure: Failure, query: PoolQueries[K]): Refusal
}

/** What the front knows of the service without a query. */
export interface FrontFacts {
  syncStatus(): SyncStatusRecord
  readonly primaryNetwork: number
  unixMs(): number
}

/** An endpoint that the front answers by itself. */
export interface DialectProbe {
  readonly label: string
  readonly path: string
  /** @returns what is told as JSON, or why it can't be. */
  answer(facts: FrontFacts, rawQuery: string): Answer<object>
}

/** A path that leads to another one. */
export interface DialectRedirect {
  readonly label: string
  readonly path: string
  readonly to: string
}

export interface Dialect {
  readonly endpoints: readonly DialectEndpoint<never>[]
  readonly probes: readonly DialectProbe[]
  readonly redirects: readonly DialectRedirect[]
  /** Spells what is refused before a query is asked: malformed requests, limits, unknown paths, overload. */
  refuse(failure: Failure): Refusal
}

/** Keeps the types of an endpoint's query and answer together, where all endpoints stand in one list. */
export function endpoint<K extends OperationId>(one: DialectEndpoint<K>): DialectEndpoint<never> {
  // Each is only ever asked with queries that its own parser has made.
  return one as unknown as DialectEndpoint<never>
}
