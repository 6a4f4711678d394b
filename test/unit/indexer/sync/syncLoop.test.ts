import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { keccak256 } from 'viem/utils'
import { headPlaces } from '../../../../src/board/statusBoard.js'
import { FatalError, RetryableError } from '../../../../src/errors/chainErrors.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { noCommits } from '../../../support/commitWatches.js'
import { userContract } from '../../../support/fakeState.js'
import type { ClientCall } from '../../../support/watchedClient.js'
import { createSyncHarness, isInStep, type SyncHarness } from '../syncHarness.js'

/** Blocks with one deposit each. */
function mineDeposits({ network }: SyncHarness, count: number): void {
  for (let i = 0; i < count; i++) network.mine((block) => block.tx().deposit({ amount: BigInt(i) }))
}

test('a new shard is filled up to the head, senders included, and caughtUp is reported once', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 200)
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.ok(isInStep(harness))
  assert.equal(harness.shard.counts().deposits, 200)
  assert.deepEqual(
    harness.messages.filter(({ type }) => type === 'caughtUp'),
    [{ type: 'caughtUp', networkId: 0, block: 200 }],
  )
  assert.equal(harness.row.get('headBlock'), 200)
  assert.equal(harness.row.get('contractDepositCount'), 200)
})

test('history costs one range per window and no further header', async () => {
  const harness = createSyncHarness({ config: { logRange: 50, rollbackBlocks: 64 } })
  harness.network.mineEmpty(1000)
  await harness.run(() => harness.row.get('caughtUp') === 1)
  const deep = harness.client.calls.filter(({ method, to }) => method === 'getHeader' && to <= 1000 - 64 - 50)
  assert.ok(deep.length <= 2, 'only the first block is looked at')
  const ranges = harness.client.callCount('fetchRange')
  assert.ok(ranges <= 1000 / 50 + 3, `${ranges} ranges`)
})

test('new blocks are followed one by one, each with its senders at once', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 3)
  await harness.run(() => isInStep(harness))
  harness.client.calls.length = 0
  mineDeposits(harness, 1)
  await harness.run(() => isInStep(harness))
  const committed = harness.shard.batches.at(-1)!
  assert.deepEqual([Number(committed.fromBlock), committed.head.number], [4, 4])
  assert.ok(committed.blocks[0]!.events.every((event) => event.type !== 'deposit' || event.sender !== null))
})

test('a reorg takes back the blocks that the chain left and no others', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 30)
  await harness.run(() => isInStep(harness))
  harness.network.reorg({ depth: 7, blocks: 'shift' })
  await harness.run(() => isInStep(harness))
  assert.deepEqual(harness.shard.reverts, [23])
  const [message] = harness.messages.filter(({ type }) => type === 'reorg')
  assert.deepEqual(message, { type: 'reorg', networkId: 0, ancestor: 23, depth: 7 })
})

test('a reorg of the first block is followed', async () => {
  const harness = createSyncHarness({ config: { startBlock: 5 } })
  harness.network.mineEmpty(4)
  mineDeposits(harness, 2)
  await harness.run(() => harness.shard.checkpoint()?.number === 6)
  harness.network.reorg({ depth: 4 })
  await harness.run(() => harness.shard.checkpoint()?.number === harness.network.head.number)
  assert.equal(harness.shard.counts().deposits, 0)
  assert.equal(harness.row.haltReason(), 'none')
})

test('an endpoint that lags is not taken for a reorg', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 90)
  await harness.run(() => isInStep(harness))
  let asks = 0
  harness.client.view = () =>
    asks++ % 2 === 0 ? harness.network.blocks.slice(0, -70) : harness.network.blocks
  harness.clock.after(5_000, () => mineDeposits(harness, 1))
  await harness.run(() => harness.network.head.number === 91 && isInStep(harness))
  assert.deepEqual(harness.shard.reverts, [])
  assert.equal(harness.row.get('headBlock'), 91)
})

test('a head that goes back for good changes nothing until another branch is as high as the stored one', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 20)
  await harness.run(() => isInStep(harness))
  harness.network.rollback(5)
  let isHigher = false
  harness.clock.after(3_000, () => {
    assert.deepEqual(harness.shard.reverts, [])
    mineDeposits(harness, 6)
    isHigher = true
  })
  await harness.run(() => isHigher && isInStep(harness))
  assert.deepEqual(harness.shard.reverts, [15])
})

test('endpoints that show higher blocks but not the stored ones are reported like silent ones, until the stored branch is back', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 20)
  await harness.run(() => isInStep(harness))
  const { number } = harness.shard.checkpoint()!
  harness.network.mineEmpty(5)
  harness.client.view = ({ method, from }) =>
    method === 'getHeader' && from === number ? [] : harness.network.blocks
  await harness.run(() => harness.row.get('rpcDown') === 1, 90_000)
  assert.equal(harness.row.headPlace(), headPlaces.inStep)
  harness.client.view = () => harness.network.blocks
  await harness.run(() => harness.row.get('rpcDown') === 0)
  await harness.run(() => isInStep(harness))
})

for (const blocks of [10, 40])
  test(`a chain started anew, ${blocks} blocks high, is refused by its first block, and none of its blocks is stored`, async () => {
    const harness = createSyncHarness()
    mineDeposits(harness, 20)
    await harness.run(() => isInStep(harness))
    const other = createSyncHarness()
    mineDeposits(other, blocks)
    const anew = (hash: Hex): Hex => keccak256(hash)
    const foreign = other.network.blocks.map((block) => ({
      ...block,
      hash: anew(block.hash),
      parentHash: anew(block.parentHash),
    }))
    harness.client.view = () => foreign
    await harness.run(() => harness.row.haltReason() === 'wrong_chain', 90_000)
    const told = harness.messages.flatMap((message) => (message.type === 'halted' ? [message.message] : []))
    assert.match(told.at(-1)!, /^block 0 is 0x\w{64}, but this store was made from a chain where it is 0x/)
    assert.equal(harness.shard.counts().deposits, 20)
    harness.client.view = () => harness.network.blocks
    await harness.run(() => harness.row.haltReason() === 'none' && isInStep(harness))
  })

test('blocks of two branches are never stored on each other', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 20)
  await harness.run(() => isInStep(harness))
  const old = harness.network.blocks
  harness.network.reorg({ depth: 3, blocks: 'replay', extra: 8 })
  // For a while, headers by number come from the old branch, heads and logs from the new one.
  let isMixed = true
  harness.client.view = ({ method }) => (isMixed && method === 'getHeader' ? old : harness.network.blocks)
  harness.clock.after(4_000, () => {
    assert.equal(harness.shard.checkpoint()!.number, 20)
    isMixed = false
  })
  await harness.run(() => isInStep(harness))
  assert.deepEqual(harness.shard.reverts, [17])
})

test('a reorg deeper than the kept undo halts the network under its own reason', async () => {
  const harness = createSyncHarness({ config: { rollbackBlocks: 10 } })
  mineDeposits(harness, 60)
  await harness.run(() => isInStep(harness))
  harness.network.reorg({ depth: 40 })
  await harness.run(() => harness.row.haltReason() === 'reorg_too_deep')
  assert.equal(harness.shard.counts().deposits, 60, 'history is still there')
})

test('a ten-minute outage heals by itself, with bounded waits', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 3)
  await harness.run(() => isInStep(harness))
  const from = harness.clock.now()
  harness.client.isDown = () => harness.clock.now() - from < 600_000
  harness.client.before = () => {
    if (harness.client.isDown()) throw new RetryableError('no endpoint answers')
  }
  let wasDown = false
  harness.clock.after(300_000, () => {
    wasDown = harness.row.get('rpcDown') === 1
    mineDeposits(harness, 2)
  })
  await harness.run(() => harness.clock.now() > from + 600_000 && isInStep(harness), 650_000)
  assert.ok(wasDown)
  assert.equal(harness.row.get('rpcDown'), 0)
  assert.ok(harness.client.calls.length < 200, `${harness.client.calls.length} calls`)
})

test('the wrong chain halts the network as wrong_chain, which heals when the endpoint is corrected', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 3)
  let isWrong = true
  harness.client.before = ({ method }) => {
    if (isWrong && method === 'verifyIdentity')
      throw new FatalError('endpoint 0 is chain 5, configured 900', { reason: 'wrong_chain' })
  }
  await harness.run(() => harness.row.haltReason() === 'wrong_chain')
  assert.equal(harness.shard.checkpoint(), undefined)
  isWrong = false
  await harness.run(() => isInStep(harness))
  assert.equal(harness.row.haltReason(), 'none')
  assert.deepEqual(
    harness.messages.map(({ type }) => type).filter((type) => type === 'halted' || type === 'resumed'),
    ['halted', 'resumed'],
  )
})

test('a full disk halts the network as disk_full, which goes on when there is room', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 3)
  const full = () => Object.assign(new Error('Commit failed'), { code: 'ENOSPC' })
  harness.shard.failures.push(full(), full(), full())
  await harness.run(() => harness.row.haltReason() === 'disk_full')
  await harness.run(() => isInStep(harness))
  assert.equal(harness.row.haltReason(), 'none')
})

test('a log that stays hidden halts the network, which heals when the log is shown', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 10)
  let isHidden = true
  harness.client.hideLogs(({ number }) => isHidden && number === 5)
  const { readCarefully } = harness.client
  let carefulReads = 0
  harness.client.readCarefully = (from, to) => {
    carefulReads++
    readCarefully(from, to)
  }
  await harness.run(() => harness.row.haltReason() === 'deposit_count_gap', 60_000)
  assert.ok(carefulReads >= 5, 'the stretch is read with care')
  isHidden = false
  await harness.run(() => isInStep(harness), 60_000)
  assert.equal(harness.row.haltReason(), 'none')
})

test('a log hidden at the end of the stored blocks is noticed with the next deposit, and the shard is read again from below', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 10)
  let hidden: number | undefined = 10
  harness.client.hideLogs(({ number }, { from }) => from <= 10 && number === hidden)
  harness.client.getContractDepositCount = async () => undefined
  await harness.run(() => harness.shard.checkpoint()?.number === 10)
  assert.equal(harness.shard.counts().deposits, 9)
  hidden = undefined
  mineDeposits(harness, 1)
  await harness.run(() => isInStep(harness))
  assert.equal(harness.row.haltReason(), 'none')
  assert.ok(harness.shard.reverts.length > 0)
})

test('a hidden log that no later log reveals is found by asking the contract', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 10)
  let isHidden = true
  harness.client.hideLogs(({ number }) => isHidden && number === 10)
  await harness.run(() => harness.row.haltReason() === 'missing_log')
  assert.equal(harness.row.get('contractDepositCount'), 10)
  isHidden = false
  await harness.run(() => harness.row.haltReason() === 'none' && isInStep(harness))
})

test('a range of far history that came back empty is read again, once', async () => {
  const harness = createSyncHarness({ config: { logRange: 10, rollbackBlocks: 8 } })
  for (let i = 0; i < 300; i++)
    harness.network.mine((block) => (i % 40 === 5 ? block.tx().deposit() : undefined))
  let empty: ClientCall | undefined
  // The first window around block 86 lacks its deposit. The next deposit is 40 blocks later.
  harness.client.hideLogs(({ number }, call) => {
    if (number !== 86 || call.from > 86 || call.to < 86) return false
    empty ??= call
    return empty === call
  })
  await harness.run(() => isInStep(harness))
  assert.ok(empty)
  assert.equal(harness.row.haltReason(), 'none')
  assert.ok(harness.shard.reverts.some((block) => block < 86))
})

test('senders that fail at the tip stay open, are never guessed, and are resolved later', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 3)
  let areHidden = true
  harness.client.before = ({ method }) => {
    if (areHidden && method === 'resolveSenders') throw new RetryableError('transaction not found')
  }
  await harness.run(() => harness.shard.checkpoint()?.number === 3)
  await harness.run(() => harness.clock.now() > 1_020_000)
  assert.equal(harness.row.get('caughtUp'), 0)
  assert.equal(harness.shard.counts().unresolvedSenders, 3)
  areHidden = false
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.ok(isInStep(harness))
})

test('at the tip tx.from is committed with its block where a trace fails, and the caller is corrected later', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 1)
  // Through a contract: only a trace shows the caller.
  harness.network.mine((block) => block.tx({ to: userContract(1) }).deposit())
  mineDeposits(harness, 1)
  const fault = harness.client.endpoint.fail({
    type: 'error',
    code: -32000,
    message: 'execution timeout',
    methods: ['debug_traceTransaction'],
  })
  await harness.run(() => isInStep(harness))
  const { senders } = harness.shard
  const told = harness.shard.batches.flatMap(({ blocks }) => blocks.flatMap(({ events }) => events))
  assert.ok(told.every((event) => event.type !== 'deposit' || event.sender !== null))
  assert.deepEqual(
    senders().map((sender) => sender?.isProvisional),
    [false, true, false],
  )
  fault.off()
  await harness.run(() => senders().every((sender) => sender?.isProvisional === false))
})

test('a transaction that no endpoint knows holds up neither later deposits nor, after a minute, the network', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 3)
  const [, second] = harness.network.deposits()
  harness.client.hideTransactions((hash) => hash === second!.transactionHash)
  const startedAtMs = harness.clock.now()
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.equal(harness.shard.counts().unresolvedSenders, 0)
  assert.ok(harness.clock.now() - startedAtMs < 5_000, 'at once')
  assert.equal(harness.row.get('awaitedSenders'), 1)
})

test('a slow answer for senders does not hold up the blocks', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 3)
  harness.client.endpoint.fail({ type: 'silent', methods: ['eth_getTransactionByHash'] })
  await harness.run(() => harness.shard.checkpoint()?.number === 3, 5_000)
  assert.equal(harness.shard.counts().unresolvedSenders, 3)
})

test('senders that are answered late are stored at once, though the next look at the head is not due', async () => {
  const harness = createSyncHarness({ commits: () => noCommits, config: { pollIntervalMs: 60_000 } })
  mineDeposits(harness, 3)
  const startedAtMs = harness.clock.now()
  const held = new Promise<void>((resolve) => harness.clock.after(30_000, resolve))
  harness.client.before = ({ method }) => (method === 'resolveSenders' ? held : undefined)
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.ok(isInStep(harness))
  const afterMs = harness.clock.now() - startedAtMs
  assert.ok(afterMs >= 30_000 && afterMs <= 30_100, `${afterMs} ms`)
})

test('undo is kept at least down to the final block, and finality is reported', async () => {
  const harness = createSyncHarness({ config: { rollbackBlocks: 10 } })
  harness.client.getFinalizedBlock = async ({ number }) => asBlockNumber(number - 3)
  mineDeposits(harness, 50)
  await harness.run(() => isInStep(harness))
  assert.equal(harness.shard.batches.at(-1)!.undoFloor, 40)
  assert.equal(harness.shard.finalized, 47)
  const slow = createSyncHarness({ config: { rollbackBlocks: 10 } })
  slow.client.getFinalizedBlock = async () => asBlockNumber(20)
  mineDeposits(slow, 50)
  await slow.run(() => isInStep(slow))
  assert.equal(slow.shard.batches.at(-1)!.undoFloor, 20, 'undo reaches down to the final block')
})

test('a restart continues after the checkpoint', async () => {
  const harness = createSyncHarness()
  mineDeposits(harness, 120)
  harness.client.before = ({ method }) => {
    if (method === 'fetchRange' && (harness.shard.checkpoint()?.number ?? 0) >= 20) harness.interrupt()
  }
  await harness.run(() => false)
  harness.client.before = () => {}
  const at = harness.shard.checkpoint()!.number
  const applied = harness.shard.batches.length
  assert.ok(at < 120)
  await harness.run(() => isInStep(harness))
  assert.equal(harness.shard.batches[applied]!.fromBlock, at + 1)
})

test('a network has caught up once its settled roots were searched, and continues the search while it is idle', async () => {
  let slices = 40
  const exitRootSearch = {
    get isBehind() {
      return slices > 0
    },
    get hasWork() {
      return slices > -100
    },
    step: async () => {
      slices--
    },
  }
  const harness = createSyncHarness({ networkId: 1, exitRootSearch, config: { pollIntervalMs: 1_000 } })
  harness.network.mineEmpty(3)
  await harness.run(() => harness.row.get('caughtUp') === 1)
  assert.ok(slices <= 0, `${slices} slices were left`)
  const atMs = harness.clock.now()
  await harness.run(() => slices <= -100)
  assert.ok(harness.clock.now() - atMs < 3_000, 'not one slice for each look at the head')
})

/** Commits of others, when the test wants them. */
function commitsAtWill() {
  let wake: (() => void) | undefined
  const commits = {
    count: () => 0,
    onCommit: (_: number, callback: () => void) => {
      wake = callback
      return () => {
        wake = undefined
      }
    },
  }
  return { commits: () => commits, commit: () => wake?.() }
}

/** A layer 2 at its head, which looks at it every ten seconds, and the times of its looks at the L1 after `startMs`. */
async function restingNetwork() {
  const { commits, commit } = commitsAtWill()
  const looks: number[] = []
  const step = async () => void looks.push(harness.clock.now())
  const exitRootSearch = { isBehind: false, hasWork: false, step }
  const config = { pollIntervalMs: 10_000 }
  const harness: SyncHarness = createSyncHarness({ networkId: 1, exitRootSearch, commits, config })
  harness.network.mineEmpty(3)
  await harness.run(() => harness.row.get('caughtUp') === 1)
  const rest = async (script: (startMs: number) => void, ms: number): Promise<number[]> => {
    const startMs = harness.clock.now()
    looks.length = 0
    script(startMs)
    await harness.run(() => harness.clock.now() >= startMs + ms)
    return looks.map((atMs) => atMs - startMs)
  }
  return { harness, rest, commit }
}

test('a network at rest looks at what others have stored when one commits, at once and not again', async () => {
  const { harness, rest, commit } = await restingNetwork()
  const looks = await rest(() => harness.clock.after(3_000, commit), 9_000)
  assert.deepEqual(
    looks.filter((atMs) => atMs > 100),
    [3_000],
  )
})

test('others that commit all the time have a network at rest look twenty times a second at most', async () => {
  const { harness, rest, commit } = await restingNetwork()
  const looks = await rest(() => {
    for (let ms = 1_000; ms < 6_000; ms++) harness.clock.after(ms, commit)
  }, 9_000)
  const meanwhile = looks.filter((atMs) => atMs >= 1_000 && atMs < 6_000).length
  assert.ok(meanwhile >= 90 && meanwhile <= 100, `${meanwhile} looks in 5 s`)
})

test('memory is given back once after a history and its senders, and not at each block that follows', async () => {
  const openSenders: number[] = []
  const harness: SyncHarness = createSyncHarness({
    afterHistory: () => openSenders.push(harness.shard.counts().unresolvedSenders),
  })
  mineDeposits(harness, 200)
  await harness.run(() => isInStep(harness) && openSenders.length > 0)
  for (let block = 201; block <= 210; block++)
    harness.clock.after(1_000 * (block - 200), () => mineDeposits(harness, 1))
  await harness.run(() => harness.network.head.number === 210 && isInStep(harness))
  assert.deepEqual(openSenders, [0])
})
