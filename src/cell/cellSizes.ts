import type { Config, RateLimitConfig } from '../config/config.types.js'
import { ConfigError } from '../config/configError.js'
import { MOST_FRONT_THREADS } from '../config/schema.js'

/** How many cells a service has, and how many query threads each of them. */
export interface CellSizes {
  readonly cells: number
  readonly workers: number
}

/** A front thread keeps about three query threads busy with uncached points, and more with pages. */
const CORES_PER_CELL = 4

/** What the sizes depend on besides the configuration. */
export interface CellSurroundings {
  /** Cores that this process may use; part of one counts as none. */
  readonly cores: number
  /** Whether the transport can share a port among threads. */
  readonly sharesPorts: boolean
  readonly transport: string
  /** Whether the limits of the process leave room for so many threads. */
  readonly fits: (sizes: CellSizes) => boolean
}

/**
 * Cells and their query threads as the configuration wants them. `auto` goes by the cores, and under low limits of the process by as
 * many of them as fit.
 * @throws ConfigError for several cells on a transport that can't.
 */
export function cellSizes(config: Pick<Config, 'http' | 'pool'>, surroundings: CellSurroundings): CellSizes {
  const { threads } = config.http
  const { cores, sharesPorts, transport, fits } = surroundings
  if (threads === 'auto') {
    let used = Math.max(1, Math.floor(cores))
    while (used > 1 && !fits(sizesOn(used, config.pool.workers, sharesPorts))) used -= 1
    return sizesOn(used, config.pool.workers, sharesPorts)
  }
  if (threads > 1 && !sharesPorts)
    throw new ConfigError([`http.threads is ${threads}, but ${transport} can't share a port here`])
  return { cells: threads, workers: config.pool.workers }
}

function sizesOn(cores: number, fewestWorkers: number, sharesPorts: boolean): CellSizes {
  const cells = sharesPorts
    ? Math.min(MOST_FRONT_THREADS, Math.max(1, Math.floor(cores / CORES_PER_CELL)))
    : 1
  const share = sharesPorts ? Math.floor(cores / cells) : Math.min(CORES_PER_CELL, cores)
  return { cells, workers: Math.max(fewestWorkers, share - 1) }
}

/** The part of the configuration's amounts that one cell gets, so that all cells together stay within them. */
export function cellConfig(config: Config, { cells, workers }: CellSizes): Config {
  const { http, feed, pool, rateLimit } = config
  return {
    ...config,
    http: {
      ...http,
      cacheBytes: Math.floor(http.cacheBytes / cells),
      maxConnections: shareOf(http.maxConnections, cells),
    },
    feed: { ...feed, maxReaders: Math.ceil(feed.maxReaders / cells) },
    pool: { ...pool, workers, maxQueue: Math.ceil(pool.maxQueue / cells) },
    rateLimit: cellRateLimit(rateLimit, cells),
  }
}

/** One cell's share of a rate limit. */
export function cellRateLimit(rateLimit: RateLimitConfig, cells: number): RateLimitConfig {
  return {
    ...rateLimit,
    tokensPerSec: rateLimit.tokensPerSec / cells,
    keyTokensPerSec: rateLimit.keyTokensPerSec / cells,
    maxClients: Math.ceil(rateLimit.maxClients / cells),
  }
}

function shareOf(maxConnections: number | 'auto', cells: number): number | 'auto' {
  return maxConnections === 'auto' ? 'auto' : Math.max(1, Math.floor(maxConnections / cells))
}

/** `3 front threads with 2 query threads each`. */
export function tellSizes({ cells, workers }: CellSizes): string {
  const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
  return `${plural(cells, 'front thread')} with ${plural(workers, 'query thread')}${cells === 1 ? '' : ' each'}`
}
