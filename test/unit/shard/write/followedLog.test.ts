import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStatusBoard, headPlaces, statusRow } from '../../../../src/board/statusBoard.js'
import type { BlockNumber } from '../../../../src/protocol/units.js'
import type { CommandOutcome, ShardCommand } from '../../../../src/shard/shardCommand.types.js'
import type { LogPlace, TableStretch } from '../../../../src/shard/shardLog.types.js'
import { type TableName, tables } from '../../../../src/store/layout/tables.js'
import { prepareStores } from '../../../../src/store/openStores.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { loadedConfig } from '../../../support/loadedConfig.js'
import { RandomChain } from '../../../support/randomChain.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, digestTables, openTestShard, type TestShard } from '../../../support/testShard.js'
import { sampleCommands } from '../../log/commandSamples.js'

const { settings } = sampleCommands.begin
const begin: ShardCommand = { type: 'begin', settings }
const APPLIED = { type: 'applied' }
const blockNumber = (number: number) => number as BlockNumber

/** Id of the command at a place: any bytes that say which. */
const placeAt = (sequence: number): LogPlace => ({ sequence, commandId: new Uint8Array(16).fill(sequence) })

/** A shard that follows a log. Each command stands behind the one before. */
class Follower {
  readonly shard: TestShard
  sequence = 0

  constructor(folder: string) {
    this.shard = openTestShard(folder, 1)
  }

  give(command: ShardCommand): CommandOutcome {
    return this.shard.writer.apply(command, placeAt(++this.sequence))
  }

  digest(): string {
    return this.shard.read(digestTables)
  }
}

function withFollower(
  context: TestContext,
  body: (follower: Follower, chain: RandomChain) => void,
): Promise<void> {
  const follower = new Follower(tempFolder(context))
  const chain = new RandomChain(5)
  for (let count = 0; count < 10; count++) chain.grow(6)
  assert.deepEqual(follower.give(begin), APPLIED)
  assert.deepEqual(
    follower.give({ type: 'applyBlocks', batch: batchOf(chain.blocks.slice(0, 8), 3) }),
    APPLIED,
  )
  body(follower, chain)
  return follower.shard.close()
}

test('the place of a command is stored whether it is applied, refused or changes nothing, and only a change counts as a commit', (context) =>
  withFollower(context, ({ shard }, chain) => {
    const { writer, status } = shard
    const told = () =>
      (['commits', 'publishedCommit', 'lastCommitMs', 'epoch'] as const).map((name) => status.get(name))
    const given: readonly (readonly [ShardCommand, outcome: string, isCommit: boolean])[] = [
      [{ type: 'applyBlocks', batch: batchOf(chain.blocks.slice(9, 10), 3) }, 'refused', false],
      [{ type: 'revertTo', ancestor: blockNumber(2) }, 'refused', false],
      [{ type: 'setFinalized', block: blockNumber(1) }, 'applied', false],
      [{ type: 'noteCatchingUp', isCatchingUp: false }, 'applied', false],
      [{ type: 'noteCatchingUp', isCatchingUp: true }, 'applied', true],
      [{ type: 'applyBlocks', batch: batchOf(chain.blocks.slice(8, 10), 3) }, 'applied', true],
    ]
    let sequence = 10
    for (const [command, expected, isCommit] of given) {
      const [before, digest] = [told(), shard.read(digestWithoutPlace)]
      sequence += 3
      assert.equal(writer.apply(command, placeAt(sequence)).type, expected, command.type)
      assert.deepEqual(writer.logPlace(), placeAt(sequence))
      assert.equal(told()[0]! - before[0]!, isCommit ? 1 : 0, command.type)
      assert.equal(told()[1]! - before[1]!, isCommit ? 1 : 0, command.type)
      if (!isCommit) assert.deepEqual(told(), before)
      assert.equal(shard.read(digestWithoutPlace) === digest, !isCommit, command.type)
    }
  }))

const LOG_PLACE = Buffer.from('logPlace')

function digestWithoutPlace(view: Parameters<typeof digestTables>[0]): string {
  return digestTables({
    get: view.get,
    list: (table, range) =>
      view.list(table, range).filter(({ key }) => table !== 'meta' || Buffer.compare(key, LOG_PLACE) !== 0),
  })
}

test('neither a reorg nor a start over moves the place, the settings or what the log told', (context) =>
  withFollower(context, (follower) => {
    const { writer, status } = follower.shard
    follower.give({ type: 'noteHalt', reason: 'missing_log' })
    follower.give({ type: 'noteHeadPlace', place: headPlaces.below })
    for (const command of [
      { type: 'revertTo', ancestor: blockNumber(5) },
      { type: 'startOver', startOvers: { count: 1, notBeforeMs: undefined } },
    ] as const) {
      assert.deepEqual(follower.give(command), APPLIED)
      assert.deepEqual(writer.logPlace(), placeAt(follower.sequence))
      assert.deepEqual(writer.logSettings(), settings)
      assert.deepEqual([status.haltReason(), status.headPlace()], ['missing_log', headPlaces.below])
    }
    assert.equal(writer.checkpoint(), undefined)
  }))

test('what the log told stands on the board again after a restart, and a halt of this process stays when the log resumes', async (context) => {
  const folder = tempFolder(context)
  const first = new Follower(folder)
  first.give(begin)
  first.give({ type: 'noteHalt', reason: 'missing_log' })
  first.give({ type: 'noteHeadPlace', place: headPlaces.belowFinal })
  await first.shard.close()
  const { writer, status, close } = openTestShard(folder, 1)
  assert.deepEqual([status.haltReason(), status.headPlace()], ['missing_log', headPlaces.belowFinal])
  const commits = status.get('commits')
  assert.deepEqual(writer.apply({ type: 'noteHeadPlace', place: headPlaces.inStep }, placeAt(4)), APPLIED)
  assert.equal(status.headPlace(), headPlaces.inStep)
  assert.ok(status.get('commits') > commits)
  status.setHaltReason('data_folder_lost')
  assert.deepEqual(writer.apply({ type: 'noteHalt', reason: 'none' }, placeAt(5)), APPLIED)
  assert.equal(status.haltReason(), 'data_folder_lost')
  await close()
})

test('what was noted of the head before a start is not shown while nobody has looked again', async (context) => {
  const folder = tempFolder(context)
  const first = openTestShard(folder, 1)
  assert.deepEqual(first.writer.apply({ type: 'noteHeadPlace', place: headPlaces.inStep }), APPLIED)
  assert.deepEqual(first.writer.apply({ type: 'noteHalt', reason: 'missing_log' }), APPLIED)
  await first.close()
  const board = createStatusBoard([1])
  statusRow(board, 1).setHeadPlace(headPlaces.unseen)
  const { writer, status, close } = openTestShard(folder, 1, board)
  writer.noteCatchingUp(true)
  assert.deepEqual([status.haltReason(), status.headPlace()], ['missing_log', headPlaces.unseen])
  assert.deepEqual(writer.noted(), { halt: 'missing_log', headPlace: headPlaces.inStep })
  await close()
})

test('a shard that follows a log is changed by nothing else, and by no command twice', (context) =>
  withFollower(context, ({ shard: { writer } }) => {
    const catchingUp: ShardCommand = { type: 'noteCatchingUp', isCatchingUp: true }
    assert.throws(() => writer.apply(catchingUp), {
      name: 'FatalError',
      message: 'this shard follows a log, and only that can change it: noteCatchingUp is not in it',
    })
    for (const again of [2, 1])
      assert.throws(() => writer.apply(catchingUp, placeAt(again)), {
        name: 'InvariantError',
        message: `a command at ${again} of the log, the shard is at 2`,
      })
    assert.deepEqual(writer.logPlace(), placeAt(2))
  }))

const reasonOf = (outcome: CommandOutcome) => (outcome.type === 'refused' ? outcome.reason : outcome.type)

test('a log begins once: what comes before is refused, and so is a second beginning', async (context) => {
  const follower = new Follower(tempFolder(context))
  const { writer } = follower.shard
  assert.throws(() => writer.apply(begin), { name: 'InvariantError' })
  assert.equal(reasonOf(follower.give({ type: 'noteCatchingUp', isCatchingUp: true })), 'not_begun')
  assert.equal(reasonOf(follower.give(sampleCommands.mark)), 'not_begun')
  assert.equal(writer.logSettings(), undefined)
  assert.deepEqual(follower.give(begin), APPLIED)
  assert.deepEqual(writer.logSettings(), settings)
  assert.equal(reasonOf(follower.give(begin)), 'already_begun')
  await follower.shard.close()
})

test('a log does not begin with a shard that holds something, which the others would not have', async (context) => {
  const { writer, close } = openTestShard(tempFolder(context), 1)
  writer.noteCatchingUp(true)
  assert.deepEqual(writer.apply(begin, placeAt(1)), {
    ...{ type: 'refused', reason: 'already_begun' },
    message: 'the log begins, but the shard has catchingUp',
  })
  await close()
})

test('a service that is alone refuses the store of a log', async (context) => {
  const network = createFakeWorld({ networks: [1] })
    .network(1)
    .config(['http://127.0.0.1:1'])
  const config = { ...loadedConfig(tempFolder(context)), networks: [network] }
  const directory = shardDirectory(config.dataDir, 1)
  await prepareStores(config).close()
  const { writer, close } = openTestShard(config.dataDir, 1)
  assert.deepEqual(writer.apply(begin, placeAt(1)), APPLIED)
  await close()
  assert.throws(() => prepareStores(config), {
    name: 'FatalError',
    message: `${directory} follows the log of a cluster, and cluster.servers is empty: configure them, choose another data_dir, or index again with \`bds reindex --network 1\``,
  })
})

const beginning: TableStretch = { table: 'meta', from: Uint8Array.of(0), entries: 7 }

test('marks go round all tables, and meet each entry once', (context) =>
  withFollower(context, ({ shard }) => {
    const { writer } = shard
    const met = new Map<TableName, string[]>()
    let stretch = beginning
    do {
      const { table, from, entries } = stretch
      const keys = shard.read((view) =>
        view.list(table, { start: from, end: Buffer.alloc(60, 0xff), limit: entries }),
      )
      met.set(table, [...(met.get(table) ?? []), ...keys.map(({ key }) => Buffer.from(key).toString('hex'))])
      stretch = writer.stretchAfter(stretch)
    } while (stretch.table !== 'meta' || stretch.from.length > 1)
    for (const table of Object.keys(tables) as TableName[]) {
      const all = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }
      const keys = shard.read((view) =>
        view.list(table, all).map(({ key }) => Buffer.from(key).toString('hex')),
      )
      assert.deepEqual(met.get(table), keys, table)
    }
  }))

test('a mark changes nothing in a shard that is the same, and stops one that is not, with both values', async (context) => {
  const same = new Follower(tempFolder(context))
  await withFollower(context, (marked, chain) => {
    same.give(begin)
    same.give({ type: 'applyBlocks', batch: batchOf(chain.blocks.slice(0, 8), 3) })
    const { writer } = marked.shard
    for (const table of ['meta', 'deposits', 'undo'] as const) {
      const mark: ShardCommand = { type: 'mark', mark: writer.mark({ ...beginning, table }) }
      const commits = same.shard.status.get('commits')
      assert.deepEqual(same.give(mark), APPLIED)
      assert.deepEqual(marked.give(mark), APPLIED)
      assert.equal(same.shard.status.get('commits'), commits)
      assert.equal(same.digest(), marked.digest())
    }
    marked.give({ type: 'applyBlocks', batch: batchOf(chain.blocks.slice(8, 10), 3) })
    same.give({ type: 'noteCatchingUp', isCatchingUp: false })
    const mark: ShardCommand = { type: 'mark', mark: writer.mark(beginning) }
    const counts = [same.shard.writer.counts().deposits, writer.counts().deposits]
    assert.throws(() => same.give(mark), {
      name: 'DivergedError',
      message: new RegExp(
        `^the shard differs from its log: deposits ${counts[0]} \\(in the log: ${counts[1]}\\), .*digest 0x`,
      ),
    })
    assert.deepEqual(same.shard.writer.logPlace(), placeAt(same.sequence - 1), 'it stands where it was')
  })
  await same.shard.close()
})

test('a mark notices one wrong byte in its stretch', async (context) => {
  const folder = tempFolder(context)
  const follower = new Follower(folder)
  const chain = new RandomChain(5)
  for (let count = 0; count < 8; count++) chain.grow(6)
  follower.give(begin)
  follower.give({ type: 'applyBlocks', batch: batchOf(chain.blocks) })
  const stretch: TableStretch = { ...beginning, table: 'deposits' }
  const mark = { type: 'mark', mark: follower.shard.writer.mark(stretch) } as const
  await follower.shard.close()
  const store = openShardStoreWriter(shardDirectory(folder, 1))
  store.transact((view) => {
    const [{ key, value }] = view.list('deposits', {
      start: Uint8Array.of(0),
      end: Buffer.alloc(60, 0xff),
    }) as [{ key: Uint8Array; value: Uint8Array }]
    const spoiled = value.slice()
    spoiled[70]! ^= 1
    view.putUnseen('deposits', key, spoiled)
  })
  await store.close()
  const { writer, close } = openTestShard(folder, 1)
  assert.throws(
    () => writer.apply(mark, placeAt(3)),
    /^DivergedError: the shard differs from its log: digest 0x/,
  )
  const ofAnotherBuild = { ...mark, mark: { ...mark.mark, schema: 6 } }
  assert.deepEqual(writer.apply(ofAnotherBuild, placeAt(3)), APPLIED, 'whose bytes are others')
  const otherCounts = { ...mark, mark: { ...ofAnotherBuild.mark, deposits: 1 } }
  assert.throws(
    () => writer.apply(otherCounts, placeAt(4)),
    /^DivergedError: the shard differs from its log: deposits \d+ \(in the log: 1\);/,
  )
  await close()
})
