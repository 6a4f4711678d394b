import { type Route, routes } from '../api/routes.js'
import { type ContentCoding, MIN_CODED_BYTES } from '../pool/contentCoding.js'
import { estimateBytes, estimateWork, isPoint, isScattered, SCATTERED_FACTOR } from '../pool/estimates.js'
import type { NamedQuery } from '../pool/queryCodec.js'
import type { OperationId } from '../query/queries.js'

/*
 * Tokens that a request takes from its client's bucket: about the processor time of its answer, with that of a point query as 1, by the
 * estimates that choose its lane. An answer costs the same when it is kept, and when the client has it already.
 */

/** What an answer costs that the front has at hand: an error, a probe, OPTIONS. */
export const SMALL_TOKENS = 0.1
/** A query that is malformed was parsed for nothing. */
export const USUAL_TOKENS = 1

const ROWS_PER_TOKEN = 100
/** The work of so many rows. */
const WORK_PER_TOKEN = 128 * 1024
/** Compressing an answer takes twice the time of making it, and more. */
const CODED_FACTOR = 3
/** Answers are at most so many times as long as they are compressed. */
const CODED_SHRINK = 8

type Asked = Pick<NamedQuery, 'query' | 'coding'> & { readonly operation: OperationId }

/**
 * What a request takes before it is answered.
 * @param networks how many are served.
 */
export function tokensOf({ operation, query, coding }: Asked, networks: number): number {
  const named: NamedQuery = { operation, query, coding: 'identity' }
  const bytes = estimateBytes(named)
  const factor = coding !== 'identity' && bytes >= MIN_CODED_BYTES ? CODED_FACTOR : 1
  const { cost, costPerNetwork = 0, mostRows, walkedRows } = costsOf(operation)
  const base = cost + costPerNetwork * networks
  if (mostRows !== undefined) {
    const rows = (isScattered(named) ? SCATTERED_FACTOR : 1) * mostRows(query as never)
    const walked = walkedRows?.(query as never) ?? 0
    return factor * (base + rows / ROWS_PER_TOKEN) + walked / ROWS_PER_TOKEN
  }
  const work = estimateWork(named, bytes)
  return factor * (isPoint(work) ? base : Math.max(base, 1 + work / WORK_PER_TOKEN))
}

/**
 * What an answer has cost: more than `tokensOf` where it is far longer than was to be expected, and less where the request could not tell
 * how little there is.
 */
export function tokensOfAnswer(
  asked: Asked,
  networks: number,
  { body, coding }: { readonly body: Uint8Array; readonly coding: ContentCoding },
): number {
  const expected = tokensOf(asked, networks)
  const [factor, shrink] = coding === 'identity' ? [1, 1] : [CODED_FACTOR, CODED_SHRINK]
  const bytes = shrink * body.length
  const { cost, holdsLess } = costsOf(asked.operation)
  if (holdsLess?.(asked.query as never) === true)
    return Math.min(expected, Math.max(factor * cost, expected * (bytes / estimateBytes(asked))))
  return Math.max(expected, bytes > WORK_PER_TOKEN ? factor * (1 + bytes / WORK_PER_TOKEN) : 0)
}

/** What a document costs, which lies in memory in each coding. */
export function tokensOfDocument(body: Uint8Array | string): number {
  return USUAL_TOKENS + Math.floor(body.length / WORK_PER_TOKEN)
}

type Costs = Pick<Route<never>, 'cost' | 'costPerNetwork' | 'mostRows' | 'walkedRows' | 'holdsLess'>

function costsOf(operation: Asked['operation']): Costs {
  return routes[operation]
}
