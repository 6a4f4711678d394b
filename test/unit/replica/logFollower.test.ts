import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CommandLog, createCommandLog } from '../../../src/cluster/commandLog.js'
import { asLogSequence } from '../../../src/cluster/logStream.js'
import { encodeCommand } from '../../../src/log/commandCodec.js'
import { commandMessages } from '../../../src/log/commandMessages.js'
import { asNetworkId, type BlockNumber } from '../../../src/protocol/units.js'
import { LogFollower } from '../../../src/replica/logFollower.js'
import { LogProposer } from '../../../src/replica/logProposer.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import type { LogSettings } from '../../../src/shard/shardLog.types.js'
import { FakeCluster, FakeMember } from '../../support/fakeCluster.js'
import { tempFolder } from '../../support/tempFolder.js'
import { openTestShard, type TestShard } from '../../support/testShard.js'
import { VirtualClock } from '../../support/virtualClock.js'
import { sampleCommands } from '../log/commandSamples.js'

const NETWORK = asNetworkId(1)
const settings: LogSettings = {
  ...sampleCommands.begin.settings,
  ...{ networkId: NETWORK, rollupManager: undefined },
}
const never = new AbortController().signal
const APPLIED = { type: 'applied' }
const catchingUp: ShardCommand = { type: 'noteCatchingUp', isCatchingUp: true }

/** An instance with a shard of its own that follows the log of the cluster. */
class Instance {
  readonly shard: TestShard
  readonly log: CommandLog
  readonly follower: LogFollower
  readonly following: Promise<void>
  /** Sequence and problem of each message that was left out. */
  readonly leftOut: string[] = []
  readonly #end = new AbortController()
  readonly #cluster: FakeCluster
  #ids = 0

  private constructor(cluster: FakeCluster, shard: TestShard, log: CommandLog, own: LogSettings) {
    this.#cluster = cluster
    this.shard = shard
    this.log = log
    this.follower = new LogFollower({
      ...{ log, writer: shard.writer, settings: own, clock: cluster.clock },
      onLeftOut: (sequence, problem) => this.leftOut.push(`${sequence} ${problem}`),
    })
    this.following = this.follower.follow(this.#end.signal)
    this.following.catch(() => undefined)
  }

  /** @param lost how many of the first messages are lost on their way, and read again later. */
  static async open(cluster: FakeCluster, folder: string, own = settings, lost = 0): Promise<Instance> {
    const member = new FakeMember(cluster)
    let left = lost
    member.faultOf = (operation) => (operation === 'deliver' && left-- > 0 ? 'request_lost' : undefined)
    const log = createCommandLog(await member.openLogStream(NETWORK, never), member.clock)
    return new Instance(cluster, openTestShard(folder, NETWORK), log, own)
  }

  proposer(signal = never): Promise<LogProposer> {
    const newId = () => new Uint8Array(16).fill(++this.#ids)
    const { log, follower, shard } = this
    return LogProposer.open({ log, follower, writer: shard.writer, newId, signal }, settings)
  }

  /** @returns how following ended. */
  async close(): Promise<unknown> {
    this.#end.abort()
    this.#cluster.wake()
    const ended = await this.following.catch((error: unknown) => error)
    await this.shard.close()
    return ended
  }
}

const newCluster = () => new FakeCluster(new VirtualClock())

function publish(cluster: FakeCluster, id: number, payload: Uint8Array): void {
  const { entries } = cluster.log(NETWORK)
  cluster.publish(NETWORK, { id: `${id}.0`, payload }, asLogSequence(entries.length))
}

const messageOf = (id: number, command: Uint8Array): Uint8Array =>
  commandMessages(new Uint8Array(16).fill(id), command)[0]!

test('a command reaches every shard by the log, and its proposer learns whether it was applied or refused', async (context) => {
  const cluster = newCluster()
  const [first, second] = [
    await Instance.open(cluster, tempFolder(context)),
    await Instance.open(cluster, tempFolder(context)),
  ]
  const proposer = await first.proposer()
  assert.deepEqual(first.shard.writer.logSettings(), settings, 'the first proposer begins the log')
  assert.deepEqual(await proposer.propose(catchingUp), APPLIED)
  const outcome = await proposer.propose({ type: 'revertTo', ancestor: 3 as BlockNumber })
  assert.deepEqual(outcome, {
    ...{ type: 'refused', reason: 'unknown_ancestor' },
    message: 'revert to block 3 above the checkpoint (none)',
  })
  await second.follower.hasRead(asLogSequence(3), never)
  for (const { writer, status } of [first.shard, second.shard]) {
    assert.deepEqual(writer.logPlace(), { sequence: 3, commandId: new Uint8Array(16).fill(3) })
    assert.equal(status.get('catchingUp'), 1)
  }
  for (const instance of [first, second]) assert.equal(await instance.close(), undefined)
})

test('what is stored already is not given to the log again', async (context) => {
  const cluster = newCluster()
  const instance = await Instance.open(cluster, tempFolder(context))
  const proposer = await instance.proposer()
  for (let time = 0; time < 3; time++) assert.deepEqual(await proposer.propose(catchingUp), APPLIED)
  assert.equal(cluster.log(NETWORK).entries.length, 2, 'its beginning, and the command')
  await instance.close()
})

test('a shard goes on behind its place after a restart', async (context) => {
  const cluster = newCluster()
  const folder = tempFolder(context)
  const before = await Instance.open(cluster, folder)
  await (await before.proposer()).propose(catchingUp)
  await before.close()
  const again = await Instance.open(cluster, folder)
  assert.equal(again.follower.readUpTo, 2)
  const proposer = await again.proposer()
  assert.deepEqual(await proposer.propose({ type: 'noteCatchingUp', isCatchingUp: false }), APPLIED)
  assert.equal(again.shard.writer.logPlace()?.sequence, 3)
  await again.close()
})

test('a proposer that another one has overtaken is told so, and its command is given to no shard', async (context) => {
  const cluster = newCluster()
  const [first, second] = [
    await Instance.open(cluster, tempFolder(context)),
    await Instance.open(cluster, tempFolder(context)),
  ]
  const [one, other] = [await first.proposer(), await second.proposer()]
  // Both expect the same position.
  const [won, lost] = await Promise.allSettled([one.propose(catchingUp), other.propose(catchingUp)])
  assert.deepEqual([won.status, lost.status], ['fulfilled', 'rejected'])
  assert.equal(lost.status === 'rejected' && lost.reason.name, 'OvertakenError')
  assert.equal(cluster.log(NETWORK).entries.length, 2)
  await first.close()
  await second.close()
})

test('a term begins when everything that stood in the log was read', async (context) => {
  const cluster = newCluster()
  const first = await Instance.open(cluster, tempFolder(context))
  const proposer = await first.proposer()
  for (const isCatchingUp of [true, false, true])
    await proposer.propose({ type: 'noteCatchingUp', isCatchingUp })
  const second = await Instance.open(cluster, tempFolder(context), settings, 3)
  const next = await second.proposer()
  assert.equal(second.follower.readUpTo, 4)
  assert.deepEqual(await next.propose({ type: 'noteCatchingUp', isCatchingUp: false }), APPLIED)
  await first.close()
  await second.close()
})

test('what waits for an outcome ends with the term, and with the follower', async (context) => {
  const cluster = newCluster()
  const instance = await Instance.open(cluster, tempFolder(context))
  const term = new AbortController()
  await instance.proposer(term.signal)
  const own = instance.follower.outcomeOf(new Uint8Array(16).fill(9), term.signal)
  const others = instance.follower.outcomeOf(new Uint8Array(16).fill(8), never)
  const unread = instance.follower.hasRead(asLogSequence(99), never)
  term.abort(new Error('the term is over'))
  await assert.rejects(own, /the term is over/)
  const [left, behind] = [assert.rejects(others, /abort/), assert.rejects(unread, /abort/)]
  await instance.close()
  await left
  await behind
})

test('an instance that is configured otherwise than its log is refused in one line, and its shard stays empty', async (context) => {
  const cluster = newCluster()
  const first = await Instance.open(cluster, tempFolder(context))
  await first.proposer()
  const own = { ...settings, startBlock: 7 as BlockNumber, gerInjection: 'poll' } as const
  const other = await Instance.open(cluster, tempFolder(context), own)
  await assert.rejects(other.following, {
    name: 'OperatorError',
    message:
      'network 1 is configured otherwise than its log: start_block 7 (in the log: 16384), ger_injection poll (in the log: event)',
  })
  assert.equal(other.shard.writer.logPlace(), undefined)
  await other.close()
  await first.close()
})

test('a log that was deleted and made anew is not the log of a shard, however long it is', async (context) => {
  const folder = tempFolder(context)
  const cluster = newCluster()
  const first = await Instance.open(cluster, folder)
  await first.proposer()
  await first.close()
  const anew = newCluster()
  const logId = new Uint8Array(16).fill(0xee)
  publish(anew, 1, messageOf(1, encodeCommand({ type: 'begin', settings: { ...settings, logId } })))
  publish(anew, 2, messageOf(2, encodeCommand(catchingUp)))
  const instance = await Instance.open(anew, folder)
  await assert.rejects(instance.following, {
    name: 'OperatorError',
    message: `the log of network 1 is 0x${'ee'.repeat(16)}, the shard has followed 0x${'1d'.repeat(16)}: index again with \`bds reindex --network 1\``,
  })
  assert.equal(instance.shard.writer.logPlace()?.sequence, 1)
  await instance.close()
})

/** Messages that are no command by the rules of their version. */
function leftOut(): readonly Uint8Array[] {
  const spoiled = messageOf(9, encodeCommand(catchingUp))
  spoiled[spoiled.length - 1]! ^= 1
  return [
    spoiled,
    messageOf(10, Uint8Array.of(2, 4, 2)),
    messageOf(11, Uint8Array.of(1, 15, 0)),
    Uint8Array.of(2, 2, 3),
  ]
}

test('what is no command for any build is left out by all alike, and told', async (context) => {
  const cluster = newCluster()
  const first = await Instance.open(cluster, tempFolder(context))
  await first.proposer()
  for (const [at, payload] of leftOut().entries()) publish(cluster, 9 + at, payload)
  publish(cluster, 20, messageOf(20, encodeCommand(catchingUp)))
  const second = await Instance.open(cluster, tempFolder(context))
  for (const { follower, shard, leftOut: told } of [first, second]) {
    await follower.hasRead(asLogSequence(6), never)
    assert.equal(shard.status.get('catchingUp'), 1)
    assert.equal(shard.writer.logPlace()?.sequence, 6)
    assert.deepEqual(
      told.map((text) => text.replace(/: command .*/, '')),
      [
        '2 byte 21, SHA-256',
        '3 byte 2, isCatchingUp: 2 exceeds 1',
        '4 byte 1, type of the command: 15 exceeds 14',
        '5 byte 0, message: 3 bytes, 53 are its head',
      ],
    )
  }
  await first.close()
  await second.close()
})

/** One version newer, as far as a reader sees: of the message, or of the command in it. */
const newer: Readonly<Record<string, () => Uint8Array>> = {
  message() {
    const message = messageOf(13, encodeCommand(catchingUp))
    message[0] = 4
    return message
  },
  command: () => messageOf(13, Uint8Array.of(4, 4, 1)),
}

for (const [part, make] of Object.entries(newer))
  test(`a newer version of a ${part} stops the shard in front of it, and a build that can read it goes on from there`, async (context) => {
    const cluster = newCluster()
    const folder = tempFolder(context)
    const instance = await Instance.open(cluster, folder)
    const proposer = await instance.proposer()
    await proposer.propose(catchingUp)
    const end: ShardCommand = { type: 'noteCatchingUp', isCatchingUp: false }
    publish(cluster, 13, make())
    publish(cluster, 14, messageOf(14, encodeCommand(end)))
    await assert.rejects(instance.following, {
      ...{ name: 'CommandFormatError', fault: 'newer_version' },
      message:
        /^byte 0, version of the \w+: 4 is newer than 3, the newest that this build reads: upgrade this instance$/,
    })
    assert.equal(instance.shard.writer.logPlace()?.sequence, 2)
    assert.equal(instance.shard.status.get('catchingUp'), 1)
    assert.deepEqual(instance.leftOut, [])
    await instance.close()
    // A message that this build can read stands for one that a newer build can.
    const { entries } = cluster.log(NETWORK)
    entries[2] = {
      ...entries[2]!,
      payload: messageOf(13, encodeCommand({ type: 'noteHalt', reason: 'missing_log' })),
    }
    const upgraded = await Instance.open(cluster, folder)
    await upgraded.follower.hasRead(asLogSequence(4), never)
    assert.equal(upgraded.shard.status.haltReason(), 'missing_log')
    assert.equal(upgraded.shard.status.get('catchingUp'), 0)
    await upgraded.close()
  })

test('a log that a build without feeds has begun is followed: what it took for granted holds', async (context) => {
  const cluster = newCluster()
  const begin = encodeCommand({ type: 'begin', settings })
  // Without the number of events, three bytes of a million.
  const older = begin.slice(0, -3)
  older[0] = 1
  publish(cluster, 1, messageOf(1, older))
  publish(cluster, 2, messageOf(2, Uint8Array.of(1, 4, 1)))
  const instance = await Instance.open(cluster, tempFolder(context))
  await instance.follower.hasRead(asLogSequence(2), never)
  assert.equal(instance.shard.status.get('catchingUp'), 1)
  assert.deepEqual(instance.shard.writer.logSettings(), settings)
  await instance.close()
})
