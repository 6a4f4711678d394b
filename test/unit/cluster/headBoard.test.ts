import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HeadReading, openHeadWriter, watchHeads } from '../../../src/cluster/headBoard.js'
import { asRevision, type KeyBoard, NEVER_WRITTEN } from '../../../src/cluster/keyBoard.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { noteOf } from '../../support/clusterContract.js'
import { FakeCluster, FakeMember } from '../../support/fakeCluster.js'
import { VirtualClock } from '../../support/virtualClock.js'

const NETWORK = asNetworkId(7)
const endless = (): AbortSignal => new AbortController().signal

interface World {
  readonly clock: VirtualClock
  readonly member: FakeMember
  readonly board: KeyBoard
  readonly seen: HeadReading[]
}

/** `seen` grows while somebody else watches. */
async function openWorld(signal: AbortSignal): Promise<World> {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(clock)
  const [member, watcher] = [new FakeMember(cluster), new FakeMember(cluster)]
  const seen: HeadReading[] = []
  const watched = await watcher.openKeyBoard('heads', signal)
  void (async () => {
    for await (const reading of watchHeads(watched, clock, signal)) seen.push(reading)
  })()
  return { clock, member, board: await member.openKeyBoard('heads', signal), seen }
}

const headsOf = (seen: readonly HeadReading[]): (number | undefined)[] => seen.map(({ note }) => note.head)

test('at most one note is written each second, and it is the newest', async () => {
  const { clock, board, seen } = await openWorld(endless())
  const writer = openHeadWriter(board, NETWORK, asRevision(1), clock, endless())
  for (let head = 1; head <= 100; head++) {
    writer.show(noteOf(head))
    await clock.sleep(100, endless())
  }
  await clock.sleep(5_000, endless())
  // Ten seconds, and the one that is shown last.
  assert.ok(seen.length >= 9 && seen.length <= 11, `${seen.length} notes`)
  assert.equal(seen.at(-1)!.note.head, 100)
})

test('a note that could not be written is written later, or a newer one in its place', async () => {
  const { clock, member, board, seen } = await openWorld(endless())
  const writer = openHeadWriter(board, NETWORK, asRevision(1), clock, endless())
  member.cutOff()
  writer.show(noteOf(1))
  await clock.sleep(5_000, endless())
  writer.show(noteOf(2))
  await clock.sleep(5_000, endless())
  assert.deepEqual(seen, [])
  member.rejoin()
  await clock.sleep(5_000, endless())
  assert.deepEqual(headsOf(seen), [2])
})

test('an earlier holder does not write over a later one, and a later one does over an earlier', async () => {
  const { clock, board, seen } = await openWorld(endless())
  const [early, late] = [3, 4].map((term) =>
    openHeadWriter(board, NETWORK, asRevision(term), clock, endless()),
  )
  early!.show(noteOf(50))
  await clock.sleep(2_000, endless())
  late!.show(noteOf(40))
  await clock.sleep(2_000, endless())
  early!.show(noteOf(60))
  await clock.sleep(5_000, endless())
  assert.deepEqual(headsOf(seen), [50, 40])
  assert.match((await board.find('7', endless()))!.value, /"term":4,.*"head":40/)
})

test('nothing is written after the lease has ended', async () => {
  const { clock, board, seen } = await openWorld(endless())
  const lease = new AbortController()
  const writer = openHeadWriter(board, NETWORK, asRevision(1), clock, lease.signal)
  writer.show(noteOf(1))
  await clock.sleep(2_000, endless())
  lease.abort()
  writer.show(noteOf(2))
  await clock.sleep(5_000, endless())
  assert.deepEqual(headsOf(seen), [1])
})

test('a watcher passes over values that no holder wrote and notes of an earlier term', async () => {
  const { clock, board, seen } = await openWorld(endless())
  const note = (term: number, head: number): string => JSON.stringify({ term, ...noteOf(10), head })
  const noFlag = note(2, 14).replace('"isInStep":true', '"isInStep":1')
  const values = [note(2, 10), 'x', '{}', note(0, 11), note(2, -1), note(1, 12), noFlag, note(2, 13)]
  let revision = NEVER_WRITTEN
  for (const value of values) {
    const outcome = await board.write('7', value, revision, endless())
    revision = outcome.type === 'written' ? outcome.revision : assert.fail()
    await clock.sleep(10, endless())
  }
  await board.write('not-a-network', note(9, 9), NEVER_WRITTEN, endless())
  await clock.sleep(1_000, endless())
  assert.deepEqual(headsOf(seen), [10, 13])
})

test('a watch ends without an error when its signal is aborted', async () => {
  const stop = new AbortController()
  const { clock, board } = await openWorld(endless())
  const ended = (async () => {
    for await (const reading of watchHeads(board, clock, stop.signal)) assert.fail(String(reading.networkId))
    return 'ended'
  })()
  await clock.sleep(1_000, endless())
  stop.abort()
  assert.equal(await ended, 'ended')
})
