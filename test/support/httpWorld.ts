import type { Config } from '../../src/config/config.types.js'
import type { HealthSource, ServiceStatus } from '../../src/health/healthRecord.js'
import { chooseTransport } from '../../src/http/chooseTransport.js'
import { type HttpServer, startHttpServer } from '../../src/http/server.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { type FakePool, startFakePool } from './fakePool.js'
import { loadedConfig } from './loadedConfig.js'
import { type Cleaner, tempFolder } from './tempFolder.js'

/** The real server over a real pool whose workers give made-up answers. */
export interface HttpWorld extends FakePool {
  readonly server: HttpServer
  readonly port: number
  readonly health: { status: ServiceStatus; ready: boolean; readonly throws?: boolean }
  /** `route method status` of every request that was answered. */
  readonly finished: string[]
  readonly aborted: string[]
  /** Routes of requests that were refused with 429. */
  readonly limited: string[]
}

export type HttpSettings = Partial<Config['http']>

/** The transport that a service takes here by itself. */
export function usualTransport(): Transport {
  return chooseTransport({ transport: 'auto', adaptCore: true }).transport
}

/** @param cleaner a test's context, or `{ after }` of node:test for a world that a whole file shares. */
export async function startHttpWorld(
  cleaner: Cleaner,
  http: HttpSettings = {},
  pool: Config['pool'] = { workers: 1, maxQueue: 10_000 },
  transport: Transport = usualTransport(),
  rateLimit: Partial<Config['rateLimit']> = {},
  random = (): number => 0.5,
): Promise<HttpWorld> {
  const loaded = loadedConfig(tempFolder(cleaner), { pool })
  const config: Config = {
    ...loaded,
    http: { ...loaded.http, ...http },
    rateLimit: { ...loaded.rateLimit, ...rateLimit },
  }
  const fake = await startFakePool(config)
  cleaner.after(() => fake.pool.close())
  const health: HttpWorld['health'] = { status: 'healthy', ready: true }
  const finished: string[] = []
  const aborted: string[] = []
  const limited: string[] = []
  const server = await startHttpServer({
    transport,
    random,
    config,
    pool: fake.pool,
    status: fake.status,
    health: fakeHealth(health),
    logger: createLogger({ level: 'debug', format: 'json' }, {}, (line) => fake.logLines.push(line)),
    metrics: {
      requestFinished: (route, method, status) => finished.push(`${route} ${method} ${status}`),
      requestAborted: (route) => aborted.push(route),
      rateLimited: (route) => limited.push(route),
      cacheHit: () => undefined,
    },
  })
  cleaner.after(() => server.drain(0))
  return { ...fake, server, port: server.port, health, finished, aborted, limited }
}

export function fakeHealth(state: HttpWorld['health']): HealthSource {
  const chain = { current_block: 10, synced_block: 9, is_synced: true }
  const syncStatus = {
    l1_sync: chain,
    l2_sync: chain,
    bridge_sync: {
      l1_bridges_indexed: 1,
      l2_bridges_indexed: 2,
      last_update: new Date(0).toISOString(),
    },
    networks: [
      {
        network_id: 0,
        ...chain,
        finalized_block: null,
        lag_seconds: 1,
        head_age_seconds: 12,
        halted: null,
        contract_deposit_count: null,
        contracts_compared: null,
        indexed_deposit_count: 1,
        indexed_claim_count: 0,
        unresolved_senders: 0,
      },
    ],
  }
  return {
    health: () => ({
      httpStatus: state.status === 'healthy' ? 200 : 503,
      record: {
        status: state.status,
        version: '1.0.0',
        network_id: 1,
        uptime: '0h0m1s',
        last_processed_block: 9,
        supported_networks: [0, 1],
        build: '0.1.0',
      },
    }),
    syncStatus: () => {
      if (state.throws === true) throw new Error('the front itself is broken')
      return syncStatus
    },
    readiness: () =>
      state.ready ? { ready: true, lagBlocks: 1 } : { ready: false, reason: 'draining', lagBlocks: 1 },
  }
}
