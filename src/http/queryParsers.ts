import { createQueryParser, type QueryParser } from '../api/parse/parseQuery.js'
import { routes } from '../api/routes.js'
import type { OperationId, QueryByOperation } from '../query/queries.js'

export type QueryParsers = { readonly [K in OperationId]: QueryParser<QueryByOperation[K]> }

/** One parser per data endpoint. */
export function createQueryParsers(servedNetworks: ReadonlySet<number>): QueryParsers {
  return {
    getBridges: createQueryParser(routes.getBridges, servedNetworks),
    getClaims: createQueryParser(routes.getClaims, servedNetworks),
    getClaimProof: createQueryParser(routes.getClaimProof, servedNetworks),
    getL1InfoTreeIndex: createQueryParser(routes.getL1InfoTreeIndex, servedNetworks),
    getTokenMappings: createQueryParser(routes.getTokenMappings, servedNetworks),
    getClaimTransaction: createQueryParser(routes.getClaimTransaction, servedNetworks),
  }
}
