import assert from 'node:assert/strict'
import { type HttpServer, startHttpServer } from '../../src/http/server.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { type QueryPool, startQueryPool } from '../../src/pool/queryPool.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { compileMerkleModule } from '../../src/wasm/wasmModule.js'
import { buildSmallWorld } from './fakeChainScenario.js'
import { fakeHealth, usualTransport } from './httpWorld.js'
import { IndexedWorld } from './indexedWorld.js'
import type { Cleaner } from './tempFolder.js'

export type DataWorld = ReturnType<typeof buildSmallWorld> & {
  readonly indexed: IndexedWorld
  readonly pool: QueryPool
  readonly server: HttpServer
  readonly logLines: string[]
}

/**
 * A real server over real workers and shards of a fake world.
 * @param random the server's source of chance. By default no answer closes its connection by chance.
 */
export async function startDataWorld(
  context: Cleaner,
  random: () => number = () => 0.5,
  transport: Transport = usualTransport(),
): Promise<DataWorld> {
  const small = buildSmallWorld()
  const indexed = new IndexedWorld(context, small.world)
  indexed.syncAll()
  const logLines: string[] = []
  const logger = createLogger({ level: 'debug', format: 'json' }, {}, (line) => logLines.push(line))
  const pool = await startQueryPool({
    config: indexed.config,
    compiled: compileMerkleModule(),
    status: indexed.status,
    logger,
    metrics: { batchFinished: () => undefined, workerRestarted: () => undefined, rejected: () => undefined },
    onCorruptStore: (networkId, message) => assert.fail(`network ${networkId}: ${message}`),
  })
  context.after(() => pool.close())
  const server = await startHttpServer({
    transport,
    random,
    config: indexed.config,
    pool,
    status: indexed.status,
    health: fakeHealth({ status: 'healthy', ready: true }),
    logger,
    metrics: {
      requestFinished: () => undefined,
      requestAborted: () => undefined,
      rateLimited: () => undefined,
      cacheHit: () => undefined,
    },
  })
  context.after(() => server.drain(0))
  return { ...small, indexed, pool, server, logLines }
}
