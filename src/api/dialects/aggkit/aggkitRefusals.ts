import { isL1 } from '../../../protocol/networks.js'
import type { Failure } from '../../../query/answers.js'
import type {
  BridgesQuery,
  ClaimProofQuery,
  InjectedL1InfoLeafQuery,
  L1InfoTreeIndexQuery,
} from '../../../query/queries.js'
import { errorTable } from '../../errorTable.js'
import type { Refusal } from '../frame/dialect.js'
import { goJson } from '../frame/goParameters.js'
import { type AggkitRelease, tellsNotYet } from './release.js'

/** How aggkit says no. Its clients look for some of these texts, so they are its own, letter by letter. */

const JSON_TYPE = 'application/json; charset=utf-8'

function refusal(status: number, text: string): Refusal {
  return { status, body: goJson({ error: text }), contentType: JSON_TYPE }
}

/** What is refused whatever the endpoint. Paths and methods that are not there get a text that is no JSON. */
export function refuseAny(failed: Failure): Refusal {
  const { code, message } = failed
  if (code === 'NOT_FOUND' || code === 'METHOD_NOT_ALLOWED')
    return { status: 404, body: '404 page not found', contentType: 'text/plain' }
  return refusal(errorTable[code].status, message)
}

/** A network that is halted, as a syncer that resolves a reorg. */
function refuseHalted({ message }: Failure, release: AggkitRelease): Refusal {
  return tellsNotYet(release)
    ? refusal(503, `a syncer is temporarily inconsistent (reorg being resolved), retry later: ${message}`)
    : refusal(500, message)
}

function isNotYet({ code }: Failure): boolean {
  return code === 'BRIDGE_NOT_FOUND' || code === 'PROOF_NOT_AVAILABLE'
}

const NOT_INCLUDED = 'this bridge has not been included on the L1 Info Tree yet'

export function refuseIndex(
  failed: Failure,
  { networkId, depositCount }: L1InfoTreeIndexQuery,
  release: AggkitRelease,
): Refusal {
  if (failed.code === 'SERVICE_UNAVAILABLE') return refuseHalted(failed, release)
  if (!isNotYet(failed)) return refuseAny(failed)
  const bridge = `network id ${networkId} and deposit count ${depositCount}`
  return tellsNotYet(release)
    ? refusal(404, `l1 info tree index for ${bridge} is not available yet, retry later: ${NOT_INCLUDED}`)
    : refusal(500, `failed to get l1 info tree index for ${bridge}, error: ${NOT_INCLUDED}`)
}

export function refuseInjectedLeaf(
  failed: Failure,
  { networkId, leafIndex }: InjectedL1InfoLeafQuery,
  release: AggkitRelease,
): Refusal {
  if (failed.code === 'SERVICE_UNAVAILABLE') return refuseHalted(failed, release)
  if (!isNotYet(failed)) return refuseAny(failed)
  if (failed.lacking !== 'l1_info_leaf')
    return release === '0.6'
      ? refusal(500, `failed to get injected global exit root for leaf index=${leafIndex}, error: not found`)
      : refusal(404, `no injected global exit root at or after leaf index ${leafIndex} yet (not injected)`)
  if (!tellsNotYet(release))
    return refusal(
      500,
      `failed to get L1 info tree leaf (network id=${networkId}, leaf index=${leafIndex}), error: not found`,
    )
  const where = isL1(networkId) ? '' : ' (already injected on L2 per l2gersync)'
  return refusal(
    404,
    `l1infotreesync has not indexed l1 info tree leaf index ${leafIndex} yet${where}, retry later`,
  )
}

export function refuseProof(failed: Failure, query: ClaimProofQuery, release: AggkitRelease): Refusal {
  if (failed.code === 'SERVICE_UNAVAILABLE') return refuseHalted(failed, release)
  if (!isNotYet(failed)) return refuseAny(failed)
  if (tellsNotYet(release)) return refusal(404, proofNotYet(failed, query))
  return refusal(
    500,
    failed.lacking === 'l1_info_leaf'
      ? `failed to get l1 info tree leaf for index ${query.leafIndex}: not found`
      : 'failed to get local exit proof, error: not found',
  )
}

/** What is said of a proof that may be there later. */
export function proofNotYet(
  { lacking }: Failure,
  { networkId, depositCount, leafIndex }: ClaimProofQuery,
): string {
  const what =
    lacking === 'l1_info_leaf'
      ? `l1infotreesync has not indexed l1 info tree leaf index ${leafIndex}`
      : `bridgesync ${isL1(networkId) ? 'L1' : 'L2'} has not indexed deposit count ${depositCount}`
  return `${what} yet, retry later`
}

export function refuseBridge(failed: Failure, { depositCounts }: BridgesQuery): Refusal {
  return failed.code === 'BRIDGE_NOT_FOUND'
    ? refusal(404, `bridge with deposit_count=${depositCounts![0]} not found`)
    : refuseAny(failed)
}
