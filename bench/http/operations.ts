/** An operation under load: the same question about other data each time. */
export interface BenchOperation {
  readonly name: string
  /** Least rate as a share of the ceiling, without and with the front's cache; undefined = only reported. */
  readonly target?: { readonly uncached: number; readonly cached: number }
  path(at: number): string
  /** Checks that an answer is the one that was asked for. */
  isRight(at: number, body: Readonly<Record<string, unknown>>): boolean
}

const POINT = { uncached: 0.55, cached: 0.85 }

/** @param deposits per network. @param leaves of the L1 info tree: the newest is usable everywhere but at its own layer 2. */
export function benchOperations(deposits: number, leaves: number): readonly BenchOperation[] {
  // The newest blocks' deposits are not claimable yet.
  const depositAt = (at: number): number => (at * 7_919) % Math.max(1, deposits - 3_000)
  const pages = Math.floor(deposits / 100)
  const rowsOf = (list: unknown): readonly Readonly<Record<string, unknown>>[] =>
    list as readonly Readonly<Record<string, unknown>>[]
  return [
    {
      name: 'bridge by deposit count',
      target: POINT,
      path: (at) => `/bridge/v1/bridges?network_id=1&deposit_count=${depositAt(at)}`,
      isRight: (at, { bridges }) => rowsOf(bridges)[0]?.deposit_count === depositAt(at),
    },
    {
      name: 'l1-info-tree-index',
      target: POINT,
      path: (at) => `/bridge/v1/l1-info-tree-index?network_id=1&deposit_count=${depositAt(at)}`,
      isRight: (_, { l1_info_tree_index: index }) => typeof index === 'number' && index < leaves,
    },
    {
      name: 'claim-proof',
      target: { uncached: 0.3, cached: 0.75 },
      path: (at) =>
        `/bridge/v1/claim-proof?network_id=1&deposit_count=${depositAt(at)}&leaf_index=${leaves - 1}`,
      isRight: (_, { proof }) =>
        Array.isArray((proof as { smtProofLocalExitRoot?: unknown }).smtProofLocalExitRoot),
    },
    {
      name: 'page of 100 bridges',
      target: { uncached: 0.33, cached: 0.8 },
      path: (at) => `/bridge/v1/bridges?network_id=1&page_size=100&page_number=${1 + ((at * 31) % pages)}`,
      isRight: (at, { bridges }) =>
        rowsOf(bridges).length === 100 &&
        rowsOf(bridges)[0]?.deposit_count === deposits - 1 - 100 * ((at * 31) % pages),
    },
    {
      name: 'page of 100 claims',
      path: (at) =>
        `/bridge/v1/claims?network_id=1&page_size=100&page_number=${1 + ((at * 31) % Math.max(1, Math.floor(pages / 2)))}`,
      isRight: (_, { claims }) => rowsOf(claims).length === 100,
    },
  ]
}
