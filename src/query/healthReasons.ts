export const serviceStatuses = [
  'healthy',
  'syncing',
  'degraded',
  'unhealthy',
  'starting',
  'draining',
] as const

export type ServiceStatus = (typeof serviceStatuses)[number]

/** Stable codes. The sync status says which networks they concern. */
export type HealthReason =
  | 'draining'
  | 'starting'
  | 'syncing'
  | 'pool'
  | 'halted'
  | 'lag'
  | 'rpc'
  | 'cluster'
  | 'behind'
  | 'stalled'
  | 'disk'
  | 'emergency_state'
