import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationIds, probeRoutes, socketRoutes, streamRoutes } from '../../../src/api/routes.js'
import { servedNetworks } from '../../../src/http/servedNetworks.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

test('the networks are told with ids, chain ids, contracts as EIP-55 spells them, start block and finality, and no endpoint', (t) => {
  const { capabilities, ...told } = servedNetworks(
    loadedConfig(tempFolder(t)),
    createHasher(compileMerkleModule()),
  )
  // The addresses as block explorers show them.
  const bridge = '0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe'
  assert.deepEqual(told, {
    primary_network: 1,
    networks: [
      {
        network_id: 0,
        chain_id: 900,
        bridge,
        global_exit_root_manager: '0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb',
        rollup_manager: '0x5132A183E9F3CB7C848b0AAC5Ae0c4f0491B7aB2',
        start_block: 0,
        finality: 'latest',
      },
      {
        network_id: 1,
        chain_id: 901,
        bridge,
        global_exit_root_manager: '0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA',
        rollup_manager: null,
        start_block: 0,
        finality: 'finalized',
      },
    ],
  })
  assert.deepEqual(
    capabilities.toSorted(),
    [...operationIds, ...Object.keys({ ...streamRoutes, ...socketRoutes, ...probeRoutes })].toSorted(),
  )
})
