import { asDepositCount, asNetworkId } from '../../../protocol/units.js'
import { type Failure, success } from '../../../query/answers.js'
import type { BridgesQuery, ClaimProofQuery } from '../../../query/queries.js'
import { errorTable } from '../../errorTable.js'
import type { QueryParser } from '../../parse/parseQuery.js'
import { type Dialect, endpoint, type Refusal } from '../frame/dialect.js'
import { type GoParameters, goJson, goParser, mandatory, WantedNames } from '../frame/goParameters.js'
import { lacksRow } from '../frame/lists.js'
import { chosenProofPresenter, depositPresenter, depositRow } from '../zkevm/zkevmSpelling.js'

/** The proof API that lxly.js and agglayer-viem ask: two endpoints, with the answers of zkevm-bridge-service. */

const NOT_TRACKED = "Network id doesn't exist or not being tracked"

/** Each parameter under the names that one of the clients, or one of the endpoints, has for it. */
const NETWORK = ['networkId', 'net_id', 'network_id', 'netId'] as const
const COUNT = ['depositCount', 'deposit_cnt', 'deposit_count', 'depositCnt'] as const

const NAMES = new WantedNames([...NETWORK, ...COUNT])

function given(parameters: GoParameters, names: readonly [string, ...string[]]) {
  return mandatory(parameters, names.find((name) => parameters.has(name)) ?? names[0])
}

function proofParser(servedNetworks: ReadonlySet<number>): QueryParser<ClaimProofQuery> {
  return goParser(
    servedNetworks,
    NAMES,
    (parameters) => {
      const networkId = given(parameters, NETWORK)
      if (!networkId.ok) return networkId
      const depositCount = given(parameters, COUNT)
      if (!depositCount.ok) return depositCount
      return success({
        networkId: asNetworkId(networkId.value),
        depositCount: asDepositCount(depositCount.value),
      })
    },
    () => NOT_TRACKED,
  )
}

function bridgeParser(servedNetworks: ReadonlySet<number>): QueryParser<BridgesQuery> {
  const parse = proofParser(servedNetworks)
  return (raw) => {
    const parsed = parse(raw)
    if (!parsed.ok) return parsed
    const { key, query } = parsed.value
    const { networkId, depositCount } = query
    return success({ key, query: { networkId, pageNumber: 1, pageSize: 1, depositCounts: [depositCount] } })
  }
}

/** What clients look for in `error`. */
function errorOf({ code, lacking }: Failure): string {
  if (code === 'BRIDGE_NOT_FOUND') return 'deposit_not_synced'
  if (code === 'PROOF_NOT_AVAILABLE')
    return lacking === 'destination' ? 'destination_not_supported' : 'root_not_synced'
  return code.toLowerCase()
}

function refuse(failed: Failure): Refusal {
  const { code, message } = failed
  return {
    status: errorTable[code].status,
    body: goJson({ error: errorOf(failed), message }),
    contentType: 'application/json; charset=utf-8',
  }
}

export const proofDialect: Dialect = {
  endpoints: [
    endpoint({
      label: 'proof.merkleProof',
      path: '/merkle-proof',
      operation: 'getClaimProof',
      createParser: proofParser,
      form: { presenter: chosenProofPresenter, refuse },
    }),
    endpoint({
      label: 'proof.bridge',
      path: '/bridge',
      operation: 'getBridges',
      createParser: bridgeParser,
      form: { rows: depositRow, presenter: depositPresenter, lacks: lacksRow, refuse },
    }),
  ],
  probes: [],
  redirects: [],
  refuse,
}
