import { type CellSizes, type CellSurroundings, cellSizes } from '../cell/cellSizes.js'
import type { Config } from '../config/config.types.js'
import { FatalError } from '../errors/chainErrors.js'
import { fileBytesOf, shardDirectory } from '../store/shardDirectory.js'
import { usableCores } from '../telemetry/cores.js'
import type { Logger } from '../telemetry/logger.js'
import { type Demand, judgeLimits, readLimits, tooLow } from '../telemetry/processLimits.js'

/** Front threads and query threads of this configuration, on this machine and under the limits of this process. */
export function sizesHere(
  config: Config,
  { sharesPorts, transport }: Pick<CellSurroundings, 'sharesPorts' | 'transport'>,
): CellSizes {
  const limits = readLimits()
  const storeBytes = largestStore(config)
  const fits = (sizes: CellSizes): boolean =>
    limits === undefined ||
    judgeLimits(limits, demand(config, sizes, storeBytes)).every(
      // Threads that have too little memory under load are worse than none.
      ({ what, outcome }) => outcome === 'ok' || (outcome === 'warn' && what !== 'memory'),
    )
  return cellSizes(config, { cores: usableCores(), sharesPorts, transport, fits })
}

/** What a configuration demands of the limits of its process. */
export function demandOf(config: Config): Demand {
  // Whether a transport can share the port is looked up later, when threads may start.
  return demand(config, sizesHere(config, { sharesPorts: true, transport: '' }), largestStore(config))
}

function demand({ networks }: Config, { cells, workers }: CellSizes, storeBytes: number): Demand {
  return { networks: networks.length, fronts: cells, workers: cells * workers, storeBytes }
}

function largestStore({ dataDir, networks }: Config): number {
  return Math.max(0, ...networks.map(({ networkId }) => fileBytesOf(shardDirectory(dataDir, networkId))))
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
