import { type Answer, failure, success } from '../../../query/answers.js'
import type { SyncStatusRecord } from '../../../query/healthRecords.js'
import { API_VERSION } from '../../../telemetry/buildInfo.js'
import type { FrontFacts } from '../frame/dialect.js'
import { optional, readParameters } from '../frame/goParameters.js'
import { AGGKIT_NAMES } from './parameters.js'
import type { AggkitRelease } from './release.js'

/** The health check: `ok` whenever somebody answers. */
export function tellHealth({ unixMs }: FrontFacts): Answer<object> {
  return success({
    status: 'ok',
    time: new Date(unixMs()).toISOString().replace(/\.?0*Z$/, 'Z'),
    version: `v${API_VERSION}`,
  })
}

/**
 * How far the L1 and one L2 are: the one that `network_id` names, else the primary one. What the contracts count is what the last
 * comparison with them has shown.
 */
export function tellSyncStatus(
  { syncStatus, primaryNetwork }: FrontFacts,
  rawQuery: string,
  release: AggkitRelease,
): Answer<object> {
  const parameters = readParameters(rawQuery, AGGKIT_NAMES)
  if (!parameters.ok) return parameters
  const asked = optional(parameters.value, 'network_id', primaryNetwork)
  if (!asked.ok) return asked
  const { networks } = syncStatus()
  if (!networks.some(({ network_id }) => network_id === asked.value))
    return failure('INVALID_NETWORK_ID', `unsupported network id: ${asked.value}`)
  const layer2 =
    networks.find(({ network_id }) => network_id !== 0 && network_id === asked.value) ??
    networks.find(({ network_id }) => network_id !== 0 && network_id === primaryNetwork) ??
    networks.find(({ network_id }) => network_id !== 0)
  return success({
    l1_info: tellNetwork(
      networks.find(({ network_id }) => network_id === 0),
      release,
    ),
    l2_info: tellNetwork(layer2, release),
  })
}

type NetworkSync = SyncStatusRecord['networks'][number]

function tellNetwork(network: NetworkSync | undefined, release: AggkitRelease): object {
  const isActive = network !== undefined && network.halted === null
  const contractCount = (isActive && network.contract_deposit_count) || 0
  const count = isActive ? network.indexed_deposit_count : 0
  const isSynced = isActive && network.contract_deposit_count === count
  if (release === '0.6')
    return { contract_deposit_count: contractCount, bridge_deposit_count: count, is_synced: isSynced }
  return {
    contract_deposit_count: contractCount,
    synchronized_deposit_count: count,
    is_synced: isSynced,
    is_active: isActive,
    ...(isActive && !isSynced
      ? {
          ...(network.synced_block === 0 ? {} : { last_processed_block: network.synced_block }),
          ...(network.current_block === 0 ? {} : { network_block: network.current_block }),
        }
      : {}),
  }
}
