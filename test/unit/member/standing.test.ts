import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStatusBoard, headPlaces, statusRow } from '../../../src/board/statusBoard.js'
import { ClusterUnavailableError } from '../../../src/cluster/clusterFaults.js'
import type { HeadNote } from '../../../src/cluster/headBoard.js'
import { asLogSequence } from '../../../src/cluster/logStream.js'
import type { Config } from '../../../src/config/config.types.js'
import { createHealthBoard, HealthBoard } from '../../../src/health/healthBoard.js'
import { createHealthSource } from '../../../src/health/healthSource.js'
import { Standing } from '../../../src/member/standing.js'
import { asBlockNumber } from '../../../src/protocol/units.js'
import { noteOf } from '../../support/clusterContract.js'
import { VirtualClock } from '../../support/virtualClock.js'

const at = asLogSequence

/** An instance whose shard was just opened, on a log whose end the test sets; undefined: the servers are silent. */
function openStanding(context: TestContext, end: number | undefined) {
  const status = createStatusBoard([0, 1])
  const row = statusRow(status, 1)
  row.setHeadPlace(headPlaces.unseen)
  const clock = new VirtualClock()
  const log = { end }
  const state = { caughtUp: 0 }
  const stop = new AbortController()
  const standing = new Standing({
    row,
    clock,
    maxStaleMs: 10_000,
    log: {
      bounds: async () => {
        if (log.end === undefined) throw new ClusterUnavailableError('silent')
        return { first: at(1), last: at(log.end) }
      },
    },
    onCaughtUp: () => state.caughtUp++,
  })
  void standing.watch(stop.signal)
  // Its virtual time goes on for ever.
  context.after(() => stop.abort())
  const pass = (ms: number) => clock.sleep(ms, new AbortController().signal)
  const shown: HeadNote[] = []
  const writer = { show: (note: HeadNote) => void shown.push(note) }
  return { status, row, standing, log, state, pass, shown, writer }
}

const news = (head: number, sequence: number, change: Partial<HeadNote> = {}) => ({
  note: { ...noteOf(head), sequence: at(sequence), ...change },
  isNews: true,
})

test('the head that a holder tells counts at once; that it is in step and caught up, when the shard is where the holder was', (context) => {
  const { row, standing, state } = openStanding(context, 0)
  standing.read(at(4))
  standing.heard(news(100, 5))
  assert.equal(row.get('headBlock'), 100)
  assert.deepEqual([row.headPlace(), row.get('caughtUp'), state.caughtUp], [headPlaces.unseen, 0, 0])
  standing.read(at(5))
  assert.deepEqual([row.headPlace(), row.get('caughtUp'), state.caughtUp], [headPlaces.inStep, 1, 1])
})

test('a note from before this instance watched tells nothing: nobody knows how old it is', (context) => {
  const { row, standing } = openStanding(context, 0)
  standing.read(at(9))
  standing.heard({ ...news(100, 5), isNews: false })
  assert.deepEqual(
    [row.get('headBlock'), row.headPlace(), row.get('caughtUp')],
    [undefined, headPlaces.unseen, 0],
  )
})

test('what the log says of the head stays, whatever a note says', (context) => {
  const { row, standing } = openStanding(context, 0)
  standing.read(at(5))
  row.setHeadPlace(headPlaces.below)
  standing.heard(news(100, 5))
  assert.equal(row.headPlace(), headPlaces.below)
})

test('after a start over a note of before does not make the network caught up', (context) => {
  const { row, standing } = openStanding(context, 0)
  standing.read(at(5))
  standing.heard(news(100, 5))
  standing.startedOver(6)
  standing.read(at(6))
  standing.heard(news(101, 5))
  assert.equal(row.get('caughtUp'), 0)
  standing.heard(news(101, 6))
  assert.equal(row.get('caughtUp'), 1)
})

test('a head that nobody has told for too long is one without endpoints, until somebody tells it again', async (context) => {
  const { row, standing, pass } = openStanding(context, 0)
  standing.heard(news(100, 0))
  await pass(10_000)
  assert.equal(row.get('rpcDown'), 0)
  await pass(2_000)
  assert.equal(row.get('rpcDown'), 1)
  standing.heard(news(101, 0))
  assert.equal(row.get('rpcDown'), 0)
})

test('the lag is the time since the shard last had all of the log, and counts on while nothing is read', async (context) => {
  const { row, standing, log, pass } = openStanding(context, 0)
  log.end = 3
  standing.read(at(3))
  await pass(5_000)
  assert.equal(row.get('logLagMs'), 0)
  log.end = 7
  await pass(10_000)
  const lagMs = row.get('logLagMs')
  assert.ok(lagMs >= 9_000 && lagMs <= 11_000, `${lagMs}`)
  standing.read(at(7))
  assert.equal(row.get('logLagMs'), 0)
})

test('servers that are silent leave the time of their last answer as it was', async (context) => {
  const { row, log, pass } = openStanding(context, undefined)
  await pass(5_000)
  assert.equal(row.get('logHeardMs'), undefined)
  log.end = 1
  await pass(2_000)
  assert.notEqual(row.get('logHeardMs'), undefined)
})

test('whoever leads shows its row every second and is told nothing; what others had of their endpoints is not its own', async (context) => {
  const { row, standing, pass, shown, writer } = openStanding(context, 0)
  standing.read(at(5))
  standing.heard(news(100, 5, { isRpcDown: true, areContractsCompared: false, awaitedSenders: 4 }))
  standing.leads(writer)
  assert.deepEqual(
    [row.get('leads'), row.get('rpcDown'), row.get('contractsCompared'), row.get('awaitedSenders')],
    [1, 0, undefined, 0],
  )
  standing.heard(news(90, 5))
  await pass(2_500)
  assert.ok(shown.length >= 2)
  assert.deepEqual(shown.at(-1), {
    ...noteOf(100),
    sequence: at(5),
    head: asBlockNumber(100),
    areContractsCompared: undefined,
  })
  standing.follows()
  standing.heard(news(110, 5))
  assert.deepEqual([row.get('leads'), row.get('headBlock')], [0, 110])
})

test('what an instance had looked at while it led a network keeps no network out of sync after that', (context) => {
  const { status, row, standing, writer } = openStanding(context, 0)
  const l1 = statusRow(status, 0)
  for (const each of [l1, row]) {
    for (const field of ['headBlock', 'syncedBlock', 'caughtUp'] as const) each.set(field, 1)
    each.setHeadPlace(headPlaces.inStep)
  }
  const { syncStatus } = createHealthSource({
    config: {
      primaryNetwork: 1,
      networks: [0, 1].map((networkId) => ({ networkId, stalledAfterMs: 0 })),
      health: { syncedLagBlocks: 10 },
    } as unknown as Config,
    status,
    board: new HealthBoard(createHealthBoard([0, 1], 1)),
  })
  const synced = () => syncStatus().networks.map(({ is_synced }) => is_synced)
  standing.leads(writer)
  for (const field of ['polledL1Commits', 'searchedL1Commits'] as const) row.set(field, l1.get('commits'))
  row.set('comparedClaimWords', 1)
  // From here on another instance looks at what the L1 stores.
  l1.add('commits', 1)
  l1.set('depositCount', 257)
  assert.deepEqual(synced(), [false, false])
  standing.follows()
  assert.deepEqual(synced(), [true, true])
})
