import type { ServerAccess } from '../cluster/clusterServers.js'

/** The loaded configuration: plain, frozen data that threads get as `workerData`. */
export interface Config {
  readonly dataDir: string
  readonly primaryNetwork: number
  readonly http: HttpConfig
  readonly rateLimit: RateLimitConfig
  readonly ops: { readonly host: string; readonly port: number }
  readonly pool: {
    /** Query threads of each front thread; `http.threads = "auto"` may start more. */
    readonly workers: number
    readonly maxQueue: number
  }
  readonly feed: {
    /** Events of each network that are kept: whoever asks for what came after an older one reads the lists again. */
    readonly keepEvents: number
    /** Of one connection: what its client does not take waits up to here. */
    readonly maxBufferBytes: number
    /** Connections that get events, in all and of one client. */
    readonly maxReaders: number
    readonly maxReadersPerClient: number
  }
  readonly log: {
    readonly level: 'error' | 'warn' | 'info' | 'debug'
    readonly format: 'json' | 'pretty' | 'auto'
    /** Which requests have a line: each at `debug` (`auto`), each, those answered 500 and above, or none. */
    readonly requests: 'auto' | 'all' | 'failed' | 'off'
    /** Level and requests in force, which a reload changes in all threads; made when a service starts. */
    readonly shared?: SharedArrayBuffer
  }
  readonly health: HealthConfig
  readonly explorer: ExplorerConfig
  readonly dialects: DialectsConfig
  /** Absent: this instance is alone. */
  readonly cluster?: ClusterConfig
  /** Longest time from the end of the drain delay to the exit; then the process is killed. */
  readonly shutdownGraceMs: number
  readonly networks: readonly NetworkConfig[]
}

/** One instance of several that share a log per network. */
export interface ClusterConfig {
  /** `host:port` of NATS servers. */
  readonly servers: readonly string[]
  /** Begins the names of streams and buckets. */
  readonly name: string
  /** Of this instance, for people. */
  readonly instance: string
  readonly role: 'any' | 'replica'
  /** Servers that store each log. */
  readonly replicas: 1 | 3
  readonly maxLogBytes: number
  /** `/readyz` fails while this instance is further behind a log. */
  readonly maxLagMs: number
  /** `/readyz` fails when no server has answered for so long; a head that nobody has told for so long is unknown. */
  readonly maxStaleMs: number
  /** Time between two snapshots of all networks, which one of the instances makes; 0: none is made by itself. */
  readonly snapshotEveryMs: number
  readonly access: ServerAccess
  /**
   * Networks whose stores were replaced since the process started. `sequence`: up to where the old store had followed its log, when it differed
   * from it and the new one does not come from the same instance: two that differ at the same mark tell that it is wrong. Set by the running process.
   */
  readonly renewed?: Readonly<Record<number, { readonly atUnixMs: number; readonly sequence?: number }>>
}

export interface HttpConfig {
  readonly host: string
  readonly port: number
  /** Front threads; `auto`: as many as the cores allow (`cellSizes`). */
  readonly threads: number | 'auto'
  /** Longest URL (path and query) in bytes; longer → 414. */
  readonly maxUrlBytes: number
  /** A request older than this is answered 504. */
  readonly deadlineMs: number
  /** Time between readiness failing and the listen socket closing, so that balancers notice. */
  readonly drainDelayMs: number
  /** Bytes of answers that the front keeps; 0 = none. */
  readonly cacheBytes: number
  /** Whether answers are compressed for clients that accept it. */
  readonly compress: boolean
  /** What speaks HTTP with clients; `auto`: uWebSockets.js where a native build loads, else node:http. */
  readonly transport: 'auto' | 'uws' | 'node'
  /** Whether a copy of the native HTTP core may be adapted to an older glibc. */
  readonly adaptCore: boolean
  /** An answer that would be larger is refused. */
  readonly maxResponseBytes: number
  /** Most connections at once; `auto`: what the limit of descriptors allows. */
  readonly maxConnections: number | 'auto'
  /** Most of one address while more than half of `maxConnections` are taken; `auto`: a quarter of them; 0 = any number. */
  readonly maxConnectionsPerAddress: number | 'auto'
  /** `*`, `off`, or one origin. */
  readonly cors: string
}

/** Token buckets per client: each request takes the cost of its route. */
export interface RateLimitConfig {
  /** Tokens that come back per second to a client known by address; 0 = nobody is limited. */
  readonly tokensPerSec: number
  readonly burst: number
  readonly keyTokensPerSec: number
  readonly keyBurst: number
  /** SHA-256 of each key, 64 lower-case hex digits. */
  readonly apiKeys: readonly string[]
  /** Address ranges whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
  /** Address ranges that are never limited. */
  readonly allow: readonly string[]
  /** Most buckets kept of clients known by address, and as many of those with an API key. */
  readonly maxClients: number
}

/** APIs of other services that are spoken beside our own; those that are switched off are absent. */
export interface DialectsConfig {
  readonly aggkit?: DialectConfig & { readonly release: AggkitRelease }
  /** Its base path ends with the name of the environment. */
  readonly hub?: DialectConfig
  readonly proof?: DialectConfig
  readonly zkevm?: DialectConfig
}

interface DialectConfig {
  /** In front of its paths, without a slash at its end. */
  readonly basePath: string
  /** A port beside that of the API, on which nothing else is answered, without a base path. 0 = any free port. */
  readonly port?: number
}

/** Release lines of aggkit, as in `api/dialects/aggkit`. */
export type AggkitRelease = 'latest' | 'rc6' | 'rc5' | '0.6'

/** The page at `/explorer`. */
export interface ExplorerConfig {
  readonly enabled: boolean
  readonly title: string
  /** `#rrggbb`. */
  readonly accent: string
  /** Whether the page may claim through accounts that `publicRpc` holds the keys of: on the devnet only. */
  readonly hasUnlockedAccounts: boolean
}

export interface HealthConfig {
  /** `is_synced` is false, and the service degraded, above this many blocks behind the head. */
  readonly syncedLagBlocks: number
  /** `/readyz` fails above this many blocks behind the head. */
  readonly maxLagBlocks: number
  readonly readyWhileSyncing: boolean
  /** `/readyz` fails after no endpoint of a network has answered, or shown a head as high as what is stored, for this long. */
  readonly maxRpcDownMs: number
  /** An indexer thread without a sign of life for this long ends the process. */
  readonly heartbeatTimeoutMs: number
}

export interface RpcEndpointConfig {
  /** Secret: never logged. */
  readonly url: string
  /** Name in logs and metrics; default `1-a` (`endpointName`). */
  readonly alias: string
  /** Widest `eth_getLogs` range in blocks. */
  readonly maxLogRange?: number
  /** Requests per second. */
  readonly maxRps?: number
  /** Most calls of one request; 1 = no batches. */
  readonly maxBatch?: number
  /** Endpoints of greater weight are preferred; those of equal weight in their order. Default 1. */
  readonly weight?: number
  /** What the endpoint is asked for; default everything. */
  readonly role?: EndpointRole
  /** WebSocket address that announces new heads, used as a hint. Secret: never logged. */
  readonly wsUrl?: string
  /** Proxies through which `url` and `wsUrl` are reached. Secret: never logged. */
  readonly proxy?: string
  readonly wsProxy?: string
}

/** `logs`: blocks, logs and transactions. `state`: contract calls. `trace`: call traces. */
export type EndpointRole = 'all' | 'logs' | 'state' | 'trace'

/** The newest final block: that of a tag, or `depth` blocks below it. */
export interface Finality {
  readonly tag: 'latest' | 'safe' | 'finalized'
  /** Blocks below the tag. */
  readonly depth: number
}

export interface NetworkConfig {
  readonly networkId: number
  readonly chainId: number
  readonly rpc: readonly RpcEndpointConfig[]
  /** 0x + 40 hex digits, lower case. */
  readonly bridge: string
  readonly globalExitRootManager: string
  /** Network 0 only. */
  readonly rollupManager?: string
  readonly startBlock: number
  readonly finality: Finality
  /** Depth of reorgs that can be followed. */
  readonly rollbackBlocks: number
  /** Blocks per `eth_getLogs` in backfill; narrows by itself where an endpoint refuses. */
  readonly logRange: number
  readonly pollIntervalMs: number
  readonly rpcTimeoutMs: number
  /** Longest answer accepted from an endpoint. */
  readonly rpcMaxResponseBytes: number
  /** The network is `stalled` when its head is older than this and does not move; 0 = never. */
  readonly stalledAfterMs: number
  /** `auto`: ask for call traces while the node offers them. `off`: never. */
  readonly callTraces: 'auto' | 'off'
  /** How injections are found: by events, or (managers without such events) by polling the manager's map. */
  readonly gerInjection: 'auto' | 'event' | 'poll'
  /** Name on the page. */
  readonly name?: string
  /** Block explorer that the page links to, without a slash at its end. */
  readonly explorerUrl?: string
  /** Endpoint that the page asks from the browser; public. */
  readonly publicRpc?: string
}
