import { type Answer, type Failure, success } from '../../../query/answers.js'
import type { BridgesQuery, ClaimProofQuery } from '../../../query/queries.js'
import { errorTable } from '../../errorTable.js'
import { type Dialect, endpoint, type Refusal } from '../frame/dialect.js'
import {
  type DepositKey,
  depositKey,
  type GoParameters,
  goJson,
  goParsers,
  mandatory,
  onlyBridge,
  WantedNames,
} from '../frame/goParameters.js'
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

const parser = goParsers(NAMES, () => NOT_TRACKED)

const readDeposit = (parameters: GoParameters): Answer<DepositKey> =>
  depositKey(given(parameters, NETWORK), given(parameters, COUNT))

const proofParser = parser<ClaimProofQuery>(readDeposit)

const bridgeParser = parser<BridgesQuery>((parameters) => {
  const deposit = readDeposit(parameters)
  return deposit.ok ? success(onlyBridge(deposit.value)) : deposit
})

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
