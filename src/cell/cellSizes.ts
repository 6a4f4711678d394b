import type { Config } from '../config/config.types.js'
import { ConfigError } from '../config/configError.js'

/** How many cells a service has, and how many query threads each of them. */
export interface CellSizes {
  readonly cells: number
  readonly workers: number
}

/** A front thread keeps about three query threads busy with uncached points, and more with pages. */
const CORES_PER_CELL = 4
/** As in the configuration. */
const MOST_CELLS = 64

/**
 * Cells and their query threads as the configuration wants them; `auto` goes by the cores.
 * @param cores that this process may use; part of one counts as none.
 * @param sharesPorts whether the transport can share a port among threads.
 * @throws ConfigError for several cells on a transport that can't.
 */
export function cellSizes(
  { http, pool }: Pick<Config, 'http' | 'pool'>,
  { cores, sharesPorts, transport }: { cores: number; sharesPorts: boolean; transport: string },
): CellSizes {
  if (http.threads === 'auto') {
    if (!sharesPorts)
      return { cells: 1, workers: Math.max(pool.workers, Math.min(CORES_PER_CELL, Math.floor(cores)) - 1) }
    const cells = Math.min(MOST_CELLS, Math.max(1, Math.floor(cores / CORES_PER_CELL)))
    return { cells, workers: Math.max(pool.workers, Math.floor(cores / cells) - 1) }
  }
  if (http.threads > 1 && !sharesPorts)
    throw new ConfigError([`http.threads is ${http.threads}, but ${transport} can't share a port here`])
  return { cells: http.threads, workers: pool.workers }
}

/** The part of the configuration's amounts that one cell gets, so that all cells together stay within them. */
export function cellConfig(config: Config, { cells, workers }: CellSizes): Config {
  const { http, pool, rateLimit } = config
  return {
    ...config,
    http: {
      ...http,
      cacheBytes: Math.floor(http.cacheBytes / cells),
      maxConnections: shareOf(http.maxConnections, cells),
    },
    pool: { ...pool, workers, maxQueue: Math.ceil(pool.maxQueue / cells) },
    rateLimit: {
      ...rateLimit,
      tokensPerSec: rateLimit.tokensPerSec / cells,
      keyTokensPerSec: rateLimit.keyTokensPerSec / cells,
      maxClients: Math.ceil(rateLimit.maxClients / cells),
    },
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
