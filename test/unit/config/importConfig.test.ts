import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ConfigError } from '../../../src/config/configError.js'
import { type ImportedConfig, importConfig, type importers } from '../../../src/config/importConfig.js'
import { loadConfig } from '../../../src/config/load.js'
import { renderImported } from '../../../src/config/render.js'
import { tempFolder } from '../../support/tempFolder.js'

function read(context: TestContext, from: keyof typeof importers, text: string): ImportedConfig {
  const file = join(tempFolder(context), 'theirs.toml')
  writeFileSync(file, text)
  return importConfig(from, file)
}

/** The values that aggkit has where a file says nothing, in its own layout: variables, their users, and texts that hold tables. */
const AGGKIT_DEFAULTS = `
L1URL = "http://localhost:8545"
L2URL = "http://localhost:8123"
NetworkID = 1
polygonBridgeAddr = "0x0000000000000000000000000000000000000000"
genesisBlockNumber = 0
rollupManagerCreationBlockNumber = 0
L2RPC = "{ Mode= \\"basic\\", URL= \\"{{L2URL}}\\" }"
[L1Config]
URL = "{{L1URL}}"
chainId = 0
polygonZkEVMGlobalExitRootAddress = "0x0000000000000000000000000000000000000000"
polygonRollupManagerAddress = "0x0000000000000000000000000000000000000000"
[L2Config]
GlobalExitRootAddr = "0x0000000000000000000000000000000000000000"
[Log]
Environment = "development"
Level = "info"
[Common]
NetworkID = {{NetworkID}}
L2RPC = {{L2RPC}}
[L1NetworkConfig]
URL = "{{L1Config.URL}}"
L1ChainID = {{L1Config.chainId}}
RollupManagerAddr = "{{L1Config.polygonRollupManagerAddress}}"
GlobalExitRootManagerAddr = "{{L1Config.polygonZkEVMGlobalExitRootAddress}}"
[L1InfoTreeSync]
InitialBlock = {{genesisBlockNumber}}
BlockFinality = "LatestBlock"
[REST]
Host = "0.0.0.0"
Port = 5577
[BridgeL1Sync]
BridgeAddr = "{{polygonBridgeAddr}}"
InitialBlockNum = 0
[BridgeL2Sync]
BridgeAddr = "{{polygonBridgeAddr}}"
BlockFinality = "LatestBlock"
InitialBlockNum = 0
[LastGERSync]
GlobalExitRootL2Addr = "{{L2Config.GlobalExitRootAddr}}"
[Prometheus]
Enabled = true
Host = "localhost"
Port = 9091
[AggSender]
StoragePath = "/tmp/aggkit/aggsender.sqlite"
`

test("aggkit's defaults become its ports and finality, and notes name all that an operator has to fill in", (t) => {
  assert.deepEqual(read(t, 'aggkit', AGGKIT_DEFAULTS), {
    table: {
      http: { host: '0.0.0.0', port: 5577 },
      ops: { host: '127.0.0.1', port: 9091 },
      log: { level: 'info' },
      networks: [
        { network_id: 0, rpc: ['http://localhost:8545'], finality: 'LatestBlock' },
        { network_id: 1, rpc: ['http://localhost:8123'], finality: 'LatestBlock' },
      ],
    },
    notes: [
      'not read, because nothing here needs them: AggSender',
      'networks[0].chain_id is not in that file: add it',
      'networks[0].bridge is not in that file: add it',
      'networks[0].global_exit_root_manager is not in that file: add it',
      'networks[1].chain_id is not in that file: add it',
      'networks[1].bridge is not in that file: add it',
      'networks[1].global_exit_root_manager is not in that file: add it',
      'networks[0].rollup_manager is not in that file: add it',
    ],
  })
})

/** What an operator of a mainnet chain sets: variables and two sections; the rest are aggkit's defaults. */
const AGGKIT_MAINNET = `
L1URL = "https://l1.rpc.test/secret-one"
L2URL = "https://l2.rpc.test/secret-two"
NetworkID = 20
polygonBridgeAddr = "0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe"
rollupManagerCreationBlockNumber = 16896721
[L1Config]
chainId = 1
polygonZkEVMGlobalExitRootAddress = "0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb"
polygonRollupManagerAddress = "0x5132A183E9F3CB7C848b0AAC5Ae0c4f0491B7aB2"
[L2Config]
GlobalExitRootAddr = "0x1111111111111111111111111111111111111111"
[REST]
Port = 5600
[L1InfoTreeSync]
BlockFinality = "FinalizedBlock"
[BridgeL2Sync]
BlockFinality = "LatestBlock/-6"
`

test('an aggkit file of a public deployment becomes its preset and what differs from it, and loads', (t) => {
  const imported = read(t, 'aggkit', AGGKIT_MAINNET)
  assert.deepEqual(imported.notes, [])
  const file = join(tempFolder(t), 'bds.toml')
  writeFileSync(file, renderImported(imported, true))
  const { config, table } = loadConfig({ file, environment: {} })
  assert.equal(table.preset, 'mainnet')
  assert.deepEqual(
    config.networks.map(({ networkId, chainId, startBlock, finality, globalExitRootManager, rpc }) => [
      networkId,
      chainId,
      startBlock,
      finality,
      globalExitRootManager,
      rpc[0]!.url,
    ]),
    [
      [
        0,
        1,
        16896721,
        { tag: 'finalized', depth: 0 },
        '0x580bda1e7a0cfae92fa7f6c20a3794f169ce3cfb',
        'https://l1.rpc.test/secret-one',
      ],
      [
        20,
        747474,
        0,
        { tag: 'latest', depth: 6 },
        '0x1111111111111111111111111111111111111111',
        'https://l2.rpc.test/secret-two',
      ],
    ],
  )
  assert.deepEqual([config.http.host, config.http.port], ['0.0.0.0', 5600])
})

test('an imported configuration shows no address of an endpoint unless it is asked to', (t) => {
  const shown = renderImported(read(t, 'aggkit', AGGKIT_MAINNET), false)
  assert.doesNotMatch(shown, /secret|rpc\.test/)
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the file's own syntax
  assert.deepEqual(shown.match(/^rpc = .*$/gm), ['rpc = ["${RPC_L1}"]', 'rpc = ["${RPC_L2_1}"]'])
})

test('variables that stand for each other end, and set nothing', (t) => {
  const { table } = read(t, 'aggkit', 'L1URL = "{{L2URL}}"\nL2URL = "{{L1URL}}"\n')
  assert.equal(table.networks.length, 2)
})

/** The defaults of the zkEVM bridge service, and the addresses that its local example has. */
const ZKEVM_BRIDGE = `
[Log]
Level = "debug"
[SyncDB]
Database = "postgres"
Password = "secret-three"
[Etherman]
L1URL = "http://localhost:8545"
L2URLs = ["http://localhost:8123"]
[Synchronizer]
SyncInterval = "2s"
SyncChunkSize = 100
[BridgeServer]
GRPCPort = "9090"
HTTPPort = "8080"
[NetworkConfig]
GenBlockNumber = 5
PolygonBridgeAddress = "0x2222222222222222222222222222222222222222"
PolygonZkEVMGlobalExitRootAddress = "0x3333333333333333333333333333333333333333"
PolygonRollupManagerAddress = "0x4444444444444444444444444444444444444444"
L2PolygonBridgeAddresses = ["0x5555555555555555555555555555555555555555"]
`

test("the zkEVM bridge service's defaults become its port and level, and notes name what its file never has", (t) => {
  assert.deepEqual(read(t, 'zkevm-bridge', ZKEVM_BRIDGE), {
    table: {
      http: { host: '0.0.0.0', port: 8080 },
      log: { level: 'debug' },
      networks: [
        {
          network_id: 0,
          bridge: '0x2222222222222222222222222222222222222222',
          global_exit_root_manager: '0x3333333333333333333333333333333333333333',
          rollup_manager: '0x4444444444444444444444444444444444444444',
          start_block: 5,
          rpc: ['http://localhost:8545'],
        },
        { bridge: '0x5555555555555555555555555555555555555555', rpc: ['http://localhost:8123'] },
      ],
    },
    notes: [
      'not read, because nothing here needs them: SyncDB, Synchronizer',
      'networks[0].chain_id is not in that file: add it',
      'networks[1].network_id is not in that file: add it',
      'networks[1].chain_id is not in that file: add it',
      'networks[1].global_exit_root_manager is not in that file: add it',
    ],
  })
})

test('a zkEVM bridge file with more endpoints than bridges is refused', (t) => {
  const text = ZKEVM_BRIDGE.replace(
    '["http://localhost:8123"]',
    '["http://localhost:8123", "http://localhost:8124"]',
  )
  assert.throws(
    () => read(t, 'zkevm-bridge', text),
    (error) =>
      error instanceof ConfigError &&
      error.mistakes[0] === 'Etherman.L2URLs has 2 entries, but NetworkConfig.L2PolygonBridgeAddresses has 1',
  )
})
