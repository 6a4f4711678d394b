import type { Failure } from '../../../query/answers.js'
import type { ClaimProofQuery } from '../../../query/queries.js'
import { errorTable } from '../../errorTable.js'
import { proofNotYet } from '../aggkit/aggkitRefusals.js'
import { type Dialect, endpoint, type Refusal } from '../frame/dialect.js'
import {
  claimProofParser,
  NO_TRANSACTION,
  tokenMappingsParser,
  tokenParser,
  transactionParser,
  transactionsParser,
} from './hubParameters.js'
import {
  hubProofPresenter,
  mappingRow,
  mappingsPresenter,
  transactionPresenter,
  transactionRow,
  transactionsPresenter,
} from './hubSpelling.js'

/** Names of the classes that errors are of. */
function nameOf(code: number): string {
  if (code >= 500) return 'InternalServerError'
  return code === 404 ? 'NotFoundError' : 'ValidationError'
}

function refusal(code: number, message: string): Refusal {
  return {
    status: code,
    body: JSON.stringify({
      status: 'error',
      message,
      name: nameOf(code),
      code,
      details: {},
    }),
    contentType: 'application/json; charset=utf-8',
  }
}

function refuse({ code, message }: Failure): Refusal {
  return refusal(code === 'INVALID_NETWORK_ID' ? 404 : errorTable[code].status, message)
}

function refuseProof(failed: Failure, query: ClaimProofQuery): Refusal {
  const { code } = failed
  if (code !== 'BRIDGE_NOT_FOUND' && code !== 'PROOF_NOT_AVAILABLE') return refuse(failed)
  if (query.leafIndex !== undefined) return refusal(404, proofNotYet(failed, query))
  return code === 'BRIDGE_NOT_FOUND'
    ? refusal(404, NO_TRANSACTION)
    : refusal(400, 'Transaction not ready to claim')
}

/** The API of Bridge Hub, of one environment. */
export const hubDialect: Dialect = {
  endpoints: [
    endpoint({
      label: 'hub.transactions',
      path: '/transactions',
      operation: 'getBridges',
      createParser: transactionsParser,
      form: { rows: transactionRow, presenter: transactionsPresenter, refuse },
    }),
    endpoint({
      label: 'hub.transaction',
      path: '/transactions/{sourceNetworkId}/{depositCount}',
      operation: 'getBridges',
      createParser: transactionParser,
      form: { rows: transactionRow, presenter: transactionPresenter, refuse },
    }),
    endpoint({
      label: 'hub.tokenMappings',
      path: '/token-mappings',
      operation: 'getTokenMappings',
      createParser: tokenMappingsParser,
      form: { rows: mappingRow, presenter: mappingsPresenter, refuse },
    }),
    endpoint({
      label: 'hub.tokenMapping',
      path: '/token-mappings/{tokenNetwork}/{tokenAddress}',
      operation: 'getTokenMappings',
      createParser: tokenParser,
      form: { rows: mappingRow, presenter: mappingsPresenter, refuse },
    }),
    endpoint({
      label: 'hub.claimProof',
      path: '/claim-proof',
      operation: 'getClaimProof',
      createParser: claimProofParser,
      form: { presenter: hubProofPresenter, refuse: refuseProof },
    }),
  ],
  probes: [],
  redirects: [],
  refuse,
}
