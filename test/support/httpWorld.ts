import assert from 'node:assert/strict'
import { headPlaces, statusRow } from '../../src/board/statusBoard.js'
import type { Config } from '../../src/config/config.types.js'
import { createHealthBoard, HealthBoard } from '../../src/health/healthBoard.js'
import { createHealthMonitor, type HealthMonitor } from '../../src/health/healthMonitor.js'
import { chooseTransport } from '../../src/http/chooseTransport.js'
import { servedNetworks } from '../../src/http/servedNetworks.js'
import { type HttpServer, startHttpServer } from '../../src/http/server.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { buildSmallWorld } from './fakeChainScenario.js'
import { type FakePool, startFakePool, startWatchedPool, type WatchedPool } from './fakePool.js'
import { IndexedWorld } from './indexedWorld.js'
import { loadedConfig } from './loadedConfig.js'
import { type Cleaner, tempFolder } from './tempFolder.js'

/** The real server over a pool, healthy and ready, and what it reports. */
interface Front {
  readonly server: HttpServer
  readonly port: number
  readonly health: HealthMonitor
  /** `route method status` of every request that was answered. */
  readonly finished: string[]
  readonly aborted: string[]
  /** Routes of requests that were refused with 429. */
  readonly limited: string[]
  /** Connections that were closed for their pipelined requests. */
  readonly connectionsCut: () => number
  /** Limits that connections were refused or ended for. */
  readonly refused: readonly string[]
  /** Limits that slow readers were cut off for. */
  readonly slowReadersCut: readonly string[]
}

export type HttpSettings = Partial<Config['http']>

/** The transport that a service takes here by itself. */
export function usualTransport(): Transport {
  return chooseTransport({ transport: 'auto', adaptCore: true }).transport
}

async function startFront(
  cleaner: Cleaner,
  { pool, status, logger }: WatchedPool,
  config: Config,
  transport: Transport,
  random: () => number,
): Promise<Front> {
  cleaner.after(() => pool.close())
  for (const { networkId } of config.networks) {
    const row = statusRow(status, networkId)
    row.set('caughtUp', 1)
    row.setHeadPlace(headPlaces.inStep)
  }
  // No time passes: two answers about the health are the same.
  const still = () => 0
  const board = new HealthBoard(
    createHealthBoard(
      config.networks.map(({ networkId }) => networkId),
      1,
    ),
  )
  board.setPoolAlive(0, true)
  const health = createHealthMonitor({
    config,
    status,
    board,
    now: still,
    unixMs: still,
  })
  health.setPhase('running')
  const [finished, aborted, limited] = [[], [], []] as [string[], string[], string[]]
  let connectionsCut = 0
  const refused: string[] = []
  const slowReadersCut: string[] = []
  const server = await startHttpServer({
    ...{ config, pool, status, health, logger, transport, random },
    networks: servedNetworks(config, createHasher(compileMerkleModule())),
    metrics: {
      requestFinished: (route, method, code) => finished.push(`${route} ${method} ${code}`),
      requestAborted: (route) => aborted.push(route),
      rateLimited: (route) => limited.push(route),
      connectionCut: () => connectionsCut++,
      connectionRefused: (reason) => refused.push(reason),
      slowReaderCut: (limit) => slowReadersCut.push(limit),
      cacheHit: () => undefined,
    },
  })
  cleaner.after(() => server.drain(0))
  return {
    server,
    port: server.port,
    health,
    finished,
    aborted,
    limited,
    connectionsCut: () => connectionsCut,
    refused,
    slowReadersCut,
  }
}

/**
 * A server over workers that give made-up answers.
 * @param cleaner a test's context, or `{ after }` of node:test for a world that a whole file shares.
 * @param random the server's source of chance. By default no answer closes its connection by chance.
 */
export async function startHttpWorld(
  cleaner: Cleaner,
  http: HttpSettings = {},
  pool: Config['pool'] = { workers: 1, maxQueue: 10_000 },
  transport: Transport = usualTransport(),
  rateLimit: Partial<Config['rateLimit']> = {},
  random = (): number => 0.5,
  log: Partial<Config['log']> = {},
  cluster?: Config['cluster'],
): Promise<FakePool & Front> {
  const loaded = loadedConfig(tempFolder(cleaner), { pool })
  const config: Config = {
    ...loaded,
    log: { ...loaded.log, ...log },
    http: { ...loaded.http, ...http },
    rateLimit: { ...loaded.rateLimit, ...rateLimit },
    ...(cluster === undefined ? {} : { cluster }),
  }
  const fake = await startFakePool(config)
  return { ...fake, ...(await startFront(cleaner, fake, config, transport, random)) }
}

/** A server over real workers and the shards of a fake world. */
export async function startDataWorld(
  cleaner: Cleaner,
  random = (): number => 0.5,
  transport: Transport = usualTransport(),
  dialects?: Config['dialects'],
) {
  const small = buildSmallWorld()
  const indexed = new IndexedWorld(cleaner, small.world)
  indexed.syncAll()
  const { status } = indexed
  const config: Config = dialects === undefined ? indexed.config : { ...indexed.config, dialects }
  const watched = await startWatchedPool({ config, status, compiled: compileMerkleModule() })
  cleaner.after(() => assert.deepEqual(watched.corrupt, []))
  return { ...small, ...watched, indexed, ...(await startFront(cleaner, watched, config, transport, random)) }
}
