import type { BridgeRecord } from '../../../query/records.js'
import { type Dialect, endpoint } from '../frame/dialect.js'
import { lacksRow, onlyRowPresenter } from '../frame/lists.js'
import { refuseAny, refuseBridge, refuseIndex, refuseInjectedLeaf, refuseProof } from './aggkitRefusals.js'
import {
  bridgeRows,
  bridgesPresenter,
  claimRows,
  claimsPresenter,
  indexPresenter,
  injectedLeafPresenter,
  mappingsPresenter,
  proofPresenter,
  tokenMappingRows,
} from './aggkitSpelling.js'
import {
  bridgeByCountParser,
  bridgesParser,
  claimProofParser,
  claimsParser,
  injectedLeafParser,
  l1InfoTreeIndexParser,
  tokenMappingsParser,
} from './parameters.js'
import type { AggkitRelease } from './release.js'
import { tellHealth, tellSyncStatus } from './status.js'

/** The API of aggkit's bridge service, for all networks at once. */
export function aggkitDialect(release: AggkitRelease): Dialect {
  const rows = bridgeRows(release)
  return {
    endpoints: [
      endpoint({
        label: 'aggkit.bridges',
        path: '/bridge/v1/bridges',
        operation: 'getBridges',
        createParser: bridgesParser,
        form: { rows, presenter: bridgesPresenter, refuse: refuseAny },
      }),
      endpoint({
        label: 'aggkit.claims',
        path: '/bridge/v1/claims',
        operation: 'getClaims',
        createParser: claimsParser(release),
        form: {
          rows: claimRows(release),
          presenter: claimsPresenter,
          refuse: refuseAny,
        },
      }),
      endpoint({
        label: 'aggkit.tokenMappings',
        path: '/bridge/v1/token-mappings',
        operation: 'getTokenMappings',
        createParser: tokenMappingsParser,
        form: {
          rows: tokenMappingRows,
          presenter: mappingsPresenter,
          refuse: refuseAny,
        },
      }),
      endpoint({
        label: 'aggkit.l1InfoTreeIndex',
        path: '/bridge/v1/l1-info-tree-index',
        operation: 'getL1InfoTreeIndex',
        createParser: l1InfoTreeIndexParser,
        form: {
          presenter: indexPresenter,
          refuse: (failed, query) => refuseIndex(failed, query, release),
        },
      }),
      endpoint({
        label: 'aggkit.injectedL1InfoLeaf',
        path: '/bridge/v1/injected-l1-info-leaf',
        operation: 'getInjectedL1InfoLeaf',
        createParser: injectedLeafParser,
        form: {
          presenter: injectedLeafPresenter,
          refuse: (failed, query) => refuseInjectedLeaf(failed, query, release),
        },
      }),
      endpoint({
        label: 'aggkit.claimProof',
        path: '/bridge/v1/claim-proof',
        operation: 'getClaimProof',
        createParser: claimProofParser,
        form: {
          presenter: proofPresenter,
          refuse: (failed, query) => refuseProof(failed, query, release),
        },
      }),
      endpoint({
        label: 'aggkit.bridgeByDepositCount',
        path: '/bridge/v1/bridge-by-deposit-count',
        operation: 'getBridges',
        createParser: bridgeByCountParser,
        form: {
          rows,
          presenter: onlyRowPresenter<BridgeRecord>(),
          lacks: lacksRow,
          refuse: refuseBridge,
        },
      }),
    ],
    probes: [
      { label: 'aggkit.health', path: '/', answer: tellHealth },
      {
        label: 'aggkit.syncStatus',
        path: '/bridge/v1/sync-status',
        answer: (facts, rawQuery) => tellSyncStatus(facts, rawQuery, release),
      },
    ],
    redirects: [{ label: 'aggkit.swagger', path: '/bridge/v1/swagger', to: '/docs' }],
    refuse: refuseAny,
  }
}
