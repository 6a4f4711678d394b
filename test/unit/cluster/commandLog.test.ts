import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogGapError } from '../../../src/cluster/clusterFaults.js'
import { type CommandLog, createCommandLog } from '../../../src/cluster/commandLog.js'
import { asLogSequence } from '../../../src/cluster/logStream.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { BEGINNING, messagesOf, readTexts } from '../../support/clusterContract.js'
import { FakeCluster, type FakeFault, FakeMember, type FakeOperation } from '../../support/fakeCluster.js'
import { VirtualClock } from '../../support/virtualClock.js'

const NETWORK = asNetworkId(1)
const endless = (): AbortSignal => new AbortController().signal

interface World {
  readonly clock: VirtualClock
  readonly cluster: FakeCluster
  readonly member: FakeMember
  readonly log: CommandLog
  /** Of another member, whose calls never fail. */
  readonly other: CommandLog
  /** Ids in the log. */
  ids(): readonly string[]
}

async function openWorld(): Promise<World> {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(clock)
  const [member, good] = [new FakeMember(cluster), new FakeMember(cluster)]
  return {
    clock,
    cluster,
    member,
    log: createCommandLog(await member.openLogStream(NETWORK, endless()), member.clock),
    other: createCommandLog(await good.openLogStream(NETWORK, endless()), clock),
    ids: () => cluster.log(NETWORK).entries.map(({ id }) => id),
  }
}

/** The faults of the calls of one kind, the first call's first; later ones have none. */
function inOrder(kind: FakeOperation, faults: readonly (FakeFault | undefined)[]): FakeMember['faultOf'] {
  const left = [...faults]
  return (operation) => (operation === kind ? left.shift() : undefined)
}

const LOST: readonly (readonly (FakeFault | undefined)[])[] = [
  ['answer_lost'],
  [undefined, 'answer_lost'],
  ['request_lost', 'answer_lost', undefined, 'answer_lost', 'answer_lost'],
  [undefined, undefined, 'request_lost', 'request_lost', 'answer_lost'],
  [{ lateMs: 30 }, undefined, { lateMs: 2_500 }],
]

test('however answers and requests are lost or late, a command stands once and is acknowledged', async () => {
  for (const faults of LOST) {
    const { member, log, ids, clock } = await openWorld()
    member.faultOf = inOrder('publish', faults)
    const outcome = await log.append(messagesOf('a', ['1', '2', '3']), BEGINNING, endless())
    assert.deepEqual(outcome, { type: 'appended', last: 3 }, JSON.stringify(faults))
    // What was late comes after all.
    await clock.sleep(60_000, endless())
    assert.deepEqual(ids(), ['a.0', 'a.1', 'a.2'], JSON.stringify(faults))
  }
})

test('a refusal that is lost fences as well', async () => {
  const { member, log, other, ids } = await openWorld()
  await other.append(messagesOf('b', ['1']), BEGINNING, endless())
  member.faultOf = inOrder('publish', ['answer_lost', 'answer_lost'])
  assert.deepEqual(await log.append(messagesOf('a', ['1']), BEGINNING, endless()), {
    type: 'fenced',
    last: 0,
  })
  assert.deepEqual(ids(), ['b.0'])
})

test('a proposer that comes back after another one is fenced behind those of its parts that were stored', async () => {
  const { member, log, other, ids } = await openWorld()
  const kinds: FakeOperation[] = []
  member.faultOf = (operation) => {
    kinds.push(operation)
    // Its second part is on its way when the process is paused.
    if (operation === 'publish' && kinds.filter((kind) => kind === 'publish').length === 2) member.pause()
    return undefined
  }
  const appending = log.append(messagesOf('a', ['1', '2', '3']), BEGINNING, endless())
  while (ids().length < 1) await new Promise(setImmediate)
  assert.equal((await other.append(messagesOf('b', ['1']), asLogSequence(1), endless())).type, 'appended')
  member.resume()
  assert.deepEqual(await appending, { type: 'fenced', last: 1 })
  assert.deepEqual(ids(), ['a.0', 'b.0'])
})

test('a command that was given up is found by the next try, wherever it had come to', async () => {
  const { member, log, ids } = await openWorld()
  const givingUp = new AbortController()
  member.faultOf = inOrder('publish', [undefined, 'answer_lost'])
  const appending = log.append(messagesOf('a', ['1', '2', '3']), BEGINNING, givingUp.signal)
  while (ids().length < 2) await new Promise(setImmediate)
  givingUp.abort()
  assert.deepEqual(await appending, { type: 'unknown' })
  assert.deepEqual(await log.append(messagesOf('a', ['1', '2', '3']), BEGINNING, endless()), {
    type: 'appended',
    last: 3,
  })
  assert.deepEqual(ids(), ['a.0', 'a.1', 'a.2'])
})

test('a member that is cut off neither appends nor reads until it rejoins, and then does both', async () => {
  const { clock, member, log, other, ids } = await openWorld()
  await other.append(messagesOf('a', ['1']), BEGINNING, endless())
  const reading = readTexts(log, 0, 3, endless())
  member.cutOff()
  const appending = log.append(messagesOf('c', ['1']), asLogSequence(2), endless())
  await clock.sleep(20_000, endless())
  await other.append(messagesOf('b', ['1']), asLogSequence(1), endless())
  assert.deepEqual(ids(), ['a.0', 'b.0'])
  member.rejoin()
  assert.deepEqual(await appending, { type: 'appended', last: 3 })
  assert.deepEqual(await reading, ['1 a.0 1', '2 b.0 1', '3 c.0 1'])
})

test('a message that is lost on its way to a reader is read again, in its place', async () => {
  const { member, log, other } = await openWorld()
  await other.append(messagesOf('a', ['1', '2', '3', '4']), BEGINNING, endless())
  member.faultOf = inOrder('deliver', [undefined, 'request_lost', undefined, 'request_lost'])
  assert.deepEqual(await readTexts(log, 0, 4, endless()), ['1 a.0 1', '2 a.1 2', '3 a.2 3', '4 a.3 4'])
})

test('a reader and a proposer are told when what they need is gone, or when the log ends before their position', async () => {
  const { cluster, log, other, clock } = await openWorld()
  await other.append(messagesOf('a', ['1', '2', '3', '4']), BEGINNING, endless())
  cluster.purge(NETWORK, 2)
  const readOn = (after: number): Promise<string[]> => readTexts(log, after, 1, endless())
  await assert.rejects(readOn(1), new LogGapError('the log begins at 3: what stands after 1 is gone'))
  assert.deepEqual(await readOn(2), ['3 a.2 3'])
  const startedMs = clock.now()
  const short = new LogGapError('the log ends at 4, before position 9')
  await assert.rejects(readOn(9), short)
  assert.ok(clock.now() - startedMs >= 10_000, 'a leader may have to catch up')
  await assert.rejects(log.append(messagesOf('b', ['1']), asLogSequence(9), endless()), short)
  cluster.purge(NETWORK, 4)
  await assert.rejects(readOn(2), new LogGapError('the log begins at 5: what stands after 2 is gone'))
})

test('a message that is missing in the middle of the log is told, not waited for', async () => {
  const { cluster, log, other } = await openWorld()
  await other.append(messagesOf('a', ['1', '2', '3']), BEGINNING, endless())
  const { entries } = cluster.log(NETWORK)
  entries[1] = entries[2]!
  await assert.rejects(
    readTexts(log, 0, 3, endless()),
    new LogGapError('the log has 3, but nothing between 1 and it'),
  )
})
