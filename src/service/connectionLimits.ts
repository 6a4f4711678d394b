import type { CellSizes } from '../cell/cellSizes.js'
import type { Config } from '../config/config.types.js'
import { connectionRefusals, type FrontCountsHandle, FrontCountsReader } from '../telemetry/frontCounts.js'
import type { Logger } from '../telemetry/logger.js'
import { connectionLimit, type ProcessLimits } from '../telemetry/processLimits.js'

/** One address may have this part of all connections: two who flood leave room for others. */
const ADDRESS_SHARE = 4

/** An attack may last for days: its limit is told this often. */
const TOLD_EVERY_MS = 10 * 60_000

/**
 * The configuration with numbers for its limits of connections.
 * @param limits undefined where the system does not tell them: then only the configuration's own numbers count.
 */
export function withConnectionLimits(
  config: Config,
  { cells, workers }: CellSizes,
  limits: Pick<ProcessLimits, 'openFiles'> | undefined,
  logger: Logger,
): Config {
  const { maxConnections: wanted, maxConnectionsPerAddress: perAddress } = config.http
  const demand = { networks: config.networks.length, fronts: cells, workers: cells * workers }
  const most = limits === undefined ? Number.POSITIVE_INFINITY : connectionLimit(limits, demand)
  if (wanted !== 'auto' && wanted > most)
    logger.warn('http.max_connections is more than the limit of descriptors allows', {
      wanted,
      maxConnections: most,
    })
  const maxConnections = wanted === 'auto' ? most : Math.min(wanted, most)
  const share = Number.isFinite(maxConnections) ? Math.ceil(maxConnections / ADDRESS_SHARE) : 0
  return {
    ...config,
    http: {
      ...config.http,
      maxConnections,
      maxConnectionsPerAddress: perAddress === 'auto' ? share : perAddress,
    },
  }
}

/**
 * Tells the operator when connections are refused: one line for each limit, and another one after ten minutes at the earliest.
 * @returns what is to be called from time to time.
 */
export function watchRefusals(
  counts: readonly FrontCountsHandle[],
  { maxConnections, maxConnectionsPerAddress }: Config['http'],
  logger: Logger,
): (nowMs: number) => void {
  const fronts = counts.map((handle) => new FrontCountsReader(handle))
  const told = connectionRefusals.map((reason) => ({ reason, refused: 0, notBeforeMs: 0 }))
  return (nowMs) => {
    for (const limit of told) {
      const refused = fronts.reduce((sum, front) => sum + front.connectionsRefused(limit.reason), 0)
      if (refused === limit.refused || nowMs < limit.notBeforeMs) continue
      limit.refused = refused
      limit.notBeforeMs = nowMs + TOLD_EVERY_MS
      const connections = fronts.reduce((sum, front) => sum + front.connections(), 0)
      logger.warn(`connections are refused: http.${limit.reason} is reached`, {
        connections,
        maxConnections,
        maxConnectionsPerAddress,
      })
    }
  }
}
