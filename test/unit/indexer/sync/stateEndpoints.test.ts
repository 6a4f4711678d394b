import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import type { EndpointRole } from '../../../../src/config/config.types.js'
import { GerPoller } from '../../../../src/indexer/sync/gerPoller.js'
import { asNetworkId, type NetworkId } from '../../../../src/protocol/units.js'
import { handOn } from '../../../../src/shard/proposer.js'
import { steadyCommits } from '../../../support/commitWatches.js'
import { createFakeWorld, type FakeBlockBuilder } from '../../../support/fakeChain.js'
import type { FakeCall, Fault } from '../../../support/fakeEndpoint.js'
import { openSimulatedLoop } from '../simulatedLoop.js'

/** A layer 2 with deposits throughout its 400 blocks. */
function follow(
  endpointCount: number,
  {
    isPolled = false,
    claimable = 0,
    roles = [],
  }: { isPolled?: boolean; claimable?: number; roles?: readonly EndpointRole[] } = {},
) {
  const network = createFakeWorld().network(1)
  for (let block = 1; block <= 400; block++)
    network.mine((builder) => {
      if (block % 10 === 3) builder.tx().deposit()
    })
  const loop = openSimulatedLoop(network, {
    endpoints: endpointCount,
    config: { pollIntervalMs: 500, logRange: 10, gerInjection: isPolled ? 'poll' : 'event' },
    rpc: roles.map((role) => ({ role })),
  })
  const { client, settings, endpoints, clock, lines, row, shard, messages } = loop
  const leaves = { read: () => ({ epoch: 0, leafCount: 1, globalExitRoots: [new Uint8Array(32)] }) }
  const polling = {
    network: settings,
    client,
    writer: shard,
    proposer: handOn(shard),
    row,
    l1: statusRow(createStatusBoard([0]), 0),
  }
  const gerPoller = isPolled ? { gerPoller: new GerPoller({ ...polling, leaves: leaves as never }) } : {}
  const run = async (done: () => boolean, limitMs = 300_000): Promise<void> => {
    const stop = new AbortController()
    const deadline = clock.now() + limitMs
    const look = () => {
      if (done() || clock.now() >= deadline) stop.abort()
      else if (!stop.signal.aborted) clock.after(100, look)
    }
    look()
    const indexedDeposits = () => new Map<NetworkId, number>([[asNetworkId(0), claimable]])
    await loop.run(stop.signal, { indexedDeposits, commits: steadyCommits(clock), ...gerPoller })
    assert.ok(done(), `not done in time, halted: ${row.haltReason()}`)
  }
  const isInSync = () => shard.checkpoint()?.number === network.head.number && row.get('caughtUp') === 1
  const halts = () => messages.filter(({ type }) => type === 'halted')
  return { network, endpoints, clock, shard, row, lines, run, isInSync, halts }
}

test('a gateway that answers with the newest state for every block halts no network', async () => {
  for (const checks of ['nothing', 'block'] as const) {
    const { network, endpoints, clock, row, run, isInSync, halts } = follow(1)
    endpoints[0]!.fail({ type: 'newestState', checks })
    for (let i = 1; i <= 60; i++) clock.after(3_000 * i, () => network.mine((block) => block.tx().deposit()))
    const until = clock.now() + 200_000
    await run(() => clock.now() >= until && isInSync())
    assert.deepEqual(halts(), [])
    assert.equal(row.get('contractsCompared'), 0)
  }
})

test('beside a gateway that answers with the newest state an honest endpoint continues the comparison, and its differences count', async () => {
  const { network, endpoints, row, run, isInSync, halts } = follow(2)
  endpoints[0]!.fail({ type: 'newestState' })
  await run(isInSync)
  assert.deepEqual(halts(), [])
  // Both endpoints hide the log, and no bloom shows it.
  const hidden = network.mine((block) => block.tx().deposit()).number
  const faults = endpoints.flatMap((endpoint) => [
    endpoint.fail({ type: 'hideLogs', match: { blockNumber: hidden } }),
    endpoint.fail({ type: 'zeroBloom' }),
  ])
  network.mineEmpty(3)
  await run(() => row.haltReason() === 'missing_log', 130_000)
  for (const fault of faults) fault.off()
  await run(() => row.haltReason() === 'none' && isInSync(), 130_000)
})

const word = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`
/** Reports claims that do not exist. */
const inventsClaims: Fault = {
  type: 'result',
  value: word(5),
  methods: ['eth_call'],
  when: ({ params: [call] }) => /^0xee25560b/.test((call as { data: string }).data),
}

test('an endpoint that invents claims holds nothing up beside an honest endpoint, and is asked no further', async () => {
  const { network, endpoints, clock, shard, row, run, isInSync, halts, lines } = follow(2, { claimable: 700 })
  endpoints[0]!.fail(inventsClaims)
  for (let i = 1; i <= 450; i++) clock.after(3_000 * i, () => network.mineEmpty(1))
  await run(() => isInSync() && !shard.isCatchingUp && row.get('contractsCompared') === 1, 30_000)
  // Each time the endpoint is tried again it is found out before its answer has an effect.
  let wasUnready = false
  const until = clock.now() + 1_300_000
  await run(() => {
    wasUnready ||= shard.isCatchingUp
    return clock.now() >= until
  }, 1_400_000)
  assert.equal(wasUnready, false)
  assert.equal(row.get('contractsCompared'), 1)
  assert.deepEqual(halts(), [])
  const setAside = lines.filter(({ text }) => text.includes('differs from the store')).length
  assert.ok(setAside >= 2 && setAside <= 3, `${setAside} times`)
})

test('honest endpoints a block apart, which see reorgs one after the other, end readiness nowhere on a fast chain', async () => {
  for (const roles of [
    ['all', 'all'],
    ['logs', 'state'],
  ] as const) {
    const { network, endpoints, clock, shard, row, lines, run, isInSync, halts } = follow(2, { roles })
    await run(() => isInSync() && !shard.isCatchingUp)
    const [late] = endpoints
    const deposit = (amount: number) => (next: FakeBlockBuilder) =>
      next.tx().deposit({ amount: BigInt(amount) })
    late!.fail({ type: 'lag', blocks: 1 })
    for (let block = 1; block <= 800; block++)
      clock.after(250 * block, () => {
        if (block % 12 > 0) return network.mine(deposit(block))
        const before = late!.fail({ type: 'branch', blocks: network.blocks })
        network.reorg({ depth: 2, blocks: [deposit(10_000 + block), deposit(20_000 + block)] })
        clock.after(1_000, () => before.off())
      })
    const end = clock.now() + 200_000
    let wasUnready = false
    await run(() => {
      wasUnready ||= shard.isCatchingUp
      return clock.now() >= end
    })
    assert.equal(wasUnready, false, roles.join())
    assert.deepEqual(halts(), [])
    assert.equal(row.get('contractsCompared'), 1)
    assert.equal(lines.filter(({ text }) => text.includes('differs from the store')).length, 0)
  }
})

test('an endpoint that invents claims halts the network while it is the only one that answers', async () => {
  const { endpoints, shard, row, run, isInSync } = follow(2, { claimable: 700 })
  endpoints[0]!.fail(inventsClaims)
  const silence = endpoints[1]!.fail({ type: 'http', status: 503 })
  await run(() => row.haltReason() === 'missing_log', 60_000)
  assert.equal(row.get('caughtUp'), 0)
  silence.off()
  await run(() => row.haltReason() === 'none' && isInSync() && !shard.isCatchingUp, 120_000)
})

const isAtBlock = ({ params: [, tag] }: FakeCall) => tag !== 'latest'

test('an endpoint that answers no calls at a block leaves the network in sync, reported as not compared', async () => {
  for (const message of ['method not allowed', 'missing trie node 5e', 'not on your plan']) {
    const { endpoints, row, run, isInSync, halts } = follow(1)
    const fault = endpoints[0]!.fail({
      type: 'error',
      code: -32000,
      message,
      methods: ['eth_call'],
      when: isAtBlock,
    })
    await run(isInSync, 60_000)
    assert.deepEqual(halts(), [])
    assert.equal(row.get('contractsCompared'), 0)
    fault.off()
    await run(() => row.get('contractsCompared') === 1, 800_000)
  }
})

const noCalls = { type: 'error', code: -32601, message: 'no such method', methods: ['eth_call'] } as const

test('without contract calls a new store halts as state_unavailable until they are answered, and a store in use goes on', async () => {
  const { network, endpoints, shard, row, run, isInSync, halts } = follow(1)
  const fault = endpoints[0]!.fail(noCalls)
  await run(() => row.haltReason() === 'state_unavailable', 60_000)
  assert.equal(shard.checkpoint(), undefined)
  fault.off()
  await run(() => row.haltReason() === 'none' && isInSync(), 800_000)
  endpoints[0]!.fail(noCalls)
  network.mineEmpty(5)
  await run(isInSync)
  assert.equal(halts().length, 1)
})

test('without contract calls a polled network halts as state_unavailable, still follows its blocks, and heals', async () => {
  const { network, endpoints, row, run, isInSync, shard } = follow(1, { isPolled: true })
  const fault = endpoints[0]!.fail({ ...noCalls, when: isAtBlock })
  await run(() => row.haltReason() === 'state_unavailable', 60_000)
  assert.equal(row.get('caughtUp'), 0)
  network.mine((block) => block.tx().deposit())
  await run(() => shard.checkpoint()?.number === network.head.number, 60_000)
  assert.equal(row.haltReason(), 'state_unavailable')
  fault.off()
  await run(() => row.haltReason() === 'none' && isInSync(), 800_000)
})
