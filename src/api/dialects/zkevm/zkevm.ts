import { success } from '../../../query/answers.js'
import { API_VERSION } from '../../../telemetry/buildInfo.js'
import { type Dialect, endpoint, type FrontFacts } from '../frame/dialect.js'
import { lacksRow } from '../frame/lists.js'
import {
  bridgeParser,
  bridgesParser,
  claimsParser,
  proofByRootParser,
  proofParser,
  secondProofParser,
  tokenParser,
} from './zkevmParameters.js'
import { refuse } from './zkevmRefusals.js'
import {
  chosenProofPresenter,
  claimRow,
  claimsPresenter,
  depositPresenter,
  depositRow,
  depositsPresenter,
  namedProofPresenter,
  tokenPresenter,
  tokenRow,
} from './zkevmSpelling.js'

/** The REST API of zkevm-bridge-service, for all networks at once. */
export const zkevmDialect: Dialect = {
  endpoints: [
    endpoint({
      label: 'zkevm.bridge',
      path: '/bridge',
      operation: 'getBridges',
      createParser: bridgeParser,
      form: { rows: depositRow, presenter: depositPresenter, lacks: lacksRow, refuse },
    }),
    endpoint({
      label: 'zkevm.bridges',
      path: '/bridges/{dest_addr}',
      operation: 'getBridges',
      createParser: bridgesParser,
      form: { rows: depositRow, presenter: depositsPresenter, refuse },
    }),
    endpoint({
      label: 'zkevm.claims',
      path: '/claims/{dest_addr}',
      operation: 'getClaims',
      createParser: claimsParser,
      form: { rows: claimRow, presenter: claimsPresenter, refuse },
    }),
    endpoint({
      label: 'zkevm.merkleProof',
      path: '/merkle-proof',
      operation: 'getClaimProof',
      createParser: proofParser,
      form: { presenter: chosenProofPresenter, refuse },
    }),
    endpoint({
      label: 'zkevm.merkleProofV2',
      path: '/v2/merkle-proof',
      operation: 'getClaimProof',
      createParser: secondProofParser,
      form: { presenter: chosenProofPresenter, refuse },
    }),
    endpoint({
      label: 'zkevm.merkleProofByGer',
      path: '/merkle-proof-by-ger',
      operation: 'getClaimProof',
      createParser: proofByRootParser,
      form: { presenter: namedProofPresenter, refuse },
    }),
    endpoint({
      label: 'zkevm.tokenWrapped',
      path: '/tokenwrapped',
      operation: 'getTokenMappings',
      createParser: tokenParser,
      form: { rows: tokenRow, presenter: tokenPresenter, lacks: lacksRow, refuse },
    }),
  ],
  probes: [
    { label: 'zkevm.api', path: '/api', answer: () => success({ api: `v${API_VERSION}` }) },
    { label: 'zkevm.health', path: '/healthz', answer: () => success({ status: 'SERVING' }) },
    { label: 'zkevm.sync', path: '/sync', answer: tellSync },
  ],
  redirects: [],
  refuse,
}

/** How far each network is. */
function tellSync({ syncStatus }: FrontFacts) {
  const networks = [...syncStatus().networks].sort((left, right) => left.network_id - right.network_id)
  return success({
    sync: networks.map(({ network_id, current_block, synced_block, is_synced }) => {
      // Before the head is known nobody can say how much remains.
      if (current_block === 0) return { network_id, percentage: 0, synced: is_synced }
      const remaining = Math.max(0, current_block - synced_block)
      return {
        network_id,
        percentage: remaining === 0 ? 100 : Math.floor((100 * synced_block) / current_block),
        remaining_blocks: String(remaining),
        synced: is_synced,
      }
    }),
  })
}
