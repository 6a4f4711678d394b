import type { ClusterServers } from '../cluster/clusterServers.js'
import { openNatsServers } from '../cluster/nats/natsServers.js'
import type { ClusterConfig } from '../config/config.types.js'
import { systemClock } from '../telemetry/clocks.js'
import type { Logger } from '../telemetry/logger.js'

/** The servers of a configured cluster. Asks none yet. */
export function openServers(cluster: ClusterConfig, logger: Logger): ClusterServers {
  const { servers, instance, name, replicas, maxLogBytes, access } = cluster
  const settings = { servers, name: `bds ${instance}`, prefix: name, replicas, maxLogBytes, access }
  return openNatsServers(settings, systemClock, logger)
}
