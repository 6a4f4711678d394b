import { join } from 'node:path'
import type { Config, NetworkConfig } from '../config/config.types.js'
import { endpointName } from '../config/endpointName.js'
import type { Devnet } from './devnet.js'
import type { DevnetChain } from './devnetChain.js'

export interface ServicePorts {
  /** 0 = any free port. */
  readonly httpPort: number
  readonly opsPort: number
}

/** The service's configuration on a devnet. Its data is in the devnet's folder, and it polls as fast as the chains make blocks. */
export function devnetServiceConfig(devnet: Devnet, { httpPort, opsPort }: ServicePorts): Config {
  return {
    dataDir: join(devnet.folder, 'store'),
    primaryNetwork: 1,
    http: {
      host: '127.0.0.1',
      port: httpPort,
      threads: 1,
      maxUrlBytes: 2048,
      deadlineMs: 10_000,
      drainDelayMs: 0,
      cacheBytes: 64 * 1024 ** 2,
      compress: true,
      transport: 'auto',
      adaptCore: true,
      maxResponseBytes: 16 * 1024 ** 2,
      maxConnections: 'auto',
      maxConnectionsPerAddress: 'auto',
      cors: '*',
    },
    rateLimit: {
      tokensPerSec: 0,
      burst: 200,
      keyTokensPerSec: 1_000,
      keyBurst: 5_000,
      apiKeys: [],
      trustedProxies: [],
      allow: [],
      maxClients: 1,
    },
    ops: { host: '127.0.0.1', port: opsPort },
    pool: { workers: 1, maxQueue: 1024 },
    feed: { keepEvents: 100_000, maxBufferBytes: 262_144, maxReaders: 100, maxReadersPerClient: 100 },
    log: { level: 'warn', format: 'auto', requests: 'auto' },
    explorer: { enabled: true, title: 'Devnet', accent: '#2f55d4', hasUnlockedAccounts: true },
    dialects: {
      aggkit: { basePath: '/aggkit', release: 'latest' },
      hub: { basePath: '/hub/devnet' },
      proof: { basePath: '/proof' },
      zkevm: { basePath: '/zkevm' },
    },
    health: {
      syncedLagBlocks: 5,
      maxLagBlocks: 100,
      readyWhileSyncing: false,
      maxRpcDownMs: 60_000,
      heartbeatTimeoutMs: 60_000,
    },
    shutdownGraceMs: 5_000,
    networks: devnet.chains.map(networkConfig),
  }
}

function networkConfig({ networkId, chainId, rpcUrl, contracts }: DevnetChain): NetworkConfig {
  const { bridge, globalExitRootManager, rollupManager } = contracts
  return {
    networkId,
    chainId,
    rpc: [{ url: rpcUrl, alias: endpointName(networkId, 0) }],
    bridge: bridge.toLowerCase(),
    globalExitRootManager: globalExitRootManager.toLowerCase(),
    ...(rollupManager === undefined ? {} : { rollupManager: rollupManager.toLowerCase() }),
    startBlock: 0,
    // On the devnet's L1 a block is final when two more are on top of it. On an L2 every block counts as final.
    finality: networkId === 0 ? { tag: 'finalized', depth: 0 } : { tag: 'latest', depth: 0 },
    rollbackBlocks: 512,
    logRange: 5_000,
    pollIntervalMs: 200,
    rpcTimeoutMs: 10_000,
    rpcMaxResponseBytes: 64 * 1024 ** 2,
    // The chains make blocks only for transactions.
    stalledAfterMs: 0,
    callTraces: 'auto',
    gerInjection: 'auto',
    publicRpc: rpcUrl,
  }
}
