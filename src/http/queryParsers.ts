import { createQueryParser, type QueryParser } from '../api/parseQuery.js'
import { routes } from '../api/routes.js'
import type { OperationId, QueryByOperation } from '../protocol/queries.js'

export type QueryParsers = { readonly [K in OperationId]: QueryParser<QueryByOperation[K]> }

/** One parser per data endpoint. */
export function createQueryParsers(servedNetworks: ReadonlySet<number>): QueryParsers {
  const { getBridges, getClaims, getClaimProof, getL1InfoTreeIndex, getTokenMappings, getClaimTransaction } =
    routes
  return {
    getBridges: createQueryParser(getBridges.parameters, getBridges.toQuery, servedNetworks),
    getClaims: createQueryParser(getClaims.parameters, getClaims.toQuery, servedNetworks),
    getClaimProof: createQueryParser(getClaimProof.parameters, getClaimProof.toQuery, servedNetworks),
    getL1InfoTreeIndex: createQueryParser(
      getL1InfoTreeIndex.parameters,
      getL1InfoTreeIndex.toQuery,
      servedNetworks,
    ),
    getTokenMappings: createQueryParser(
      getTokenMappings.parameters,
      getTokenMappings.toQuery,
      servedNetworks,
    ),
    getClaimTransaction: createQueryParser(
      getClaimTransaction.parameters,
      getClaimTransaction.toQuery,
      servedNetworks,
    ),
  }
}
