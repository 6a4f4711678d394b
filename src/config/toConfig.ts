import { hostname } from 'node:os'
import type { ServerAccess } from '../cluster/clusterServers.js'
import type {
  ClusterConfig,
  Config,
  DialectsConfig,
  NetworkConfig,
  RpcEndpointConfig,
} from './config.types.js'
import { endpointName } from './endpointName.js'
import { parseFinality } from './finalitySetting.js'
import { type Environment, proxyFor } from './proxy.js'
import type { ConfigFile, NetworkTable, RpcTable } from './schema.js'
import { readSecret } from './secretFile.js'

/** An L1 makes blocks all the time; an L2 may make them only for transactions. */
const STALLED_L1_MS = 30 * 60_000
const STALLED_L2_MS = 6 * 3_600_000

/** Turns the checked file into a `Config`, deeply frozen. */
export function toConfig(file: ConfigFile, environment: Environment): Config {
  const firstLayer2 = file.networks.find((network) => network.network_id !== 0)
  return deepFreeze({
    dataDir: file.data_dir,
    primaryNetwork: file.primary_network ?? firstLayer2?.network_id ?? 0,
    shutdownGraceMs: file.shutdown_grace_ms,
    http: {
      host: file.http.host,
      port: file.http.port,
      threads: file.http.threads,
      maxUrlBytes: file.http.max_url_bytes,
      deadlineMs: file.http.deadline_ms,
      drainDelayMs: file.http.drain_delay_ms,
      cacheBytes: file.http.cache_bytes,
      compress: file.http.compress,
      transport: file.http.transport,
      adaptCore: file.http.adapt_core,
      maxResponseBytes: file.http.max_response_bytes,
      maxConnections: file.http.max_connections,
      maxConnectionsPerAddress: file.http.max_connections_per_address,
      cors: file.http.cors,
    },
    rateLimit: {
      tokensPerSec: file.rate_limit.tokens_per_second,
      burst: file.rate_limit.burst,
      keyTokensPerSec: file.rate_limit.key_tokens_per_second,
      keyBurst: file.rate_limit.key_burst,
      apiKeys: file.rate_limit.api_keys.map((hash) => hash.toLowerCase()),
      trustedProxies: file.rate_limit.trusted_proxies,
      allow: file.rate_limit.allow,
      maxClients: file.rate_limit.max_clients,
    },
    ops: { host: file.ops.host, port: file.ops.port },
    pool: { workers: file.pool.workers, maxQueue: file.pool.max_queue },
    feed: {
      keepEvents: file.feed.keep_events,
      maxBufferBytes: file.feed.max_buffer_bytes,
      maxReaders: file.feed.max_readers,
      maxReadersPerClient: file.feed.max_readers_per_client,
    },
    log: { level: file.log.level, format: file.log.format, requests: file.log.requests },
    explorer: { ...file.explorer, hasUnlockedAccounts: false },
    dialects: toDialects(file.dialects),
    health: {
      syncedLagBlocks: file.health.synced_lag_blocks,
      maxLagBlocks: file.health.max_lag_blocks,
      readyWhileSyncing: file.health.ready_while_syncing,
      maxRpcDownMs: file.health.max_rpc_down_ms,
      heartbeatTimeoutMs: file.health.heartbeat_timeout_ms,
    },
    ...(file.cluster.servers.length === 0 ? {} : { cluster: toCluster(file.cluster) }),
    networks: file.networks.map((network) => toNetwork(network, environment)),
  })
}

function toDialects({ aggkit, hub, proof, zkevm }: ConfigFile['dialects']): DialectsConfig {
  const places = ({ base_path: basePath, port }: { readonly base_path: string; readonly port?: number }) => ({
    basePath,
    ...(port === undefined ? {} : { port }),
  })
  return {
    ...(aggkit.enabled ? { aggkit: { ...places(aggkit), release: aggkit.release } } : {}),
    ...(hub.enabled ? { hub: places(hub) } : {}),
    ...(proof.enabled ? { proof: places(proof) } : {}),
    ...(zkevm.enabled ? { zkevm: places(zkevm) } : {}),
  }
}

function toCluster(cluster: ConfigFile['cluster']): ClusterConfig {
  return {
    servers: cluster.servers,
    name: cluster.name,
    instance: cluster.instance ?? hostname(),
    role: cluster.role,
    replicas: cluster.replicas === 1 ? 1 : 3,
    maxLogBytes: cluster.max_log_bytes,
    maxLagMs: cluster.max_lag_ms,
    maxStaleMs: cluster.max_stale_ms,
    snapshotEveryMs: cluster.snapshot_every_ms,
    access: toAccess(cluster),
  }
}

/** The checks have read each file. */
function toAccess(cluster: ConfigFile['cluster']): ServerAccess {
  const { user, password_file, nkey_file, creds_file, tls, tls_ca_file, tls_cert_file, tls_key_file } =
    cluster
  const read = (file: string): string => readSecret(file) ?? ''
  const credentials = ((): ServerAccess['credentials'] => {
    if (user !== undefined) return { type: 'password', user, password: read(password_file!) }
    if (nkey_file !== undefined) return { type: 'nkey', seed: read(nkey_file) }
    return creds_file === undefined ? undefined : { type: 'creds', text: read(creds_file) }
  })()
  return {
    ...(credentials === undefined ? {} : { credentials }),
    ...(tls
      ? {
          tls: {
            ...(tls_ca_file === undefined ? {} : { ca: read(tls_ca_file) }),
            ...(tls_cert_file === undefined ? {} : { cert: read(tls_cert_file) }),
            ...(tls_key_file === undefined ? {} : { key: read(tls_key_file) }),
          },
        }
      : {}),
  }
}

function toNetwork(network: NetworkTable, environment: Environment): NetworkConfig {
  return {
    networkId: network.network_id,
    chainId: network.chain_id,
    rpc: network.rpc.map((endpoint, position) =>
      toEndpoint(endpoint, endpointName(network.network_id, position), environment),
    ),
    bridge: network.bridge.toLowerCase(),
    globalExitRootManager: network.global_exit_root_manager.toLowerCase(),
    ...(network.rollup_manager === undefined ? {} : { rollupManager: network.rollup_manager.toLowerCase() }),
    startBlock: network.start_block,
    finality: parseFinality(network.finality)!,
    rollbackBlocks: network.rollback_blocks,
    logRange: network.log_range,
    pollIntervalMs: network.poll_interval_ms,
    rpcTimeoutMs: network.rpc_timeout_ms,
    rpcMaxResponseBytes: network.rpc_max_response_bytes,
    stalledAfterMs: network.stalled_after_ms ?? (network.network_id === 0 ? STALLED_L1_MS : STALLED_L2_MS),
    callTraces: network.call_traces,
    gerInjection: network.ger_injection,
    ...(network.name === undefined ? {} : { name: network.name }),
    ...(network.explorer_url === undefined ? {} : { explorerUrl: network.explorer_url.replace(/\/+$/, '') }),
    ...(network.public_rpc === undefined ? {} : { publicRpc: network.public_rpc }),
  }
}

function toEndpoint(endpoint: RpcTable, usualAlias: string, environment: Environment): RpcEndpointConfig {
  const wsUrl =
    endpoint.ws_url ?? (endpoint.ws_url_file === undefined ? undefined : readSecret(endpoint.ws_url_file))
  const url = endpoint.url ?? readSecret(endpoint.url_file!)!
  const proxy = proxyFor(url, environment)
  const wsProxy = wsUrl === undefined ? undefined : proxyFor(wsUrl, environment)
  return {
    url,
    alias: endpoint.alias ?? usualAlias,
    ...(endpoint.max_log_range === undefined ? {} : { maxLogRange: endpoint.max_log_range }),
    ...(endpoint.max_rps === undefined ? {} : { maxRps: endpoint.max_rps }),
    ...(endpoint.max_batch === undefined ? {} : { maxBatch: endpoint.max_batch }),
    ...(endpoint.weight === undefined ? {} : { weight: endpoint.weight }),
    ...(endpoint.role === undefined ? {} : { role: endpoint.role }),
    ...(wsUrl === undefined ? {} : { wsUrl }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(wsProxy === undefined ? {} : { wsProxy }),
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) deepFreeze(child)
    Object.freeze(value)
  }
  return value
}
