import { SERVED } from '../query/traffic.js'

/** An operation under load: the same question about other data each time. */
export interface BenchOperation {
  readonly name: string
  readonly kind: 'point' | 'page' | 'proof'
  /** Least rate as a share of the ceiling, without and with the front's cache; undefined = only reported. */
  readonly target?: { readonly uncached: number; readonly cached: number }
  /** Whether fastify with SQLite answers it too. */
  readonly hasRival: boolean
  path(at: number): string
  /** Checks that an answer is the one that was asked for. */
  isRight(at: number, body: Readonly<Record<string, unknown>>): boolean
}

const POINT = { uncached: 0.55, cached: 0.85 }
const CLAIMING_NETWORK = SERVED[1]
/** The newest deposits have no leaf yet that their destination accepts. */
const NEWEST = 1_000

/** @param deposits of network 0. @param claims of `CLAIMING_NETWORK`. */
export function benchOperations(deposits: number, claims: number, leaves: number): readonly BenchOperation[] {
  const depositAt = (at: number): number => (at * 7_919) % (deposits - NEWEST)
  const pages = Math.floor(deposits / 100)
  const claimPages = Math.max(1, Math.floor(claims / 100))
  const rowsOf = (list: unknown): readonly Readonly<Record<string, unknown>>[] =>
    list as readonly Readonly<Record<string, unknown>>[]
  return [
    {
      name: 'bridge by deposit count',
      kind: 'point',
      target: POINT,
      hasRival: true,
      path: (at) => `/bridge/v1/bridges?network_id=0&deposit_count=${depositAt(at)}`,
      isRight: (at, { bridges }) => rowsOf(bridges)[0]?.deposit_count === depositAt(at),
    },
    {
      name: 'l1-info-tree-index',
      kind: 'point',
      target: POINT,
      hasRival: false,
      path: (at) => `/bridge/v1/l1-info-tree-index?network_id=0&deposit_count=${depositAt(at)}`,
      isRight: (_, { l1_info_tree_index: index }) => typeof index === 'number' && index < leaves,
    },
    {
      name: 'claim-proof',
      kind: 'proof',
      target: { uncached: 0.3, cached: 0.75 },
      hasRival: true,
      path: (at) =>
        `/bridge/v1/claim-proof?network_id=0&deposit_count=${depositAt(at)}&leaf_index=${leaves - 1}`,
      isRight: (_, { proof }) =>
        Array.isArray((proof as { smtProofLocalExitRoot?: unknown }).smtProofLocalExitRoot),
    },
    {
      name: 'page of 100 bridges',
      kind: 'page',
      target: { uncached: 0.33, cached: 0.8 },
      hasRival: true,
      path: (at) => `/bridge/v1/bridges?network_id=0&page_size=100&page_number=${1 + ((at * 31) % pages)}`,
      isRight: (at, { bridges }) =>
        rowsOf(bridges).length === 100 &&
        rowsOf(bridges)[0]?.deposit_count === deposits - 1 - 100 * ((at * 31) % pages),
    },
    {
      name: 'page of 100 claims',
      kind: 'page',
      hasRival: true,
      path: (at) =>
        `/bridge/v1/claims?network_id=${CLAIMING_NETWORK}&page_size=100&page_number=${1 + ((at * 31) % claimPages)}`,
      isRight: (_, { claims: rows }) => rowsOf(rows).length === 100,
    },
  ]
}
