import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkConfig } from '../../../../src/config/config.types.js'
import { RetryableError } from '../../../../src/errors/chainErrors.js'
import type { FakeBlock } from '../../../support/fakeChain.js'
import { account, type FakeState } from '../../../support/fakeState.js'
import { ContractTree } from '../../../support/naiveTree.js'
import { createSyncHarness, isInStep } from '../syncHarness.js'

type Change = (state: FakeState) => Partial<FakeState>

const QUESTIONS: readonly string[] = [
  'getClaimedWords',
  'getContractDepositCount',
  'getContractLocalExitRoot',
  'getEmergencyState',
  'getWrappedTokens',
  'checkContradiction',
]
/** As where no endpoint can prove which block it answers for. */
const undecided = async () => ({ type: 'open' }) as const
const TOKEN = `0x${'0a'.repeat(20)}` as const

/** A layer 2 with one of everything that is compared, whose endpoint may answer something else. */
function createNetwork(config: Partial<NetworkConfig> = {}) {
  const harness = createSyncHarness({ networkId: 1, indexedDeposits: () => [[0, 600]], config })
  const { world, network, client, row, shard, messages, run } = harness
  const l1 = world.network(0)
  for (let n = 0; n < 2; n++)
    l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, amount: BigInt(n) }))
  network.mine((block) => block.tx().deposit())
  network.mine((block) => block.tx().claim({ deposit: l1.deposits()[0]! }))
  network.mine((block) => block.tx().setSovereignToken(0, TOKEN, account(1)))
  network.mineEmpty(200)
  /** From now on contract calls show another state, from an endpoint that cannot prove which block it answers for. */
  const insist = (change: Change) => {
    client.checkContradiction = undecided
    const shown = new Map<FakeBlock, FakeBlock>()
    const show = (block: FakeBlock): FakeBlock => {
      let changed = shown.get(block)
      if (changed === undefined) {
        changed = { ...block, state: { ...block.state, ...change(block.state) } }
        shown.set(block, changed)
      }
      return changed
    }
    client.view = ({ method }) =>
      method === 'fetchRange' || method.endsWith('Head') ? network.blocks : network.blocks.map(show)
  }
  const agree = () => {
    client.view = () => network.blocks
  }
  const isReady = () => row.get('caughtUp') === 1 && !shard.isCatchingUp
  const halts = () => messages.filter(({ type }) => type === 'halted')
  /**
   * Mines blocks meanwhile.
   * @returns false when the network became ready.
   */
  const staysUnready = async (ms: number) => {
    let wasReady = false
    const { clock } = harness
    for (let at = 5_000; at < ms; at += 5_000) clock.after(at, () => network.mineEmpty(1))
    const until = clock.now() + ms
    await run(() => {
      if (shard.checkpoint() !== undefined) wasReady ||= !shard.isCatchingUp
      return clock.now() >= until
    }, 2 * ms)
    return !wasReady
  }
  return { harness, l1, insist, agree, isReady, halts, staysUnready }
}

const changes: Record<string, Change> = {
  'a claim that is not stored': ({ claims }) => ({
    claims: new Map([...claims, ['0:3', [...claims.values()][0]!]]),
  }),
  'a stored claim that the contract does not have': () => ({ claims: new Map() }),
  'an emergency state': () => ({ emergency: true }),
  'another exit root': () => ({ localExitTree: new ContractTree() }),
  'a stored token mapping that the contract does not have': () => ({ tokenMappings: [] }),
}

for (const [what, change] of Object.entries(changes)) {
  test(`${what}, from an endpoint that cannot be judged: the network is not in step and nothing is ready until the endpoint agrees`, async () => {
    const { harness, insist, agree, isReady, halts, staysUnready } = createNetwork()
    const { row, run, client } = harness
    insist(change)
    assert.ok(await staysUnready(600_000))
    // The comparison is repeated ever more rarely.
    const asked = client.calls.filter(({ method }) => QUESTIONS.includes(method)).length
    assert.ok(asked < 100, `${asked} questions in ten minutes`)
    assert.equal(row.get('caughtUp'), 0)
    assert.equal(row.get('contractsCompared'), 0)
    agree()
    await run(isReady, 130_000)
    assert.equal(row.get('contractsCompared'), 1)
    assert.ok(isInStep(harness))
    assert.deepEqual(halts(), [])
  })

  test(`${what}, on a network that was in step: nothing is ready until the endpoint agrees`, async () => {
    const { harness, insist, agree, isReady, halts, staysUnready } = createNetwork()
    const { shard, run } = harness
    await run(isReady)
    insist(change)
    await run(() => shard.isCatchingUp, 700_000)
    assert.ok(await staysUnready(200_000))
    agree()
    await run(isReady, 130_000)
    assert.deepEqual(halts(), [])
  })
}

test('an endpoint that falls silent after a contradiction has not withdrawn it', async () => {
  const { harness, insist, staysUnready } = createNetwork()
  const { client, clock } = harness
  insist(changes['a claim that is not stored']!)
  clock.after(20_000, () => {
    client.getClaimedWords = async (words) => words.map(() => undefined)
  })
  assert.ok(await staysUnready(200_000))
})

test('an endpoint that fails while it is judged leaves its contradiction open', async () => {
  const { harness, insist, agree, isReady } = createNetwork()
  const { client, shard, run } = harness
  await run(isReady)
  insist(changes['an emergency state']!)
  let failures = 0
  const { checkContradiction } = client
  client.checkContradiction = async () => {
    failures++
    throw new RetryableError('no answer')
  }
  await run(() => failures > 0 && shard.isCatchingUp, 700_000)
  client.checkContradiction = checkContradiction
  agree()
  await run(isReady, 130_000)
})

test('a lost claim is read again as soon as an endpoint can prove it', async () => {
  const { harness, l1, isReady, halts, staysUnready } = createNetwork()
  const { network, client, shard, run } = harness
  const lost = network.mine((block) => block.tx().claim({ deposit: l1.deposits()[1]! })).number
  network.mineEmpty(300)
  let isHidden = true
  const { checkContradiction } = client
  client.checkContradiction = undecided
  client.hideLogs(({ number }) => isHidden && number === lost)
  assert.ok(await staysUnready(100_000))
  client.checkContradiction = checkContradiction
  await run(() => halts().length > 0, 70_000)
  isHidden = false
  await run(() => isReady() && isInStep(harness), 130_000)
  assert.equal(shard.counts().claims, 2)
})

/** Contract calls and headers of another branch than that of heads and logs. */
function forked() {
  const created = createNetwork()
  const { harness, l1 } = created
  const { network, client } = harness
  const fork = () => {
    const old = network.blocks
    network.reorg({ depth: 1, blocks: 'empty' })
    const state = { questions: 0, hasFollowed: false }
    client.view = ({ method }) => {
      if (method === 'getClaimedWords') state.questions++
      const isState = QUESTIONS.includes(method) || method === 'getHeader'
      return state.hasFollowed || isState ? network.blocks : old
    }
    return state
  }
  const claim = () => network.mine((block) => block.tx().claim({ deposit: l1.deposits()[1]! }))
  return { ...created, fork, claim }
}

test('a reorg between two calls is followed, and ends readiness nowhere', async () => {
  const { harness, fork, claim, isReady, halts } = forked()
  const { network, client, shard, clock, run } = harness
  await run(isReady)
  claim()
  await run(() => isInStep(harness) && isReady())
  const state = fork()
  client.before = ({ method }) => {
    if (method.endsWith('Head')) state.hasFollowed ||= state.questions > 0
  }
  let wasUnready = false
  clock.after(1_000, () => network.mineEmpty(1))
  const isDone = () => {
    wasUnready ||= shard.isCatchingUp
    return state.questions > 2 && isReady() && isInStep(harness)
  }
  await run(isDone, 130_000)
  assert.equal(wasUnready, false)
  assert.equal(shard.counts().claims, 1)
  assert.deepEqual(halts(), [])
})

test('contract calls that keep answering from another branch make nothing ready, and are asked ever more rarely', async () => {
  const { harness, fork, claim, isReady, halts } = forked()
  const { client, shard, clock, run } = harness
  await run(isReady)
  claim()
  await run(() => isInStep(harness) && isReady())
  const state = fork()
  await run(() => shard.isCatchingUp, 130_000)
  const before = client.calls.length
  const until = clock.now() + 300_000
  await run(() => clock.now() >= until, 400_000)
  const asked = client.calls.slice(before).filter(({ method }) => QUESTIONS.includes(method)).length
  assert.ok(asked < 80, `${asked} questions in five minutes`)
  assert.ok(shard.isCatchingUp)
  state.hasFollowed = true
  await run(() => isReady() && isInStep(harness), 130_000)
  assert.deepEqual(halts(), [])
})

test('a difference in backfill that is not settled yet does not count as compared', async () => {
  const { harness, insist, agree, isReady } = createNetwork({ logRange: 8 })
  const { client, shard, row, network, run } = harness
  insist(changes['another exit root']!)
  let wasCompared = false
  client.before = () => {
    if (client.callCount('getContractLocalExitRoot') === 3) agree()
    const isAtTip = shard.checkpoint()?.number === network.head.number
    wasCompared ||= isAtTip && shard.isCatchingUp && row.get('contractsCompared') === 1
  }
  await run(isReady)
  assert.ok(client.callCount('getContractLocalExitRoot') > 3)
  assert.equal(wasCompared, false)
})

test('a fault proven against the store stays when all endpoints fall silent: nothing becomes ready', async () => {
  const { harness, l1, isReady } = createNetwork()
  const { network, client, clock, row, shard, run } = harness
  await run(isReady)
  const lost = network.mine((block) => block.tx().claim({ deposit: l1.deposits()[1]! })).number
  client.hideLogs(({ number }) => number === lost)
  const { getClaimedWords } = client
  let silentAtMs = Number.POSITIVE_INFINITY
  let wasReady = false
  await run(() => {
    if (silentAtMs === Number.POSITIVE_INFINITY && row.haltReason() === 'missing_log') {
      silentAtMs = clock.now()
      client.getClaimedWords = async (words) => words.map(() => undefined)
    }
    // By then the first blocks are reverted.
    wasReady ||= clock.now() > silentAtMs + 5_000 && !shard.isCatchingUp
    return clock.now() > silentAtMs + 200_000
  }, 400_000)
  assert.equal(wasReady, false)
  client.getClaimedWords = getClaimedWords
  client.view = () => network.blocks
  await run(() => row.haltReason() === 'none' && isReady() && isInStep(harness), 130_000)
  assert.equal(shard.counts().claims, 2)
})
