import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { presets } from './presets.js'

/*
 * The configuration file, key by key: type, limits, default, unit and one sentence. Loading, flags, environment names,
 * `bds config default` and the table in docs/configuration.md are all made from this schema.
 */

interface KeyOptions {
  readonly description: string
  readonly default?: unknown
  /** Unit of the number, when the key has one. */
  readonly unit?:
    | 'ms'
    | 'bytes'
    | 'blocks'
    | 'calls'
    | 'requests'
    | 'requests/s'
    | 'events'
    | 'threads'
    | 'tokens'
    | 'tokens/s'
    | 'clients'
    | 'connections'
}

const MAX_UINT32 = 2 ** 32 - 1

const text = (options: KeyOptions) => Type.String({ minLength: 1, ...options })
const integer = (minimum: number, maximum: number, options: KeyOptions) =>
  Type.Integer({ minimum, maximum, ...options })
const choice = <const T extends readonly string[]>(values: T, options: KeyOptions) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options })
/** Most front threads of a service, also by `auto`. */
export const MOST_FRONT_THREADS = 64
/** A number, or `auto`. */
const integerOrAuto = (minimum: number, maximum: number, options: KeyOptions) =>
  Type.Unsafe<number | 'auto'>({
    anyOf: [
      { type: 'integer', minimum, maximum },
      { type: 'string', const: 'auto' },
    ],
    ...options,
  })
const flag = (options: KeyOptions) => Type.Boolean({ ...options })
const section = <T extends Record<string, TSchema>>(keys: T, description: string) =>
  Type.Object(keys, { additionalProperties: false, default: {}, description })

const texts = (options: KeyOptions) =>
  Type.Array(Type.String({ minLength: 1 }), { minItems: 0, maxItems: 256, ...options })

/** A path that stands in front of all paths of an API. */
const basePath = (fallback: string) =>
  text({
    default: fallback,
    description: 'Stands in front of its paths: `/name`, without a slash at its end.',
  })

const port = (options: KeyOptions) => integer(0, 65_535, options)
/** A port on which one API of another service is answered alone. */
const ownPort = () =>
  Type.Optional(
    integer(1, 65_535, {
      description:
        'A port of its own beside `http.port`, on the same host: only this API is answered there, without a base path. None if absent.',
    }),
  )
const address = (description: string) =>
  Type.String({ pattern: '^0[xX][0-9a-fA-F]{40}$', description: `${description}; 0x and 40 hex digits.` })

const RpcEndpoint = Type.Object(
  {
    url: Type.Optional(text({ description: 'Address of the endpoint (secret).' })),
    url_file: Type.Optional(text({ description: 'File that holds the address, instead of `url`.' })),
    alias: Type.Optional(
      text({
        description: 'Name in logs and metrics; `1-a` for the first of network 1 if absent. Not public.',
      }),
    ),
    max_log_range: Type.Optional(
      integer(1, 10_000_000, { unit: 'blocks', description: 'Widest `eth_getLogs` range it answers.' }),
    ),
    max_rps: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 100_000,
        unit: 'requests/s',
        description: 'Most requests per second to send to it.',
      }),
    ),
    max_batch: Type.Optional(
      integer(1, 1_000, {
        unit: 'calls',
        description: 'Most calls to send in one request, 1 = no batches. 50 if absent; shrinks by itself.',
      }),
    ),
    weight: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000,
        description:
          'Endpoints of greater weight are preferred while they work; those of equal weight in their order. 1 if absent.',
      }),
    ),
    role: Type.Optional(
      choice(['all', 'logs', 'state', 'trace'], {
        description:
          'What it is asked for: everything, or only blocks, logs and transactions (`logs`), contract calls (`state`) or call traces (`trace`).',
      }),
    ),
    ws_url: Type.Optional(
      text({ description: 'WebSocket address that announces new heads, a hint to look earlier (secret).' }),
    ),
    ws_url_file: Type.Optional(text({ description: 'File that holds that address, instead of `ws_url`.' })),
  },
  { additionalProperties: false },
)

const Network = Type.Object(
  {
    network_id: integer(0, MAX_UINT32 - 1, {
      description: 'Id of the network in the bridge; 0 = layer 1.',
    }),
    chain_id: integer(1, Number.MAX_SAFE_INTEGER, {
      description: 'Chain id; compared with every endpoint at start.',
    }),
    rpc: Type.Array(RpcEndpoint, {
      minItems: 1,
      maxItems: 32,
      description:
        'JSON-RPC endpoints, first choice first: addresses, or tables `{url | url_file, alias, max_log_range, max_rps, max_batch, weight, role, ws_url | ws_url_file}`. Secret.',
    }),
    bridge: address('Bridge contract'),
    global_exit_root_manager: address('Global exit root manager'),
    rollup_manager: Type.Optional(address('Rollup manager (network 0 only, needed there)')),
    start_block: integer(0, Number.MAX_SAFE_INTEGER, {
      default: 0,
      description: 'First block to read: at or below the block of the first bridge contract.',
    }),
    finality: text({
      default: 'finalized',
      description:
        'What counts as final: `latest`, `safe`, `finalized`, `depth:64` (blocks below the head) or `finalized-64`; `FinalizedBlock` and `LatestBlock/-6` are read too.',
    }),
    rollback_blocks: integer(1, 1_000_000, {
      default: 512,
      unit: 'blocks',
      description: 'Depth of reorgs that can be followed.',
    }),
    log_range: integer(1, 10_000_000, {
      default: 5_000,
      unit: 'blocks',
      description: 'Width of an `eth_getLogs` window in backfill; narrows by itself.',
    }),
    poll_interval_ms: integer(10, 3_600_000, {
      default: 2_000,
      unit: 'ms',
      description: 'Time between looks at the head.',
    }),
    rpc_timeout_ms: integer(100, 600_000, {
      default: 10_000,
      unit: 'ms',
      description: 'Longest wait for one answer of an endpoint.',
    }),
    rpc_max_response_bytes: integer(65_536, 500_000_000, {
      default: 64 * 1024 ** 2,
      unit: 'bytes',
      description:
        'Longest answer of an endpoint that is accepted, unpacked; what is longer is asked for in parts. For heads and calls of contracts it is 4 MiB at most.',
    }),
    stalled_after_ms: Type.Optional(
      integer(0, 366 * 24 * 3_600_000, {
        unit: 'ms',
        description:
          'The network is `stalled` when its head is older than this and does not move; 0 = never. Default: 1800000 (30 min) for network 0, 21600000 (6 h) for others.',
      }),
    ),
    call_traces: choice(['auto', 'off'], {
      default: 'auto',
      description:
        '`auto`: ask for call traces, and ask again later where they are refused; `off`: never, `tx.from` counts as the caller.',
    }),
    ger_injection: choice(['auto', 'event', 'poll'], {
      default: 'auto',
      description:
        'How the network learns of global exit roots: by events, or (managers without events) by asking for each.',
    }),
    name: Type.Optional(text({ description: 'Name of the network on the page at `/explorer`.' })),
    explorer_url: Type.Optional(
      text({ description: 'Block explorer that the page links to: `/tx/…` and `/address/…` follow it.' }),
    ),
    public_rpc: Type.Optional(
      text({
        description:
          'JSON-RPC endpoint that the page asks from the browser, to compare proofs with the chain. Everybody who opens the page sees it: no key may stand in it.',
      }),
    ),
  },
  { additionalProperties: false, description: 'One table per network.' },
)

export const ConfigFile = Type.Object(
  {
    data_dir: text({ default: './data', description: 'Folder of the store; one folder per network in it.' }),
    preset: Type.Optional(
      choice(Object.keys(presets), {
        description:
          'Public deployment whose chain ids, contracts and start block the networks have; each then needs `network_id` and `rpc` only.',
      }),
    ),
    primary_network: Type.Optional(
      integer(0, MAX_UINT32 - 1, {
        description: 'Network that the health record describes. Default: the first layer 2, else 0.',
      }),
    ),
    shutdown_grace_ms: integer(100, 600_000, {
      default: 20_000,
      unit: 'ms',
      description: 'Longest time from the end of the drain delay to the exit.',
    }),
    http: section(
      {
        host: text({ default: '127.0.0.1', description: 'Address to listen on.' }),
        port: port({ default: 5577, description: 'Port of the API; 0 = any free port.' }),
        threads: integerOrAuto(1, MOST_FRONT_THREADS, {
          default: 1,
          unit: 'threads',
          description:
            'Front threads, which share the port; each has query threads of its own. `auto`: one for every four cores, with the query threads that the other cores allow. More than one needs uWebSockets.js on Linux.',
        }),
        max_url_bytes: integer(64, 3_500, {
          default: 2_048,
          unit: 'bytes',
          description: 'Longest path and query; longer is answered 414.',
        }),
        deadline_ms: integer(10, 600_000, {
          default: 10_000,
          unit: 'ms',
          description: 'A request that takes longer is answered 504.',
        }),
        drain_delay_ms: integer(0, 600_000, {
          default: 5_000,
          unit: 'ms',
          description: 'Time between `/readyz` failing and the port closing, so that balancers notice.',
        }),
        cache_bytes: integer(0, 4 * 1024 ** 3, {
          default: 64 * 1024 ** 2,
          unit: 'bytes',
          description:
            'Answers of the current state, with their keys, that all front threads together keep; 0 = none.',
        }),
        compress: flag({
          default: true,
          description:
            'Whether answers above 1 KB are compressed (brotli or gzip) for clients that accept it; false where a proxy does it.',
        }),
        transport: choice(['auto', 'uws', 'node'], {
          default: 'auto',
          description:
            '`auto`: uWebSockets.js where a native build of it loads, else node:http, which takes two to three times the CPU; `uws`: no start without it; `node`: node:http everywhere.',
        }),
        adapt_core: flag({
          default: true,
          description:
            'Whether the modern uWebSockets.js may be run as a copy adapted to glibc 2.36 or 2.37 where no other build runs.',
        }),
        max_response_bytes: integer(10 * 1024 ** 2, 1024 ** 3, {
          default: 16 * 1024 ** 2,
          unit: 'bytes',
          description:
            'Largest answer of a list; a page of 1,000 rows always fits. One bridge asked for by its deposit count, and a claim call, may have 34 MB.',
        }),
        max_connections: integerOrAuto(1, 10_000_000, {
          default: 'auto',
          unit: 'connections',
          description:
            'Most connections at once, of all front threads together; further ones are closed. `auto`: what the limit of descriptors allows, less those for operations, stores and endpoints; a number above that counts as that.',
        }),
        max_connections_per_address: integerOrAuto(0, 10_000_000, {
          default: 'auto',
          unit: 'connections',
          description:
            'Most connections of one address (IPv6: a /64), in force only while more than half of all are taken; `rate_limit.trusted_proxies` and `rate_limit.allow` are free of it. `auto`: a quarter of `http.max_connections`; 0 = any number. Linux only.',
        }),
        cors: text({ default: '*', description: '`*`, `off`, or one origin that may read the answers.' }),
      },
      'The API.',
    ),
    rate_limit: section(
      {
        tokens_per_second: integer(0, 1_000_000, {
          default: 0,
          unit: 'tokens/s',
          description:
            'Tokens that a client, known by its address, gets back per second; 0 = nobody is limited. A point costs 1, a proof 2, a page 1 and the hundredth part of its rows, compressed three times that. 50 are recommended.',
        }),
        burst: integer(10, 10_000_000, {
          default: 200,
          unit: 'tokens',
          description: 'Most tokens that a client can save up.',
        }),
        key_tokens_per_second: integer(1, 1_000_000, {
          default: 1_000,
          unit: 'tokens/s',
          description: 'Tokens that a client with an API key gets back per second.',
        }),
        key_burst: integer(10, 10_000_000, {
          default: 5_000,
          unit: 'tokens',
          description: 'Most tokens that a client with an API key can save up.',
        }),
        api_keys: texts({
          default: [],
          description: 'SHA-256 of each API key, 64 hex digits. Sent as `X-API-Key` or as a bearer token.',
        }),
        trusted_proxies: texts({
          default: [],
          description: 'Addresses or ranges (`10.0.0.0/8`) of proxies whose `X-Forwarded-For` is believed.',
        }),
        allow: texts({ default: [], description: 'Addresses or ranges of clients that are never limited.' }),
        max_clients: integer(1, 10_000_000, {
          default: 65_536,
          unit: 'clients',
          description:
            'Most clients that all front threads together remember, and as many IPv6 sites (/48); the one that was silent for longest is forgotten. Each takes about 300 bytes.',
        }),
      },
      'Rate limits and API keys.',
    ),
    ops: section(
      {
        host: text({ default: '127.0.0.1', description: 'Address to listen on.' }),
        port: port({ default: 9091, description: 'Port of metrics and probes; 0 = any free port.' }),
      },
      'Metrics and probes.',
    ),
    pool: section(
      {
        workers: integer(1, 64, {
          default: 1,
          unit: 'threads',
          description:
            'Threads that answer queries, for each front thread. With `http.threads = "auto"` there may be more.',
        }),
        max_queue: integer(1, 1_000_000, {
          default: 4_096,
          unit: 'requests',
          description:
            'Most requests of one lane that may wait, of all front threads together; more are answered 503.',
        }),
      },
      'Query threads.',
    ),
    feed: section(
      {
        keep_events: integer(1_000, 1_000_000_000, {
          default: 1_000_000,
          unit: 'events',
          description:
            'Events of each network that are kept. Whoever asks for those after an older one must read the lists again.',
        }),
        max_buffer_bytes: integer(16_384, 16_777_216, {
          default: 262_144,
          unit: 'bytes',
          description:
            'Most bytes of events that wait for a client that is slow to take them. It is cut off then, and may go on from where it was.',
        }),
        max_readers: integer(0, 1_000_000, {
          default: 10_000,
          unit: 'connections',
          description: 'Most connections that get events; more are answered 503. 0 = no events.',
        }),
        max_readers_per_client: integer(1, 1_000_000, {
          default: 100,
          unit: 'connections',
          description:
            'Most of them that one client has at one front thread, as rate limits count clients; more are answered 429.',
        }),
      },
      'The feed of events.',
    ),
    log: section(
      {
        level: choice(['error', 'warn', 'info', 'debug'], {
          default: 'info',
          description: 'Least severe lines that are written.',
        }),
        format: choice(['json', 'pretty', 'auto'], {
          default: 'auto',
          description: '`auto`: pretty on a terminal, else JSON lines.',
        }),
        requests: choice(['auto', 'all', 'failed', 'off'], {
          default: 'auto',
          description:
            'Which requests to the API have a line, with id, route, status, time and client. `auto`: each, at `debug`; `all`: each, at `info`; `failed`: those answered 500 and above, at `warn`; `off`: none.',
        }),
      },
      'Log lines, on standard error.',
    ),
    explorer: section(
      {
        enabled: flag({ default: true, description: 'Whether the page at `/explorer` is served.' }),
        title: text({ default: 'Bridges', description: 'Name of the deployment, on the page.' }),
        accent: text({
          default: '#2f55d4',
          description: 'Colour of links and buttons, `#rrggbb`; dark enough to be read on white.',
        }),
      },
      'The page at `/explorer`, on the port of the API.',
    ),
    dialects: section(
      {
        aggkit: section(
          {
            enabled: flag({
              default: true,
              description: "Whether the API of aggkit's bridge service is spoken, for all networks at once.",
            }),
            base_path: basePath('/aggkit'),
            port: ownPort(),
            release: choice(['latest', 'rc6', 'rc5', '0.6'], {
              default: 'latest',
              description:
                'As which release line it answers: the newest, v0.11.0-rc6, those before it from September 2025 on, or v0.6.',
            }),
          },
          'The API of aggkit.',
        ),
        hub: section(
          {
            enabled: flag({ default: true, description: 'Whether the API of Bridge Hub is spoken.' }),
            base_path: basePath('/hub/mainnet'),
            port: ownPort(),
          },
          'The API of Bridge Hub: the last part of its base path is the environment that clients ask for.',
        ),
        proof: section(
          {
            enabled: flag({
              default: true,
              description: 'Whether the proof API of lxly.js and agglayer-viem is spoken.',
            }),
            base_path: basePath('/proof'),
            port: ownPort(),
          },
          'The proof API.',
        ),
        zkevm: section(
          {
            enabled: flag({
              default: true,
              description:
                'Whether the REST API of zkevm-bridge-service is spoken, for all networks at once.',
            }),
            base_path: basePath('/zkevm'),
            port: ownPort(),
          },
          'The API of zkevm-bridge-service.',
        ),
      },
      'APIs of other services, on the port of our own and on ports of their own.',
    ),
    health: section(
      {
        synced_lag_blocks: integer(0, 100_000_000, {
          default: 32,
          unit: 'blocks',
          description:
            'When a network is further behind its head, `is_synced` is false and the service degraded.',
        }),
        max_lag_blocks: integer(1, 100_000_000, {
          default: 1_000,
          unit: 'blocks',
          description: 'When a network is further behind its head, `/readyz` fails.',
        }),
        ready_while_syncing: flag({
          default: false,
          description: 'Whether `/readyz` succeeds before the first catch-up.',
        }),
        max_rpc_down_ms: integer(1_000, 86_400_000, {
          default: 300_000,
          unit: 'ms',
          description:
            '`/readyz` fails after no endpoint of a network has answered, or shown a head as high as what is stored, for this long.',
        }),
        heartbeat_timeout_ms: integer(1_000, 86_400_000, {
          default: 120_000,
          unit: 'ms',
          description: 'An indexer thread that is silent for this long ends the process.',
        }),
      },
      'Limits of health and readiness.',
    ),
    cluster: section(
      {
        servers: texts({
          default: [],
          description:
            'NATS servers with JetStream, `host:port` each: this instance shares one log per network with all others that use them. Empty = it is alone.',
        }),
        name: Type.String({
          pattern: '^[A-Za-z0-9_-]{1,32}$',
          default: 'bds',
          description:
            'Name of the cluster, the same for all its instances: streams and buckets begin with it. Letters, digits, `-` and `_`.',
        }),
        instance: Type.Optional(
          text({
            description: 'Name of this instance in `bds cluster status`. Default: name of the machine.',
          }),
        ),
        role: choice(['any', 'replica'], {
          default: 'any',
          description:
            '`any`: reads the chains of networks that no other instance reads; `replica`: only ever follows the others.',
        }),
        replicas: integer(1, 3, {
          default: 3,
          description: 'On how many servers each log is stored: 3, or 1 for trials with one server.',
        }),
        max_log_bytes: integer(10_000_000, 2 ** 43, {
          default: 8 * 1024 ** 3,
          unit: 'bytes',
          description:
            'Largest log of a network, which the servers reserve; the same for all instances. A full log stops its network.',
        }),
        max_lag_ms: integer(3_000, 3_600_000, {
          default: 10_000,
          unit: 'ms',
          description: '`/readyz` fails while this instance is further behind a log.',
        }),
        max_stale_ms: integer(3_000, 3_600_000, {
          default: 10_000,
          unit: 'ms',
          description:
            '`/readyz` fails when no NATS server has answered for so long. A network whose head nobody has told for so long counts as one without endpoints.',
        }),
        snapshot_every_ms: integer(0, 2_592_000_000, {
          default: 21_600_000,
          unit: 'ms',
          description:
            'Time between two snapshots of all networks, which one of the instances makes for all; the same for all. 0 = only when a log gets full, and by `bds cluster snapshot`.',
        }),
        user: Type.Optional(text({ description: 'User of the NATS servers, with `password_file`.' })),
        password_file: Type.Optional(text({ description: 'File that holds the password.' })),
        nkey_file: Type.Optional(
          text({ description: 'File that holds the seed of an NKey, `SU…`, instead.' }),
        ),
        creds_file: Type.Optional(text({ description: 'Credentials file of `nsc`, instead.' })),
        tls: flag({
          default: false,
          description: 'Whether connections must use TLS. If false, they do so where a server offers it.',
        }),
        tls_ca_file: Type.Optional(
          text({ description: 'Certificates of authorities, PEM. Default: those that Node knows.' }),
        ),
        tls_cert_file: Type.Optional(
          text({ description: 'Certificate of this instance, PEM, for servers that ask for one.' }),
        ),
        tls_key_file: Type.Optional(text({ description: 'Its key, PEM.' })),
      },
      'Several instances with one log per network, on NATS JetStream.',
    ),
    networks: Type.Array(Network, { minItems: 1, maxItems: 1_024, description: 'The networks to index.' }),
  },
  { additionalProperties: false, description: 'Configuration of the bridge data service.' },
)

/** A checked configuration file with its defaults; `rpc` strings have become tables. */
export type ConfigFile = Static<typeof ConfigFile>
export type NetworkTable = Static<typeof Network>
export type RpcTable = Static<typeof RpcEndpoint>
