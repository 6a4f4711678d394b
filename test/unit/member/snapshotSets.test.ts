import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SnapshotSets, type VerifiedSet } from '../../../src/member/snapshotSets.js'
import { FakeCluster, FakeMember } from '../../support/fakeCluster.js'
import { VirtualClock } from '../../support/virtualClock.js'

const signal = new AbortController().signal

async function open(faultOf?: FakeMember['faultOf']) {
  const cluster = new FakeCluster(new VirtualClock())
  const member = new FakeMember(cluster)
  if (faultOf !== undefined) member.faultOf = faultOf
  const board = await member.openKeyBoard('leases', signal)
  return { cluster, sets: new SnapshotSets(board, await member.openObjectStore(signal), member.clock) }
}

function setOf(id: string, sequence: number): VerifiedSet {
  return { id, madeAtMs: sequence, maker: 'a', sequences: { 0: sequence }, bytes: { 0: 10 } }
}

test('two verified sets are listed, newest first, and pieces of all others are removed', async () => {
  const { cluster, sets } = await open()
  assert.deepEqual(await sets.list(signal), [])
  for (const id of ['s1', 's2', 's3']) {
    const sink = sets.sink(id, signal)
    await sink.put('piece.gz', Buffer.from(id))
    await sink.finish('manifest.json', Buffer.from('{}'))
    // Of a maker that has ended before its set was verified.
    await sets.sink(`${id}-dead`, signal).put('piece.gz', Buffer.from('dead'))
    await sets.add(setOf(id, Number(id.slice(1))), signal)
  }
  assert.deepEqual(await sets.list(signal), [setOf('s3', 3), setOf('s2', 2)])
  assert.deepEqual([...cluster.objects.keys()].sort(), [
    's2.manifest.json',
    's2.piece.gz',
    's3.manifest.json',
    's3.piece.gz',
  ])
  assert.equal(Buffer.from((await sets.source('s2', signal).get('piece.gz'))!).toString(), 's2')
  assert.equal(await sets.source('s1', signal).get('piece.gz'), undefined)
})

test('a set that is given up leaves no piece, and answers that are lost are asked for again', async () => {
  let lost = 3
  const { cluster, sets } = await open(() => (lost-- > 0 ? 'answer_lost' : undefined))
  const sink = sets.sink('s1', signal)
  await sink.put('piece.gz', Buffer.from('x'))
  assert.equal(cluster.objects.size, 1)
  await sink.discard()
  assert.equal(cluster.objects.size, 0)
  lost = 2
  await sets.add(setOf('s1', 1), signal)
  assert.deepEqual(await sets.list(signal), [setOf('s1', 1)])
})

test('who watches sees the list as it is, and each new one', async () => {
  const { sets } = await open()
  await sets.add(setOf('s1', 1), signal)
  const end = new AbortController()
  const watched = sets.watch(end.signal)
  assert.deepEqual((await watched.next()).value, [setOf('s1', 1)])
  const next = watched.next()
  await sets.add(setOf('s2', 2), signal)
  assert.deepEqual((await next).value, [setOf('s2', 2), setOf('s1', 1)])
  const last = watched.next()
  end.abort()
  assert.equal((await last).done, true)
})

test('servers that are silent end a question as a line for operators', async () => {
  const { sets } = await open(() => 'request_lost')
  await assert.rejects(sets.list(signal), { name: 'OperatorError', message: 'nobody answers' })
})
