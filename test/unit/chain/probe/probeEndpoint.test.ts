import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openEndpoint } from '../../../../src/chain/probe/openEndpoint.js'
import { probeEndpoint } from '../../../../src/chain/probe/probeEndpoint.js'
import type { NetworkConfig, RpcEndpointConfig } from '../../../../src/config/config.types.js'
import { loadConfig } from '../../../../src/config/load.js'
import { createLogger } from '../../../../src/telemetry/logger.js'
import { buildSmallWorld } from '../../../support/fakeChainScenario.js'
import type { FakeEndpoint } from '../../../support/fakeEndpoint.js'
import { serveWorld } from '../../../support/serviceWorld.js'
import { serveHeads } from '../wireScripts.js'

const logger = createLogger({ level: 'error', format: 'json' }, {})
const { signal } = new AbortController()

async function probe(
  context: TestContext,
  spoil: (endpoint: FakeEndpoint) => void,
  change: Partial<NetworkConfig> = {},
  endpoint: Partial<RpcEndpointConfig> = {},
): Promise<Record<string, string>> {
  const { rpc, configFile } = await serveWorld(context, buildSmallWorld().world)
  const { config } = loadConfig({ file: configFile('data'), environment: {} })
  spoil(rpc.get(0)!.endpoint)
  const network = { ...config.networks[0]!, finality: { tag: 'finalized', depth: 0 } as const, ...change }
  const asked = { ...network, rpc: network.rpc.map((each) => ({ ...each, ...endpoint })) }
  const findings = await probeEndpoint(asked, 0, openEndpoint(asked, 0, logger), signal)
  const text = JSON.stringify(findings)
  assert.ok(!text.includes('http') && !text.includes('127.0.0.1'), text)
  return Object.fromEntries(findings.map(({ what, outcome, detail }) => [what, `${outcome}: ${detail}`]))
}

test('an endpoint that can do everything is reported so, part by part', async (context) => {
  const found = await probe(context, () => undefined)
  assert.match(found['chain id']!, /^ok: \d+$/)
  assert.match(found.head!, /^ok: block \d+$/)
  assert.equal(found.contracts, 'ok: code at every address, networkID() is 0')
  assert.equal(found['contracts together'], 'ok: as configured: 5 of 5 getters answer')
  assert.match(found['state at a block']!, /^ok: answered at block \d+$/)
  assert.match(found.finality!, /^ok: finalized is block \d+$/)
  assert.equal(found['logs by block hash'], 'ok: offered')
  assert.match(found['range of logs']!, /^ok: \d+ blocks at once$/)
  assert.equal(found.batches, 'ok: 50 calls at once')
  assert.equal(found['call traces'], 'ok: debug_traceTransaction is offered')
})

test('each thing that an endpoint does not offer is a warning', async (context) => {
  const missing = { type: 'error', code: -32601, message: 'the method does not exist' } as const
  const found = await probe(context, (endpoint) => {
    endpoint.fail({ type: 'range', limit: 5, message: 'block range is limited to 5 blocks' })
    endpoint.fail({ type: 'finality', mode: 'unsupported' })
    endpoint.fail({ ...missing, methods: ['debug_traceTransaction'] })
    endpoint.fail({
      ...missing,
      methods: ['eth_getLogs'],
      when: ({ params }) => 'blockHash' in (params[0] as object),
    })
  })
  assert.equal(found.finality, 'warn: finalized is not offered: blocks are counted instead')
  assert.equal(found['logs by block hash'], 'warn: not offered: logs are read by block range only')
  assert.match(found['range of logs']!, /^warn: [1-5] blocks at once, fewer than log_range \d+/)
  assert.match(found['call traces']!, /^warn: debug_traceTransaction is not offered/)
})

test('the newest block shows how logs are numbered, if two of its transactions have logs', async (context) => {
  const indexOfLogs = async (isPerTransaction: boolean, transactions: number) => {
    const found = await probe(context, (endpoint) => {
      endpoint.network.mine((block) => {
        for (let count = 0; count < transactions; count++) block.tx().deposit()
      })
      if (isPerTransaction) endpoint.fail({ type: 'logIndex' })
    })
    return found['index of logs']!
  }
  assert.match(await indexOfLogs(false, 1), /^ok: not shown by block \d+$/)
  assert.equal(await indexOfLogs(false, 2), 'ok: numbered per block')
  assert.match(await indexOfLogs(true, 2), /^ok: numbered per transaction/)
})

test('the largest batch that the endpoint answers is measured, however it fails larger ones', async (context) => {
  for (const refusal of [{ status: 500, headers: {}, body: 'no' }, 'close'] as const)
    for (const limit of [3, 10])
      assert.equal(
        (await probe(context, (endpoint) => endpoint.limitBatches(limit, refusal))).batches,
        `warn: ${limit} calls at once, fewer than the 50 wanted: set max_batch = ${limit} to spare the service this search`,
      )
  const none = await probe(context, (endpoint) => endpoint.limitBatches(1, 'close'))
  assert.equal(none.batches, 'warn: refused: every call is a request of its own')
  const capped = await probe(context, (endpoint) => endpoint.limitBatches(3, 'close'), {}, { maxBatch: 2 })
  assert.equal(capped.batches, 'ok: 2 calls at once')
  const off = await probe(context, () => undefined, {}, { maxBatch: 1 })
  assert.equal(off.batches, 'ok: not asked for (max_batch = 1)')
})

test('new heads over WebSocket are tested where a ws_url is set, and their absence is reported without the URL', async (context) => {
  const server = await serveHeads(context)
  const listen = async (wsUrl: string) => {
    const found = await probe(context, () => undefined, { rpcTimeoutMs: 5_000 }, { wsUrl })
    return found['new heads over WebSocket']
  }
  assert.equal(await listen(server.url), 'ok: offered')
  assert.equal(
    await listen('ws://127.0.0.1:1/'),
    'warn: not offered (ECONNREFUSED): the endpoint is polled instead',
  )
})

test('contract calls that are refused, or answered for the wrong block, are a warning, and are not tested on an endpoint for logs', async (context) => {
  const refused = { type: 'error', code: -32000, message: 'not on your plan', methods: ['eth_call'] } as const
  const isAtBlock = ({ params: [, tag] }: { params: readonly unknown[] }) => tag !== 'latest'
  const without = await probe(context, (endpoint) => void endpoint.fail({ ...refused, when: isAtBlock }))
  assert.match(without['state at a block']!, /^warn: refused at block \d+/)
  const misled = await probe(context, (endpoint) => void endpoint.fail({ type: 'newestState' }))
  assert.match(misled['state at a block']!, /^warn: answered even for a block that does not exist/)
  let calls = 0
  const found = await probe(
    context,
    (endpoint) => void endpoint.fail({ ...refused, when: () => ++calls > 0 }),
    {},
    { role: 'logs' },
  )
  assert.equal(calls, 0)
  assert.equal(found.contracts, undefined)
})

test('an endpoint of another chain is asked nothing further', async (context) => {
  const found = await probe(context, () => undefined, { chainId: 77 })
  assert.deepEqual(Object.keys(found), ['chain id'])
  assert.match(found['chain id']!, /^fail: \d+, configured is 77$/)
})

test('a bridge of another network and an address without a contract are faults', async (context) => {
  const other = await probe(context, () => undefined, { networkId: 9 })
  assert.match(other.contracts!, /^fail: network 9: bridge 0x[0-9a-f]{40} says that its network id is 0$/)
  const empty = await probe(context, () => undefined, { bridge: `0x${'11'.repeat(20)}` })
  assert.match(empty.contracts!, /^fail: network 0: no contract at bridge 0x1{40}$/)
})

test('contracts that do not belong together are a fault that names both addresses', async (context) => {
  const { contracts } = buildSmallWorld().world.network(0)
  const { bridge, globalExitRootManager, rollupManager } = contracts
  const otherRollupManager = await probe(context, () => undefined, { rollupManager: bridge })
  assert.match(otherRollupManager.contracts!, /^ok: /)
  assert.equal(
    otherRollupManager['contracts together'],
    `fail: rollupManager() of global_exit_root_manager is ${rollupManager}, but rollup_manager is configured as ${bridge}`,
  )
  const swapped = await probe(context, () => undefined, {
    globalExitRootManager: rollupManager,
    rollupManager: globalExitRootManager,
  })
  assert.equal(
    swapped['contracts together'],
    `fail: globalExitRootManager() of bridge is ${globalExitRootManager}, but global_exit_root_manager is configured as ${rollupManager}`,
  )
})

test('a getter that reverts is no evidence about the contracts', async (context) => {
  const { bridge } = buildSmallWorld().world.network(0).contracts
  // globalExitRootManager(), rollupManager() and bridgeAddress()
  const selectors = ['0xd02103ca', '0x49b7b802', '0xa3c573eb']
  const found = await probe(
    context,
    (endpoint) =>
      void endpoint.fail({
        ...{ type: 'error', code: 3, message: 'execution reverted', methods: ['eth_call'] },
        when: ({ params: [call] }) => selectors.includes((call as { data: string }).data),
      }),
    { rollupManager: bridge },
  )
  assert.equal(found['contracts together'], 'ok: not known: 0 of 5 getters answer')
})

test('an endpoint that is unreachable is reported by alias and error code', async (context) => {
  const found = await probe(context, (endpoint) => endpoint.fail({ type: 'close' }))
  assert.match(found['chain id']!, /^fail: 0-a: no connection for eth_chainId/)
})
