import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { ClaimAudit } from '../../../../src/indexer/audit/claimAudit.js'
import type { ClaimedWord } from '../../../../src/protocol/claimedBitMap.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { createFakeWorld, type FakeBlock } from '../../../support/fakeChain.js'
import { headerOf } from '../../../support/indexedBlocks.js'
import { createSyncHarness, isInStep } from '../syncHarness.js'

const { signal } = new AbortController()

/** A layer 2 with a long history, in which one old deposit of layer 1 is claimed. */
function claimedLongAgo({ deposits = 5, claimed = 3, indexedDeposits = () => deposits } = {}) {
  const harness = createSyncHarness({ networkId: 1, indexedDeposits: () => [[0, indexedDeposits()]] })
  const { world, network } = harness
  const l1 = world.network(0)
  for (let i = 0; i < deposits; i++)
    l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, amount: BigInt(i) }))
  network.mineEmpty(40)
  const block = network.mine((next) => next.tx().claim({ deposit: l1.deposits()[claimed]! }))
  network.mineEmpty(300)
  return { harness, network, l1, block }
}

/** Omits the logs of one block while `isHidden`, as a provider with holes would. */
function hide({ client }: ReturnType<typeof createSyncHarness>, hidden: FakeBlock) {
  const state = { isHidden: true }
  client.hideLogs(({ number }) => state.isHidden && number === hidden.number)
  return state
}

test('a claim missing from far history halts the network before it has caught up, and the network heals when the log is shown', async () => {
  const { harness, block } = claimedLongAgo()
  const hole = hide(harness, block)
  await harness.run(() => harness.row.haltReason() === 'missing_log')
  assert.equal(harness.row.get('caughtUp'), 0)
  const [halt] = harness.messages.filter((message) => message.type === 'halted')
  assert.match(halt?.message ?? '', /claims of deposits 0 .*network 0 .*contract has 0x0*8, indexed 0x0+$/)
  hole.isHidden = false
  await harness.run(() => harness.row.haltReason() === 'none' && isInStep(harness), 60_000)
  assert.equal(harness.shard.counts().claims, 1)
})

test('deposits that another network indexes after this one has caught up count as compared only when their claims agree', async () => {
  let indexedDeposits = 0
  const { harness, block } = claimedLongAgo({
    deposits: 300,
    claimed: 260,
    indexedDeposits: () => indexedDeposits,
  })
  const { shard, row } = harness
  const hole = hide(harness, block)
  // The word that the first deposits will be in is compared ahead.
  await harness.run(() => row.get('caughtUp') === 1)
  assert.ok(!shard.isCatchingUp)
  assert.deepEqual([...shard.claimsCompared], [[0, 256]])
  indexedDeposits = 300
  await harness.run(() => row.haltReason() === 'missing_log')
  assert.deepEqual([...shard.claimsCompared], [[0, 256]])
  hole.isHidden = false
  await harness.run(() => row.haltReason() === 'none' && isInStep(harness), 60_000)
  await harness.run(() => shard.claimsCompared.get(0) === 768)
})

const search = { hasWork: false, isBehind: false, step: async () => undefined }
for (const [name, exitRootSearch] of [
  ['a network that follows the L1', search],
  ['any other network', undefined],
] as const)
  test(`claims of deposits that another network indexes are compared at once while ${name} rests`, async () => {
    let deposits = 1
    const harness = createSyncHarness({
      networkId: 1,
      config: { pollIntervalMs: 60_000 },
      indexedDeposits: () => [[0, deposits]],
      ...(exitRootSearch === undefined ? {} : { exitRootSearch }),
    })
    const { shard, network, row, client } = harness
    network.mineEmpty(3)
    let heads = 0
    client.before = ({ method }) => {
      if (method === 'getHead') heads += 1
    }
    await harness.run(() => {
      if (row.get('caughtUp') === 1) deposits = 257
      return shard.claimsCompared.get(0) === 768
    }, 1_000)
    assert.equal(heads, 1)
    // Two words of deposits, and one ahead: is_synced falls when the source has more.
    assert.equal(row.get('comparedClaimWords'), 3)
  })

test('a store is catching up from its first block until every claim was compared, and again after a long absence', async () => {
  const { harness, network } = claimedLongAgo()
  const { client, shard } = harness
  let hasCompared = false
  client.before = ({ method }) => {
    if (method === 'getClaimedWords') hasCompared = true
    if (!hasCompared && shard.checkpoint() !== undefined) assert.ok(shard.isCatchingUp)
  }
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.ok(hasCompared && !shard.isCatchingUp)
  network.mineEmpty(10)
  await harness.run(() => shard.checkpoint()?.number === network.head.number)
  client.before = () => assert.ok(!shard.isCatchingUp)
  network.mineEmpty(200)
  hasCompared = false
  client.before = ({ method }) => {
    if (method === 'getClaimedWords') hasCompared = true
    if (method === 'fetchRange' && !hasCompared && shard.checkpoint()!.number < network.head.number - 100)
      assert.ok(shard.isCatchingUp)
  }
  await harness.run(() => shard.checkpoint()?.number === network.head.number && !shard.isCatchingUp)
})

test('a claim that an administrator set for the highest possible deposit count does not keep the network from catching up', async () => {
  const { harness, network, l1 } = claimedLongAgo()
  const last = { depositCount: 2 ** 32 - 1, globalIndex: (1n << 64n) + 0xffff_ffffn }
  network.mine((block) => block.tx().setClaim({ ...l1.deposits()[0]!, ...last }))
  network.mineEmpty(100)
  await harness.run(() => harness.row.get('caughtUp') === 1)
  const asked = harness.client.calls.filter(({ method }) => method === 'getClaimedWords')
  assert.ok(asked.length <= 4, `${asked.length} questions`)
  // The claim is compared like any other.
  await harness.run(() => isInStep(harness))
  hide(
    harness,
    network.mine((block) => block.tx().unsetClaim({ ...l1.deposits()[0]!, ...last })),
  )
  await harness.run(() => harness.row.haltReason() === 'missing_log', 130_000)
})

test('an unset claim that is missing from far history is found too', async () => {
  const { harness, network, l1 } = claimedLongAgo()
  const block = network.mine((next) => next.tx().unsetClaim(l1.deposits()[3]!))
  network.mineEmpty(200)
  const hole = hide(harness, block)
  await harness.run(() => harness.row.haltReason() === 'missing_log')
  hole.isHidden = false
  await harness.run(() => harness.row.haltReason() === 'none' && isInStep(harness), 60_000)
})

test('a claim that is lost at the tip of a running network is found within two minutes', async () => {
  const { harness, network, l1 } = claimedLongAgo()
  await harness.run(() => harness.row.get('caughtUp') === 1)
  const hole = hide(
    harness,
    network.mine((next) => next.tx().claim({ deposit: l1.deposits()[4]! })),
  )
  await harness.run(() => harness.row.haltReason() === 'missing_log', 125_000)
  hole.isHidden = false
  await harness.run(() => harness.row.haltReason() === 'none' && isInStep(harness), 60_000)
})

test('a claim that is lost at the tip beside stored ones is found within a minute', async () => {
  const { harness, network, l1 } = claimedLongAgo()
  await harness.run(() => harness.row.get('caughtUp') === 1)
  hide(
    harness,
    network.mine((next) => next.tx().claim({ deposit: l1.deposits()[4]! })),
  )
  network.mine((next) => next.tx().deposit())
  await harness.run(() => harness.row.haltReason() === 'missing_log', 45_000)
})

test('an emergency that is missing from far history halts the network', async () => {
  const harness = createSyncHarness({ networkId: 1 })
  const block = harness.network.mine((next) => next.tx().setEmergency(true))
  harness.network.mineEmpty(300)
  const hole = hide(harness, block)
  await harness.run(() => harness.row.haltReason() === 'missing_log')
  hole.isHidden = false
  await harness.run(() => harness.row.haltReason() === 'none' && isInStep(harness), 60_000)
})

test('a token mapping whose log is missing halts the network, also when it is the newest of many', async () => {
  const token = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`
  // Hours pass in this test.
  const harness = createSyncHarness({ networkId: 1, config: { pollIntervalMs: 2_000 } })
  const { network, client, row } = harness
  for (let n = 1; n <= 130; n++)
    network.mine((block) => block.tx().setSovereignToken(0, token(n), token(n + 1_000)))
  const anew = network.mine((block) => block.tx().setSovereignToken(0, token(7), token(5_000)))
  network.mineEmpty(300)
  const hole = hide(harness, anew)
  await harness.run(() => row.haltReason() === 'missing_log')
  const [halt] = harness.messages.filter((message) => message.type === 'halted')
  assert.match(
    halt?.message ?? '',
    /wrapped token of 0x0*7 of network 0 .*contract has 0x0*1388, indexed 0x0*3ef$/,
  )
  hole.isHidden = false
  await harness.run(() => row.haltReason() === 'none' && isInStep(harness), 60_000)
  // At the tip all words are compared in turn.
  const asked = client.callCount('getWrappedTokens')
  await harness.run(() => client.callCount('getWrappedTokens') > asked + 13, 14_000_000)
})

test('one endpoint that lies about claims halts no network: the next endpoint is asked before a difference counts', async () => {
  const { harness, network } = claimedLongAgo()
  const { client } = harness
  let isLying = true
  client.distrust = () => {
    isLying = false
  }
  const honest = network.blocks
  client.view = ({ method }) =>
    isLying && method === 'getClaimedWords'
      ? honest.map((block) => ({ ...block, state: { ...block.state, claims: new Map() } }))
      : network.blocks
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.equal(isLying, false)
  assert.deepEqual(
    harness.messages.filter(({ type }) => type === 'halted'),
    [],
  )
})

test('a node that has pruned the compared state is no reason to halt', async () => {
  const { harness, block } = claimedLongAgo()
  hide(harness, block)
  harness.client.getClaimedWords = async (words) => words.map(() => undefined)
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.equal(harness.row.haltReason(), 'none')
})

test('every word of the claimed bitmap is compared once soon after the start, then all in turn, and new ones at once', async () => {
  const asked: ClaimedWord[] = []
  const own = asNetworkId(1)
  let readsMany = false
  const deposits = new Map([
    [asNetworkId(0), 256 * 700 + 1],
    [own, 10_000],
    [asNetworkId(2), 1],
  ])
  const stored = [0, 1, 2 ** 24 - 1]
  const audit = new ClaimAudit({
    networkId: own,
    client: {
      readsManyWords: () => readsMany,
      getClaimedWords: async (words) => {
        asked.push(...words)
        return words.map(() => 0n)
      },
    },
    contractState: {
      claimSources: () => [asNetworkId(7)],
      claimedWordsFrom: (source, from) => (source === 7 ? stored.filter((word) => word >= from) : []),
      claimedWord: () => 0n,
    },
    indexedDeposits: () => deposits,
  })
  const checkpoint = headerOf(createFakeWorld().network(0).head)
  const step = async () => {
    asked.length = 0
    await audit.compareSome(checkpoint, 3, signal)
    return asked.map(({ sourceNetwork, word }) => `${sourceNetwork}:${word}`)
  }
  const all = [
    // With the word that the next deposits will be in.
    ...Array.from({ length: 702 }, (_, word) => `0:${word}`),
    ...['2:0', '2:1'],
    '7:0',
    '7:1',
    '7:16777215',
  ].sort()
  assert.deepEqual([...(await step()), ...(await step())].sort(), all)
  assert.equal(audit.hasFresh(), false)
  const round: string[] = []
  while (round.length < all.length) round.push(...(await step()))
  assert.deepEqual(round.sort(), all)
  deposits.set(asNetworkId(2), 257)
  assert.deepEqual(await step(), ['2:2'])
  stored.splice(2, 0, 70_000)
  assert.deepEqual(await step(), ['7:70000'])
  readsMany = true
  const sizes = [await step(), await step()].map(({ length }) => length)
  assert.ok(sizes[0]! >= 400, `hundreds at once where one call answers them: ${sizes}`)
})

test('while one word of an answer differs, no word of that answer counts as compared', async () => {
  let lie = 1n
  const audit = new ClaimAudit({
    networkId: asNetworkId(1),
    client: {
      readsManyWords: () => false,
      getClaimedWords: async (words) => words.map(({ word }) => (word === 2 ? lie : 0n)),
    },
    contractState: { claimSources: () => [], claimedWordsFrom: () => [], claimedWord: () => 0n },
    indexedDeposits: () => new Map([[asNetworkId(0), 256 * 4]]),
  })
  const checkpoint = headerOf(createFakeWorld().network(0).head)
  for (let look = 0; look < 3; look++) {
    const { difference } = await audit.compareSome(checkpoint, 3, signal)
    assert.match(difference?.what ?? '', /claims of deposits 512 /)
    assert.ok(audit.hasFresh())
  }
  lie = 0n
  assert.equal((await audit.compareSome(checkpoint, 3, signal)).difference, undefined)
  assert.equal(audit.hasFresh(), false)
})

test('the words that other networks may fill while all are compared leave out networks that are not indexed, and never pass what was compared', async () => {
  const deposits = new Map([
    [asNetworkId(0), 512],
    [asNetworkId(1), 90_000],
    [asNetworkId(2), 0],
  ])
  const audit = new ClaimAudit({
    networkId: asNetworkId(1),
    client: { readsManyWords: () => true, getClaimedWords: async (words) => words.map(() => 0n) },
    contractState: {
      claimSources: () => [asNetworkId(7)],
      claimedWordsFrom: (source, from) => (source === 7 && from < 100 ? [99] : []),
      claimedWord: () => 0n,
    },
    indexedDeposits: () => deposits,
  })
  assert.equal(audit.comparedWords(), 0)
  const checkpoint = headerOf(createFakeWorld().network(0).head)
  await audit.compareSome(checkpoint, 3, signal)
  // Two of network 0, none of network 2, and one more in either.
  assert.equal(audit.comparedWords(), 3)
  // A source that shrank and another that grew past what was compared.
  deposits.set(asNetworkId(0), 256)
  deposits.set(asNetworkId(2), 1_000)
  assert.equal(audit.comparedWords(), 2)
  await audit.compareSome(checkpoint, 3, signal)
  assert.equal(audit.comparedWords(), 6)
})

test('deposits that a source network indexes while claims above them are compared do not make the words between count as compared', async () => {
  const source = asNetworkId(0)
  const asked = new Set<number>()
  let deposits = 0
  const audit = new ClaimAudit({
    networkId: asNetworkId(1),
    client: {
      readsManyWords: () => false,
      getClaimedWords: async (words) => {
        for (const { word } of words) asked.add(word)
        // The source reads its history meanwhile.
        deposits = 256 * 9
        return words.map(() => 0n)
      },
    },
    contractState: {
      claimSources: () => [source],
      claimedWordsFrom: (_, from) => [5].filter((word) => word >= from),
      claimedWord: () => 0n,
    },
    indexedDeposits: () => new Map([[source, deposits]]),
  })
  const checkpoint = headerOf(createFakeWorld().network(0).head)
  for (let look = 0; look < 2; look++) {
    await audit.compareSome(checkpoint, 3, signal)
    const [{ deposits: below = 0 } = {}] = audit.compared()
    for (let word = 0; word < below / 256; word++)
      assert.ok(asked.has(word), `word ${word} was never compared`)
  }
  assert.equal(audit.hasFresh(), false)
  assert.deepEqual(audit.compared(), [{ sourceNetwork: source, deposits: 256 * 10 }])
})

test('a resting network does not read its stored claims again and again, and asks for fresh ones five times a second at most', async () => {
  let deposits = 1
  const harness = createSyncHarness({
    networkId: 1,
    config: { pollIntervalMs: 60_000 },
    indexedDeposits: () => [[0, deposits]],
    // A search that is never done: the network looks for more work without a pause.
    exitRootSearch: { hasWork: true, isBehind: false, step: async () => undefined },
  })
  const { shard, network, row, client, clock } = harness
  const { contractState } = shard
  let reads = 0
  const { claimedWordsFrom } = contractState
  Object.assign(contractState, {
    claimedWordsFrom: (...at: Parameters<typeof claimedWordsFrom>) => {
      reads++
      return claimedWordsFrom.apply(contractState, at)
    },
  })
  network.mineEmpty(3)
  await harness.run(() => row.get('caughtUp') === 1, 1_000)
  let comparisons = 0
  client.before = ({ method }) => {
    if (method === 'getClaimedWords') comparisons++
  }
  const rest = async (ms: number, grow: () => void) => {
    const untilMs = clock.now() + ms
    await harness.run(() => {
      grow()
      return clock.now() >= untilMs
    }, 2 * ms)
  }
  reads = 0
  await rest(20_000, () => undefined)
  assert.ok(reads < 20, `${reads} reads of stored claims`)
  comparisons = 0
  await rest(20_000, () => {
    deposits += 256
  })
  assert.ok(comparisons > 50 && comparisons <= 110, `${comparisons} comparisons`)
})
