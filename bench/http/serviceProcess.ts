import { loadConfig } from '../../src/config/load.js'
import { startHttpServer } from '../../src/http/server.js'
import { compileMerkleModule } from '../../src/merkle/wasm.js'
import { startQueryPool } from '../../src/pool/queryPool.js'
import { openShardWriter } from '../../src/shard/writer.js'
import { prepareStores } from '../../src/store/openStores.js'
import type { HealthSource } from '../../src/telemetry/healthRecord.js'
import { createLogger } from '../../src/telemetry/logger.js'
import { createStatusBoard } from '../../src/telemetry/statusBoard.js'

/** What the process tells its parent. */
export interface ServicePorts {
  /** Answers are kept in the front. */
  readonly cached: number
  /** The same, without a cache: every request goes through the pool. */
  readonly uncached: number
}

/**
 * The service's own front and query pool over a seeded store, without chains: `node serviceProcess.js <configuration>`.
 * One front thread listens on two ports, so that answers with and without the cache come from one process.
 */
const { config } = loadConfig({ file: process.argv[2]!, environment: {} })
const status = createStatusBoard(config.networks.map(({ networkId }) => networkId))
const compiled = compileMerkleModule()
prepareStores(config)
// Opening a writer tells the status board what is stored.
for (const { networkId } of config.networks) openShardWriter({ config, networkId, compiled, status })
const logger = createLogger(config.log, {})
const pool = await startQueryPool({
  config,
  compiled,
  status,
  logger,
  metrics: { batchFinished: ignore, workerRestarted: ignore, rejected: ignore },
  onCorruptStore: (networkId, message) => {
    throw new Error(`network ${networkId}: ${message}`)
  },
})
const listen = async (cacheBytes: number): Promise<number> => {
  const server = await startHttpServer({
    config: { ...config, http: { ...config.http, port: 0, cacheBytes } },
    pool,
    status,
    health: noHealth(),
    logger,
    metrics: { requestFinished: ignore, requestAborted: ignore, rateLimited: ignore, cacheHit: ignore },
  })
  return server.port
}
process.on('disconnect', () => process.exit())
process.send!({
  cached: await listen(config.http.cacheBytes),
  uncached: await listen(0),
} satisfies ServicePorts)

function ignore(): void {}

/** Probes are not what is measured here. */
function noHealth(): HealthSource {
  const refuse = (): never => {
    throw new Error('no probes here')
  }
  return { health: refuse, syncStatus: refuse, readiness: refuse }
}
