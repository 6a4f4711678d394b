import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logSettingsOf, settingsDifferences } from '../../../src/replica/logSettings.js'
import type { LogSettings } from '../../../src/shard/shardLog.types.js'
import { createFakeWorld } from '../../support/fakeChain.js'
import { address } from '../log/commandSamples.js'

const network = createFakeWorld({ networks: [1] })
  .network(0)
  .config(['http://127.0.0.1:1'])
const settings = logSettingsOf(network, { keepEvents: 7 }, new Uint8Array(16))

test('the first command of a log says what the configuration says', () => {
  assert.equal(`0x${Buffer.from(settings.bridge).toString('hex')}`, network.bridge)
  assert.equal(`0x${Buffer.from(settings.rollupManager!).toString('hex')}`, network.rollupManager)
  assert.deepEqual(
    [settings.networkId, settings.chainId, settings.startBlock, settings.rollbackBlocks],
    [network.networkId, network.chainId, network.startBlock, network.rollbackBlocks],
  )
  assert.equal(settings.feedKeepEvents, 7)
  assert.deepEqual(
    { tag: settings.finalityTag, depth: settings.finalityDepth, injection: settings.gerInjection },
    { ...network.finality, injection: network.gerInjection },
  )
})

test('every setting that differs is named with both values, and the id of the log is no setting', () => {
  const own: LogSettings = { ...settings, startBlock: 5 as never, rollbackBlocks: 6, bridge: address(0xaa) }
  const ofLog: LogSettings = {
    ...{ logId: new Uint8Array(16).fill(1), networkId: 1 as never, chainId: 2, bridge: address(0xbb) },
    ...{ globalExitRootManager: address(0xcc), rollupManager: undefined, startBlock: 3 as never },
    ...{ rollbackBlocks: 4, finalityTag: 'safe', finalityDepth: 9, gerInjection: 'poll' },
    feedKeepEvents: 8,
  }
  const differences = settingsDifferences(own, ofLog)
  assert.equal(differences.length, Object.keys(settings).length - 1)
  assert.ok(differences.includes(`bridge 0x${'aa'.repeat(20)} (in the log: 0x${'bb'.repeat(20)})`))
  assert.ok(differences.includes(`rollup_manager ${network.rollupManager} (in the log: none)`))
  assert.ok(differences.includes('start_block 5 (in the log: 3)'))
  assert.deepEqual(settingsDifferences(settings, { ...settings, logId: new Uint8Array(16).fill(1) }), [])
})
