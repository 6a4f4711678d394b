import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConfigError } from '../../../src/config/configError.js'
import { type ConfigInputs, type LoadedConfig, loadConfig } from '../../../src/config/load.js'
import { renderLoaded } from '../../../src/config/render.js'
import { withoutSecrets } from '../../../src/telemetry/secrets.js'
import { EXAMPLE_TOML } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

function load(context: TestContext, toml: string, inputs: Omit<ConfigInputs, 'file'> = {}): LoadedConfig {
  const file = join(tempFolder(context), 'bds.toml')
  writeFileSync(file, toml)
  return loadConfig({ file, environment: {}, ...inputs })
}

function mistakesOf(
  context: TestContext,
  toml: string,
  inputs: Omit<ConfigInputs, 'file'> = {},
): readonly string[] {
  try {
    load(context, toml, inputs)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.mistakes
  }
  return []
}

test("the example file becomes a configuration in the code's words, with every default", (t) => {
  const { config } = load(t, EXAMPLE_TOML)
  assert.deepEqual(config, {
    dataDir: './data',
    primaryNetwork: 1,
    shutdownGraceMs: 20_000,
    http: {
      host: '127.0.0.1',
      port: 5577,
      threads: 1,
      maxUrlBytes: 2048,
      deadlineMs: 10_000,
      drainDelayMs: 5_000,
      cacheBytes: 67_108_864,
      compress: true,
      transport: 'auto',
      adaptCore: true,
      maxResponseBytes: 16_777_216,
      maxConnections: 'auto',
      maxConnectionsPerAddress: 'auto',
      cors: '*',
    },
    rateLimit: {
      tokensPerSec: 0,
      burst: 200,
      keyTokensPerSec: 1000,
      keyBurst: 5000,
      apiKeys: [],
      trustedProxies: [],
      allow: [],
      maxClients: 65_536,
    },
    ops: { host: '127.0.0.1', port: 9091 },
    pool: { workers: 1, maxQueue: 4096 },
    feed: {
      keepEvents: 1_000_000,
      maxBufferBytes: 262_144,
      maxReaders: 10_000,
      maxReadersPerClient: 100,
    },
    log: { level: 'info', format: 'auto', requests: 'auto' },
    explorer: { enabled: true, title: 'Bridges', accent: '#2f55d4', hasUnlockedAccounts: false },
    dialects: { aggkit: { basePath: '/aggkit', release: 'latest' }, ...OTHER_DIALECTS },
    health: {
      syncedLagBlocks: 32,
      maxLagBlocks: 1000,
      readyWhileSyncing: false,
      maxRpcDownMs: 300_000,
      heartbeatTimeoutMs: 120_000,
    },
    networks: [
      {
        networkId: 0,
        chainId: 900,
        rpc: [{ url: 'http://127.0.0.1:18545/secret-key', alias: '0-a' }],
        bridge: '0x2a3dd3eb832af982ec71669e178424b10dca2ede',
        globalExitRootManager: '0x580bda1e7a0cfae92fa7f6c20a3794f169ce3cfb',
        rollupManager: '0x5132a183e9f3cb7c848b0aac5ae0c4f0491b7ab2',
        startBlock: 0,
        finality: { tag: 'latest', depth: 0 },
        rollbackBlocks: 512,
        logRange: 5000,
        pollIntervalMs: 2000,
        rpcTimeoutMs: 10_000,
        rpcMaxResponseBytes: 67_108_864,
        stalledAfterMs: 1_800_000,
        callTraces: 'auto',
        gerInjection: 'auto',
      },
      {
        networkId: 1,
        chainId: 901,
        rpc: [{ url: 'http://127.0.0.1:18546/secret-key', alias: '1-a' }],
        bridge: '0x2a3dd3eb832af982ec71669e178424b10dca2ede',
        globalExitRootManager: '0xa40d5f56745a118d0906a34e69aec8c0db1cb8fa',
        startBlock: 0,
        finality: { tag: 'finalized', depth: 0 },
        rollbackBlocks: 512,
        logRange: 5000,
        pollIntervalMs: 2000,
        rpcTimeoutMs: 10_000,
        rpcMaxResponseBytes: 67_108_864,
        stalledAfterMs: 21_600_000,
        callTraces: 'auto',
        gerInjection: 'auto',
      },
    ],
  })
  assert.deepEqual(structuredClone(config), config, 'crosses to a thread')
  assert.throws(() => Object.assign(config.networks[0]!.rpc[0]!, { url: 'x' }), TypeError, 'frozen in depth')
})

test('flags override the environment, the environment overrides the file, the file overrides the default', (t) => {
  const environment = { BDS_HTTP__PORT: '6000', BDS_POOL__WORKERS: '3', PATH: '/bin' }
  const { config, sources } = load(t, EXAMPLE_TOML, { environment, flags: { 'http-port': '7000' } })
  assert.equal(config.http.port, 7000)
  assert.equal(config.pool.workers, 3)
  assert.equal(config.ops.port, 9091)
  assert.equal(config.http.deadlineMs, 10_000)
  assert.deepEqual(
    ['http.port', 'pool.workers', 'ops.port', 'http.deadline_ms'].map((key) => sources.get(key)),
    ['flag --http-port', 'env BDS_POOL__WORKERS', 'file', undefined],
  )
})

test('the environment sets a network by its id, and adds a network that no file has', (t) => {
  const environment = {
    BDS_NETWORKS__1__RPC: 'http://127.0.0.1:1/a, http://127.0.0.1:2/b',
    BDS_NETWORKS__7__CHAIN_ID: '907',
    BDS_NETWORKS__7__RPC:
      '[{"url":"http://127.0.0.1:3/c","alias":"third","max_rps":2.5,"weight":2,"role":"all"}]',
    BDS_NETWORKS__7__BRIDGE: '0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe',
    BDS_NETWORKS__7__GLOBAL_EXIT_ROOT_MANAGER: '0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA',
  }
  const { networks } = load(t, EXAMPLE_TOML, { environment }).config
  assert.deepEqual(
    networks.map(({ networkId, chainId, rpc }) => ({ networkId, chainId, urls: rpc.map(({ url }) => url) })),
    [
      { networkId: 0, chainId: 900, urls: ['http://127.0.0.1:18545/secret-key'] },
      { networkId: 1, chainId: 901, urls: ['http://127.0.0.1:1/a', 'http://127.0.0.1:2/b'] },
      { networkId: 7, chainId: 907, urls: ['http://127.0.0.1:3/c'] },
    ],
  )
  assert.deepEqual(networks[2]!.rpc, [
    { url: 'http://127.0.0.1:3/c', alias: 'third', maxRps: 2.5, weight: 2, role: 'all' },
  ])
})

test('variables in the file are replaced after parsing, with defaults, and may stand for numbers', (t) => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
  const toml = EXAMPLE_TOML.replace('port = 5577', 'port = "${PORT:-8080}"').replace(
    '"http://127.0.0.1:18546/secret-key"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
    '"http://${HOST}/${KEY}", "http://${HOST:-unused}/b"',
  )
  const environment = { HOST: 'node.example', KEY: 'a"b' }
  const { config } = load(t, toml, { environment })
  assert.equal(config.http.port, 8080)
  assert.deepEqual(
    config.networks[1]!.rpc.map(({ url }) => url),
    ['http://node.example/a"b', 'http://node.example/b'],
  )
  assert.deepEqual(mistakesOf(t, toml, { environment: { KEY: 'k' } }), [
    'networks[1].rpc[0]: the environment has no HOST',
  ])
})

test('an address may be read from a file of its own, and a missing file is a mistake', (t) => {
  const secret = join(tempFolder(t), 'rpc')
  writeFileSync(secret, 'http://127.0.0.1:9/key\n')
  const toml = (path: string) =>
    EXAMPLE_TOML.replace(
      '"http://127.0.0.1:18546/secret-key"',
      `{ url_file = ${JSON.stringify(path)}, alias = "own" }`,
    )
  assert.deepEqual(load(t, toml(secret)).config.networks[1]!.rpc, [
    { url: 'http://127.0.0.1:9/key', alias: 'own' },
  ])
  assert.deepEqual(mistakesOf(t, toml('/nowhere/rpc')), [
    "network 1: rpc endpoint 0: url_file /nowhere/rpc can't be read",
  ])
  for (const [text, fault] of [
    ['http://127.0.0.1:9/secret\nhttp://127.0.0.1:9/other\n', 'has more than one line'],
    ['http://127.0.0.1:9/secret\r\n# of the first provider\r\n', 'has more than one line'],
    ['\n# the key\nhttp://127.0.0.1:9/secret', 'has more than one line'],
    ['\n', 'is empty'],
  ] as const) {
    writeFileSync(secret, text)
    assert.deepEqual(mistakesOf(t, toml(secret)), [`network 1: rpc endpoint 0: url_file ${secret} ${fault}`])
    const both = toml(secret).replace('url_file', 'url = "http://127.0.0.1:9", ws_url_file')
    assert.deepEqual(mistakesOf(t, both), [`network 1: rpc endpoint 0: ws_url_file ${secret} ${fault}`])
  }
  for (const text of [
    'http://127.0.0.1:9/key',
    '  http://127.0.0.1:9/key \r\n\r\n',
    '\ufeffhttp://127.0.0.1:9/key\n',
  ]) {
    writeFileSync(secret, text)
    assert.equal(load(t, toml(secret)).config.networks[1]!.rpc[0]!.url, 'http://127.0.0.1:9/key')
  }
  const listening = EXAMPLE_TOML.replace(
    '"http://127.0.0.1:18546/secret-key"',
    `{ url = "http://127.0.0.1:9", alias = "own", ws_url_file = ${JSON.stringify(secret)} }`,
  )
  writeFileSync(secret, 'ws://127.0.0.1:9/key\n')
  assert.deepEqual(load(t, listening).config.networks[1]!.rpc, [
    { url: 'http://127.0.0.1:9', alias: 'own', wsUrl: 'ws://127.0.0.1:9/key' },
  ])
})

test('all mistakes are reported at once, with value, limit, source and the closest valid name', (t) => {
  const toml = EXAMPLE_TOML.replace('port = 5577', 'prot = 5577\nmax_url_bytes = 99999')
    .replace('workers = 1', 'workers = "many"')
    .replace('chain_id = 901', '')
    .replace('finality = "latest"', 'finality = "final"')
    .replace('rollup_manager = "0x5132A183E9F3CB7C848b0AAC5Ae0c4f0491B7aB2"', 'colour = "red"')
    .replace('"http://127.0.0.1:18546/secret-key"', '"ftp://secret-key"')
    .replace('primary_network = 1', 'primary_network = 9')
  const environment = { BDS_OPS__PORT: '1e3', BDS_HTPP__HOST: 'x', BDS_QUITE_OTHER: '1' }
  const mistakes = mistakesOf(t, toml, { environment })
  assert.deepEqual([...mistakes].sort(), [
    'http.max_url_bytes is 99999, from file; expected an integer from 64 to 3500',
    'network 0: finality is "final"; expected latest, safe, finalized, depth:64 or finalized-64',
    'network 0: rollup_manager is missing; layer 1 needs it',
    'network 1: rpc endpoint 0: the address is not one of http:// or https://',
    'networks[1].chain_id (network 1) is missing',
    'ops.port is "1e3", from env BDS_OPS__PORT; expected an integer from 0 to 65535',
    'pool.workers is "many", from file; expected an integer from 1 to 64',
    'primary_network 9 is not one of the networks',
    'unknown environment name BDS_HTPP__HOST: did you mean BDS_HTTP__HOST?',
    'unknown environment name BDS_QUITE_OTHER',
    'unknown key http.prot: did you mean port?',
    'unknown key networks[0].colour (network 0): known here: network_id, chain_id, rpc, bridge, global_exit_root_manager, rollup_manager, start_block, finality, rollback_blocks, log_range, poll_interval_ms, rpc_timeout_ms, rpc_max_response_bytes, stalled_after_ms, call_traces, ger_injection, name, explorer_url, public_rpc',
  ])
})

const singleMistakes: [name: string, from: string, to: string, mistake: string][] = [
  ['a network twice', 'network_id = 1', 'network_id = 0', 'network_id 0 is used by 2 networks'],
  ['no layer 1', 'network_id = 0', 'network_id = 2', 'no network has network_id 0 (layer 1)'],
  [
    'a short address',
    '"0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA"',
    '"0xa40D"',
    'networks[1].global_exit_root_manager (network 1) is "0xa40D", from file; expected 0x and 40 hex digits',
  ],
  ['the same ports', 'port = 9091', 'port = 5577', 'http.port and ops.port are both 5577'],
  [
    'a dialect on the port of the API',
    '[pool]',
    '[dialects.aggkit]\nport = 5577\n[pool]',
    'http.port and dialects.aggkit.port are both 5577',
  ],
  [
    'two dialects on one port',
    '[pool]',
    '[dialects.aggkit]\nport = 8080\n[dialects.zkevm]\nport = 8080\n[pool]',
    'dialects.aggkit.port and dialects.zkevm.port are both 8080',
  ],
  [
    'no endpoint',
    '["http://127.0.0.1:18546/secret-key"]',
    '[]',
    'networks[1].rpc (network 1) is empty, from file; expected a list of 1 to 32',
  ],
  [
    'a table where a list of endpoints belongs',
    '["http://127.0.0.1:18546/secret-key"]',
    '{ url_file = "/run/secrets/rpc" }',
    'networks[1].rpc (network 1) is a table, from file; expected a list of 1 to 32',
  ],
  [
    'a text where a number belongs, beside an address',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", weight = "secret-key" }',
    'networks[1].rpc[0].weight (network 1) is a text; expected a number from 0 to 1000',
  ],
  [
    'an address that is empty',
    'http://127.0.0.1:18546/secret-key',
    '',
    'networks[1].rpc[0].url (network 1) is an empty text; expected a text that is not empty',
  ],
  [
    'a list where a text belongs',
    '"0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA"',
    '["0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA"]',
    'networks[1].global_exit_root_manager (network 1) is a list, from file; expected 0x and 40 hex digits',
  ],
  [
    'a key with a word too many',
    'network_id = 1',
    'network_id = 1\nrpc_url = "http://127.0.0.1:1/secret-key"',
    'unknown key networks[1].rpc_url (network 1): did you mean rpc?',
  ],
  [
    'an endpoint with a negative weight',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", weight = -1 }',
    'networks[1].rpc[0].weight (network 1) is -1; expected a number from 0 to 1000',
  ],
  [
    'endpoints of which none serves logs',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", role = "state" }',
    'network 1: no rpc endpoint has role all or logs',
  ],
  [
    'an alias that is an address',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", alias = "http://x/secret-key" }',
    'network 1: rpc endpoint 0: the alias is an address; use a name, because it appears in logs',
  ],
  [
    'a password that can not be decoded',
    'http://127.0.0.1:18546/secret-key',
    'http://user:50%@127.0.0.1:18546',
    'network 1: rpc endpoint 0: the user or password in the address is not percent-encoded: % is %25',
  ],
  [
    'an address without a host',
    'http://127.0.0.1:18546/secret-key',
    'http:///secret-key',
    'network 1: rpc endpoint 0: the address names no host',
  ],
  [
    'a variable whose name has a space',
    '18546/secret-key',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
    '18546/${RPC KEY}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
    'networks[1].rpc[0]: ${ begins neither ${NAME} nor ${NAME:-default}',
  ],
  [
    'a number without end',
    'port = 5577',
    'port = inf',
    'http.port is Infinity, from file; expected an integer from 0 to 65535',
  ],
  [
    'an address over two lines',
    '"http://127.0.0.1:18546/secret-key"',
    '"http://127.0.0.1:1/secret\\n-key"',
    'network 1: rpc endpoint 0: the address has a line break or a tab in it',
  ],
  [
    'url and url_file',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", url_file = "f" }',
    'network 1: rpc endpoint 0: has both url and url_file',
  ],
  [
    'neither url nor url_file',
    '"http://127.0.0.1:18546/secret-key"',
    '{ alias = "own" }',
    'network 1: rpc endpoint 0: needs either url or url_file',
  ],
  [
    'a WebSocket address with another scheme',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", ws_url = "http://127.0.0.1:1/secret-key" }',
    'network 1: rpc endpoint 0: ws_url is not one of ws:// or wss://',
  ],
  [
    'a WebSocket address with a fragment',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", ws_url = "ws://127.0.0.1:1/secret-key#x" }',
    'network 1: rpc endpoint 0: ws_url has a part behind #',
  ],
  [
    'ws_url and ws_url_file',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", ws_url = "ws://127.0.0.1:1", ws_url_file = "f" }',
    'network 1: rpc endpoint 0: has both ws_url and ws_url_file',
  ],
  [
    'a missing file for the WebSocket address',
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://127.0.0.1:1", ws_url_file = "/nowhere/ws" }',
    "network 1: rpc endpoint 0: ws_url_file /nowhere/ws can't be read",
  ],
  [
    'a section that is no table',
    '[pool]\nworkers = 1',
    '[log]\nlevel = "loud"',
    'log.level is "loud", from file; expected error, warn, info or debug',
  ],
  [
    'an empty text',
    'data_dir = "./data"',
    'data_dir = ""',
    'data_dir is "", from file; expected a text that is not empty',
  ],
]

for (const [name, from, to, mistake] of singleMistakes)
  test(`a configuration is refused for: ${name}`, (t) => {
    const toml = EXAMPLE_TOML.replace(from, to)
    assert.notEqual(toml, EXAMPLE_TOML)
    const mistakes = mistakesOf(t, toml)
    assert.ok(mistakes.includes(mistake), `${mistake} not in ${JSON.stringify(mistakes, null, 1)}`)
  })

test('a wrong role is one mistake that names the valid roles, also when it is not text', (t) => {
  for (const role of ['"archive"', '7']) {
    const endpoint = `{ url = "http://127.0.0.1:1", role = ${role} }, "http://127.0.0.1:2"`
    const toml = EXAMPLE_TOML.replace('"http://127.0.0.1:18546/secret-key"', endpoint)
    assert.deepEqual(mistakesOf(t, toml), [
      `networks[1].rpc[0].role (network 1) is ${role}; expected all, logs, state or trace`,
    ])
  }
})

test('all mistakes of one endpoint are reported', (t) => {
  const endpoint = '{ url = "ftp://h/secret-key", url_file = "/nowhere/rpc", ws_url = "http://h/secret-key" }'
  assert.deepEqual(
    mistakesOf(t, EXAMPLE_TOML.replace('"http://127.0.0.1:18546/secret-key"', endpoint)),
    [
      'has both url and url_file',
      "url_file /nowhere/rpc can't be read",
      'the address is not one of http:// or https://',
      'ws_url is not one of ws:// or wss://',
    ].map((fault) => `network 1: rpc endpoint 0: ${fault}`),
  )
})

test('fifty-three networks are accepted, one more is refused', (t) => {
  const second = EXAMPLE_TOML.slice(EXAMPLE_TOML.lastIndexOf('[[networks]]'))
  const withNetworks = (count: number): string =>
    EXAMPLE_TOML +
    Array.from({ length: count - 2 }, (_, at) =>
      second.replace('network_id = 1', `network_id = ${at + 2}`),
    ).join('')
  assert.equal(load(t, withNetworks(53)).config.networks.length, 53)
  assert.deepEqual(mistakesOf(t, withNetworks(54)), ['54 networks, but one instance serves at most 53'])
})

test('no mistake, no printed configuration and no TOML error repeats an RPC address', (t) => {
  const broken = [
    EXAMPLE_TOML.replace('http://127.0.0.1:18546', 'ftp://127.0.0.1'),
    EXAMPLE_TOML.replace('["http://127.0.0.1:18546/secret-key"]', '[{ uri = "http://h/secret-key" }]'),
    EXAMPLE_TOML.replace('18546/secret-key"', '18546/secret-key'),
    EXAMPLE_TOML.replace('["http://127.0.0.1:18546/secret-key"]', '{ a = "secret-key" }'),
    EXAMPLE_TOML.replace(
      '"http://127.0.0.1:18546/secret-key"',
      '{ url = "http://h/secret-key", ws_url = "http://h/secret-key" }',
    ),
    '[networks]\nrpc = ["http://h/secret-key"]',
    'networks = ["http://h/secret-key"]',
    EXAMPLE_TOML.replace('[pool]', '[rate_limit]\napi_keys = "secret-key"\n[pool]'),
  ]
  for (const toml of broken) {
    const mistakes = mistakesOf(t, toml)
    assert.ok(mistakes.length > 0, toml)
    assert.ok(!mistakes.join().includes('secret-key'), mistakes.join())
  }
  const listening = EXAMPLE_TOML.replace(
    '"http://127.0.0.1:18546/secret-key"',
    '{ url = "http://h/secret-key", ws_url = "ws://h/secret-key" }',
  )
  for (const toml of [EXAMPLE_TOML, listening]) assert.ok(!renderLoaded(load(t, toml)).includes('secret-key'))
})

test('variables that Kubernetes sets for a service called bds are not mistaken for settings', (t) => {
  const environment = {
    BDS_SERVICE_HOST: '10.0.0.1',
    BDS_SERVICE_PORT_HTTP: '5577',
    BDS_PORT: 'tcp://10.0.0.1:5577',
    BDS_PORT_5577_TCP_ADDR: '10.0.0.1',
    BDS_DB_PORT: 'tcp://10.0.0.1:5577',
  }
  assert.deepEqual(mistakesOf(t, EXAMPLE_TOML, { environment }), [])
  assert.deepEqual(mistakesOf(t, EXAMPLE_TOML, { environment: { BDS_HTTP_PORT: '5577' } }), [
    'unknown environment name BDS_HTTP_PORT: did you mean BDS_HTTP__PORT?',
  ])
})

test('a missing file that BDS_CONFIG names is one clear mistake', () => {
  assert.throws(() => loadConfig({ environment: { BDS_CONFIG: '/nowhere/bds.toml' } }), {
    name: 'ConfigError',
    mistakes: ["the file /nowhere/bds.toml can't be read (ENOENT)"],
  })
})

test('mistakes in the rate limits are reported, and a value that may be a key is not repeated', (t) => {
  const limits =
    '[rate_limit]\ntrusted_proxies = ["10.0.0.0/8", "proxy"]\nallow = ["::1/129"]\napi_keys = ["my plain key"]'
  assert.deepEqual(mistakesOf(t, EXAMPLE_TOML.replace('[pool]', `${limits}\n[pool]`)), [
    'rate_limit.trusted_proxies has "proxy"; expected an address or a range like 10.0.0.0/8',
    'rate_limit.allow has "::1/129"; expected an address or a range like 10.0.0.0/8',
    'rate_limit.api_keys[0] is not the SHA-256 of a key, 64 hex digits',
  ])
})

test('the proxies of the environment become part of an endpoint, and are redacted like its address', (t) => {
  const environment = { HTTPS_PROXY: 'http://me:secret-key@proxy.example:3128', NO_PROXY: 'near.example' }
  const rpc = [
    '{ url = "https://rpc.example", ws_url = "wss://rpc.example/ws" }',
    '"https://near.example"',
    '"http://127.0.0.1:1"',
  ]
  const toml = EXAMPLE_TOML.replace('"http://127.0.0.1:18545/secret-key"', rpc.join(', '))
  const loaded = load(t, toml, { environment })
  const { config } = loaded
  const [far, near, plain] = config.networks[0]!.rpc
  assert.equal(far!.proxy, environment.HTTPS_PROXY)
  assert.equal(far!.wsProxy, environment.HTTPS_PROXY)
  assert.equal(near!.proxy, undefined)
  assert.equal(plain!.proxy, undefined)
  assert.ok(!renderLoaded(loaded).includes('secret-key'))
  assert.deepEqual(mistakesOf(t, toml, { environment: { HTTPS_PROXY: 'socks5://secret-key:1' } }), [
    'HTTPS_PROXY is not an http:// or https:// address of a proxy',
  ])
})

test('http.threads is a number or auto, in the file, the environment and as a flag', (t) => {
  const withThreads = (value: string) =>
    EXAMPLE_TOML.replace('port = 5577', `port = 5577\nthreads = ${value}`)
  assert.equal(load(t, withThreads('3')).config.http.threads, 3)
  assert.equal(load(t, withThreads('"auto"')).config.http.threads, 'auto')
  const environment = { BDS_HTTP__THREADS: '4' }
  assert.equal(load(t, withThreads('3'), { environment }).config.http.threads, 4)
  assert.equal(load(t, withThreads('3'), { flags: { 'http-threads': 'auto' } }).config.http.threads, 'auto')
  for (const [value, shown] of [
    ['0', '0'],
    ['65', '65'],
    ['1.5', '1.5'],
    ['"many"', '"many"'],
  ] as const)
    assert.deepEqual(mistakesOf(t, withThreads(value)), [
      `http.threads is ${shown}, from file; expected an integer from 1 to 64 or auto`,
    ])
})

test('several front threads are refused on node:http, which can not share a port', (t) => {
  const toml = EXAMPLE_TOML.replace('port = 5577', 'port = 5577\ntransport = "node"\nthreads = 2')
  assert.deepEqual(mistakesOf(t, toml), [
    "http.threads is 2, but node:http can't share a port: http.transport is node",
  ])
  assert.deepEqual(mistakesOf(t, toml.replace('threads = 2', 'threads = 1')), [])
  assert.deepEqual(mistakesOf(t, toml.replace('threads = 2', 'threads = "auto"')), [])
})

test('a cluster has the secrets of its files, and none of them is printed; without servers there is none', (t) => {
  const folder = tempFolder(t)
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const toml = `${EXAMPLE_TOML}
[cluster]
servers = ["nats://a.example:4222", "[::1]:4223"]
user = "me"
password_file = "${file('password', 'hunter2\n')}"
tls = true
tls_ca_file = "${file('ca', 'PEM')}"
role = "replica"
instance = "i1"
`
  const loaded = load(t, toml)
  assert.deepEqual(loaded.config.cluster, {
    servers: ['nats://a.example:4222', '[::1]:4223'],
    name: 'bds',
    instance: 'i1',
    role: 'replica',
    replicas: 3,
    maxLogBytes: 8_589_934_592,
    maxLagMs: 10_000,
    maxStaleMs: 10_000,
    snapshotEveryMs: 21_600_000,
    access: { credentials: { type: 'password', user: 'me', password: 'hunter2' }, tls: { ca: 'PEM' } },
  })
  assert.doesNotMatch(renderLoaded(loaded), /hunter2/)
  assert.equal(load(t, EXAMPLE_TOML).config.cluster, undefined)
})

test('mistakes in the settings of a cluster are all told, and no text that may be a secret is repeated', (t) => {
  const toml = `${EXAMPLE_TOML}
[cluster]
servers = ["nats://me:hunter2@a:4222", "b:4222", "b:4222"]
replicas = 2
user = "me"
nkey_file = "/nowhere/seed"
tls_cert_file = "/nowhere/cert"
`
  assert.deepEqual(mistakesOf(t, toml).toSorted(), [
    'cluster has files for TLS, but cluster.tls is not true',
    'cluster has user and nkey_file; one is enough',
    "cluster.nkey_file /nowhere/seed can't be read",
    'cluster.replicas is 2; expected 1 or 3',
    'cluster.servers names a server twice',
    'cluster.servers[0] is not host:port, without user, password and path (those stand in files of their own)',
    "cluster.tls_cert_file /nowhere/cert can't be read",
    'cluster.tls_cert_file and cluster.tls_key_file need each other',
    'cluster.user and cluster.password_file need each other',
  ])
})

test('a thread that has loaded a configuration shows no secret of an address or a proxy in it', (context) => {
  const toml = EXAMPLE_TOML.replace(
    'rpc = ["http://127.0.0.1:18545/secret-key"]',
    'rpc = [{ url = "https://one.example/v2/lo4ded-url", ws_url = "wss://one.example/lo4ded-ws" }]',
  )
  const proxy = 'http://lo4ded-user:lo4ded-password@proxy.example:3128'
  load(context, toml, { environment: { HTTPS_PROXY: proxy } })
  assert.doesNotMatch(
    withoutSecrets('lo4ded-url, lo4ded-ws, lo4ded-user, lo4ded-password are unknown'),
    /lo4ded/,
  )
})

test('a dialect is moved, set to a release line or switched off, by the file, the environment or a flag', (t) => {
  const dialectsOf = (toml: string, inputs: Omit<ConfigInputs, 'file'> = {}) =>
    load(t, `${EXAMPLE_TOML}\n${toml}`, inputs).config.dialects
  const moved = dialectsOf('[dialects.aggkit]\nbase_path = "/peers/aggkit-1"\nrelease = "rc5"')
  assert.deepEqual(moved, { aggkit: { basePath: '/peers/aggkit-1', release: 'rc5' }, ...OTHER_DIALECTS })
  assert.deepEqual(dialectsOf('[dialects]\naggkit = { enabled = false }'), OTHER_DIALECTS)
  assert.deepEqual(
    dialectsOf('', { environment: { BDS_DIALECTS__AGGKIT__ENABLED: 'false' } }),
    OTHER_DIALECTS,
  )
  assert.deepEqual(
    dialectsOf('[dialects]\nproof = { enabled = false }\nzkevm = { base_path = "/bridge-service" }'),
    {
      aggkit: { basePath: '/aggkit', release: 'latest' },
      hub: { basePath: '/hub/mainnet' },
      zkevm: { basePath: '/bridge-service' },
    },
  )
  assert.deepEqual(dialectsOf('[dialects.zkevm]\nport = 8080').zkevm, { basePath: '/zkevm', port: 8080 })
  assert.deepEqual(dialectsOf('', { flags: { 'dialects-aggkit-release': '0.6' } }).aggkit?.release, '0.6')
  const { sources } = load(t, `${EXAMPLE_TOML}\n[dialects.aggkit]\nrelease = "rc6"`)
  assert.equal(sources.get('dialects.aggkit.release'), 'file')
})

/** Those that the tests leave as they are. */
const OTHER_DIALECTS = {
  hub: { basePath: '/hub/mainnet' },
  proof: { basePath: '/proof' },
  zkevm: { basePath: '/zkevm' },
}

test('two dialects can not stand at one path', (t) => {
  const [mistake] = mistakesOf(t, `${EXAMPLE_TOML}\n[dialects.zkevm]\nbase_path = "/proof"`)
  assert.equal(mistake, 'dialects.proof.base_path is "/proof", as dialects.zkevm.base_path is')
})

test('the base path of a dialect is a path of its own', (t) => {
  for (const [path, told] of [
    ['aggkit', 'expected /name, without a slash at its end'],
    ['/aggkit/', 'expected /name, without a slash at its end'],
    ['/a b', 'expected /name, without a slash at its end'],
    ['/bridge', 'which the API itself answers below'],
    ['/explorer/x', 'which the API itself answers below'],
  ] as const) {
    const [mistake = ''] = mistakesOf(t, `${EXAMPLE_TOML}\n[dialects.aggkit]\nbase_path = "${path}"`)
    assert.ok(mistake.startsWith(`dialects.aggkit.base_path is ${JSON.stringify(path)}`), mistake)
    assert.ok(mistake.endsWith(told), mistake)
  }
})
