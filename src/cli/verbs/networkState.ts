import type { HealthReason } from '../../query/healthReasons.js'
import type { NetworkSyncRecord } from '../../query/healthRecords.js'

type EndpointSync = NetworkSyncRecord['endpoints'][number]

const STATES: { readonly [K in HealthReason]?: string } = {
  rpc: 'no endpoint answers',
  cluster: 'no answer from the NATS servers, or behind the log',
  behind: 'the head is below what is indexed',
  stalled: 'no new block comes',
  emergency_state: 'the bridge is in emergency state',
}

/** Whether no endpoint answers: the head and the lag are those of before. */
export function isCutOff({ reasons }: NetworkSyncRecord): boolean {
  return reasons?.includes('rpc') === true
}

/** Whether the network has seen its chain's head since the start of the service. */
export function hasHead({ head_age_seconds: age }: NetworkSyncRecord): boolean {
  return age !== null
}

/** How an endpoint is doing, in words. */
export function endpointState({ in_use: isInUse, resting }: EndpointSync): string {
  const states = [...(isInUse ? ['in use'] : []), ...(resting === null ? [] : [`resting: ${resting}`])]
  return states.length === 0 ? 'stands by' : states.join('; ')
}

/** Names that the configuration has for endpoints, by those that the public is told. */
export type EndpointAliases = ReadonlyMap<string, string>

/** An endpoint as the operator knows it: `1-a (main node)`. */
export function nameOf(endpoint: string, aliases: EndpointAliases): string {
  const alias = aliases.get(endpoint)
  return alias === undefined ? endpoint : `${endpoint} (${alias})`
}

/** Those of a network. A service of an earlier version tells none. */
export function endpointsOf({
  endpoints,
}: Partial<Pick<NetworkSyncRecord, 'endpoints'>>): readonly EndpointSync[] {
  return endpoints ?? []
}

/** The state of a network in words: its reasons. `syncing` is shown only when it is the only one. */
export function stateOf(network: NetworkSyncRecord): string {
  const { halted, is_synced, reasons = [] } = network
  const states = reasons
    .filter((reason) => reason !== 'halted' && reason !== 'disk' && reason !== 'syncing')
    .map((reason) => (STATES[reason] === undefined ? reason : `${reason}: ${STATES[reason]}`))
  if (halted !== null) states.unshift(`halted: ${halted}`)
  if (states.length === 0)
    return is_synced ? 'in sync' : hasHead(network) ? 'syncing' : 'waiting for its first head'
  return (is_synced ? ['in sync', ...states] : states).join('; ')
}
