import { cellSizes } from '../cell/cellSizes.js'
import type { Config } from '../config/config.types.js'
import { FatalError } from '../errors/chainErrors.js'
import { fileBytesOf, shardDirectory } from '../store/shardDirectory.js'
import { usableCores } from '../telemetry/cores.js'
import type { Logger } from '../telemetry/logger.js'
import { type Demand, judgeLimits, readLimits, tooLow } from '../telemetry/processLimits.js'

/** What a configuration demands of the limits of its process. */
export function demandOf(config: Config): Demand {
  const { dataDir, networks } = config
  const stores = networks.map(({ networkId }) => fileBytesOf(shardDirectory(dataDir, networkId)))
  // Whether a transport can share the port is looked up later, when threads may start.
  const { cells, workers } = cellSizes(config, { cores: usableCores(), sharesPorts: true, transport: '' })
  return {
    networks: networks.length,
    fronts: cells,
    workers: cells * workers,
    storeBytes: Math.max(0, ...stores),
  }
}

/**
 * Refuses to start under limits that would end the process without a message, now or under load. Warns of low limits.
 * @throws FatalError with one line.
 */
export function assertLimits(demand: Demand, logger: Logger): void {
  const limits = readLimits()
  if (limits === undefined) return
  const findings = judgeLimits(limits, demand)
  const faults = findings.filter(({ outcome }) => outcome === 'fail')
  if (faults.length > 0) throw new FatalError(tooLow(faults))
  for (const { what, detail } of findings.filter(({ outcome }) => outcome === 'warn'))
    logger.warn('a limit of this process is low', { limit: what, detail })
}
