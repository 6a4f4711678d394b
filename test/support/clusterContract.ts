import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ClusterServers } from '../../src/cluster/clusterServers.js'
import { type CommandLog, createCommandLog } from '../../src/cluster/commandLog.js'
import { type HeadReading, openHeadWriter, watchHeads } from '../../src/cluster/headBoard.js'
import { asRevision, type KeyBoard, type KeyEntry, NEVER_WRITTEN } from '../../src/cluster/keyBoard.js'
import { LEASE_TIMING, takeLease } from '../../src/cluster/lease.js'
import {
  asLogSequence,
  type LogBounds,
  type LogEntry,
  type LogMessage,
  type LogSequence,
} from '../../src/cluster/logStream.js'
import { Patience } from '../../src/cluster/patience.js'
import { asBlockNumber, asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import type { Clock } from '../../src/telemetry/clocks.js'
import type { Cleaner } from './tempFolder.js'

export const BEGINNING = asLogSequence(0)

/** Servers to hold the contract against. */
export interface ContractWorld {
  readonly clock: Clock
  /** Bytes that a log may have. */
  readonly maxLogBytes: number
  /** Another instance. */
  member(): ClusterServers
}

/** Everything here is over long before; a test that waits in vain ends with this. */
const LIMIT_MS = 60_000

/**
 * What every implementation of the ports promises, with servers that answer.
 * @param skip the reason to skip it all.
 */
export function holdsClusterContract(
  name: string,
  open: (context: Cleaner) => ContractWorld,
  skip: string | false = false,
): void {
  const promise = (text: string, body: (world: ContractWorld, signal: AbortSignal) => Promise<void>): void =>
    void test(`${name}: ${text}`, { timeout: 2 * LIMIT_MS, skip }, async (context: TestContext) => {
      const members: ClusterServers[] = []
      const world = open(context)
      const watched = {
        ...world,
        member: () => {
          members.push(world.member())
          return members.at(-1)!
        },
      }
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(new Error(`not within ${LIMIT_MS} ms`)), LIMIT_MS)
      try {
        await body(watched, limit.signal)
      } finally {
        clearTimeout(timer)
        limit.abort()
        await Promise.all(members.map((member) => member.close()))
      }
    })

  promise(
    'the parts of a command stand one behind the other, and are read in their order',
    async (world, signal) => {
      const { log } = await openLog(world, freshNetwork(), signal)
      const first = messagesOf('a', ['one', 'two', 'three'])
      assert.deepEqual(await log.append(first, BEGINNING, signal), appended(3))
      assert.deepEqual(await log.append(messagesOf('b', ['four']), asLogSequence(3), signal), appended(4))
      assert.deepEqual(await readTexts(log, 0, 4, signal), [
        '1 a.0 one',
        '2 a.1 two',
        '3 a.2 three',
        '4 b.0 four',
      ])
      assert.deepEqual(await readTexts(log, 2, 2, signal), ['3 a.2 three', '4 b.0 four'])
      assert.deepEqual(await boundsOf(log, world.clock, signal), { first: 1, last: 4 })
    },
  )

  promise('an empty log begins at 1 and ends at 0', async (world, signal) => {
    const { log } = await openLog(world, freshNetwork(), signal)
    assert.deepEqual(await boundsOf(log, world.clock, signal), { first: 1, last: 0 })
  })

  promise(
    'of two proposers at one position one is fenced, and none of its messages is stored',
    async (world, signal) => {
      const networkId = freshNetwork()
      const logs = [await openLog(world, networkId, signal), await openLog(world, networkId, signal)]
      const outcomes = await Promise.all(
        logs.map(({ log }, at) => log.append(messagesOf(`p${at}`, ['x', 'y']), BEGINNING, signal)),
      )
      const winner = outcomes.findIndex(({ type }) => type === 'appended')
      assert.deepEqual(outcomes[1 - winner], { type: 'fenced', last: 0 })
      assert.deepEqual(await readTexts(logs[0]!.log, 0, 2, signal), [`1 p${winner}.0 x`, `2 p${winner}.1 y`])
      assert.deepEqual((await boundsOf(logs[0]!.log, world.clock, signal)).last, 2)
    },
  )

  promise('a command that stands already is found there, not stored again', async (world, signal) => {
    const { log } = await openLog(world, freshNetwork(), signal)
    const messages = messagesOf('a', ['one', 'two'])
    await log.append(messages.slice(0, 1), BEGINNING, signal)
    assert.deepEqual(await log.append(messages, BEGINNING, signal), appended(2))
    assert.deepEqual(await log.append(messages, BEGINNING, signal), appended(2))
    assert.deepEqual((await boundsOf(log, world.clock, signal)).last, 2)
  })

  promise(
    'a reader at the end gets what is appended later, and ends without an error',
    async (world, signal) => {
      const networkId = freshNetwork()
      const { log } = await openLog(world, networkId, signal)
      const { log: other } = await openLog(world, networkId, signal)
      const reading = readTexts(log, 0, 3, signal)
      let after = BEGINNING
      for (const id of ['a', 'b', 'c']) {
        const outcome = await other.append(messagesOf(id, [id]), after, signal)
        assert.equal(outcome.type, 'appended')
        after = asLogSequence(after + 1)
      }
      assert.deepEqual(await reading, ['1 a.0 a', '2 b.0 b', '3 c.0 c'])
      const stop = new AbortController()
      const end = (async () => {
        for await (const entry of log.read(asLogSequence(3), stop.signal)) assert.fail(entry.id)
      })()
      stop.abort()
      await end
    },
  )

  promise('a full log takes no more, says where it ends, and loses nothing', async (world, signal) => {
    const { log } = await openLog(world, freshNetwork(), signal)
    const half = Buffer.alloc(world.maxLogBytes * 0.4, 1)
    const parts = ['x.0', 'x.1', 'x.2'].map((id) => ({ id, payload: half }))
    assert.deepEqual(await log.append(parts, BEGINNING, signal), { type: 'log_full', last: 2 })
    assert.deepEqual(await log.append(parts.slice(2), asLogSequence(2), signal), {
      type: 'log_full',
      last: 2,
    })
    assert.deepEqual(await boundsOf(log, world.clock, signal), { first: 1, last: 2 })
    const read = await readEntries(log, 0, 2, signal)
    assert.ok(read.every(({ payload }) => half.equals(payload)))
  })

  promise(
    'a log that has forgotten its beginning goes on behind its last message, and has room again',
    async (world, signal) => {
      const { log } = await openLog(world, freshNetwork(), signal)
      const half = Buffer.alloc(world.maxLogBytes * 0.4, 1)
      const parts = ['x.0', 'x.1', 'x.2'].map((id) => ({ id, payload: half }))
      await log.append(parts.slice(0, 2), BEGINNING, signal)
      const before = await answered(world.clock, signal, () => log.usedBytes(signal))
      assert.ok(before >= 2 * half.length, `${before} bytes`)
      await answered(world.clock, signal, () => log.forget(asLogSequence(1), signal))
      assert.ok((await answered(world.clock, signal, () => log.usedBytes(signal))) <= before - half.length)
      assert.deepEqual(await boundsOf(log, world.clock, signal), { first: 2, last: 2 })
      assert.deepEqual(await log.append(parts.slice(2), asLogSequence(2), signal), appended(3))
      assert.deepEqual(
        (await readEntries(log, 1, 2, signal)).map(({ id }) => id),
        ['x.1', 'x.2'],
      )
      await answered(world.clock, signal, () => log.forget(asLogSequence(3), signal))
      assert.deepEqual(await boundsOf(log, world.clock, signal), { first: 4, last: 3 })
      assert.deepEqual(await log.append(messagesOf('y', ['y']), asLogSequence(3), signal), appended(4))
    },
  )

  promise(
    'objects are the bytes that were put last, for every instance, until they are removed',
    async (world, signal) => {
      const [one, other] = [
        await world.member().openObjectStore(signal),
        await world.member().openObjectStore(signal),
      ]
      const name = `contract-${freshNetwork()}.gz`
      // More than one message of a server holds.
      const bytes = Uint8Array.from({ length: 1_500_000 }, (_, at) => at % 251)
      assert.equal(await other.find(name, signal), undefined)
      await one.put(name, Uint8Array.of(1), signal)
      await one.put(name, bytes, signal)
      assert.ok(Buffer.from(bytes).equals((await other.find(name, signal))!))
      assert.ok((await other.names(signal)).includes(name))
      await other.remove(name, signal)
      assert.equal(await one.find(name, signal), undefined)
      assert.ok(!(await one.names(signal)).includes(name))
      await one.remove(name, signal)
    },
  )

  promise(
    'whatever proposers do at once, each command that was acknowledged stands once, in one place',
    async (world, signal) => {
      const networkId = freshNetwork()
      const acknowledged = new Map<string, number>()
      const proposers = Array.from({ length: 3 }, async (_, proposer) => {
        const { log } = await openLog(world, networkId, signal)
        for (let count = 0, tries = 0; count < 10; tries++) {
          const id = `${proposer}-${count}-${tries}`
          const { last: after } = await boundsOf(log, world.clock, signal)
          const outcome = await log.append(
            messagesOf(id, ['1', '2', '3'].slice(0, 1 + (count % 3))),
            after,
            signal,
          )
          if (outcome.type !== 'appended') continue
          acknowledged.set(id, outcome.last)
          count++
        }
      })
      await Promise.all(proposers)
      assert.equal(acknowledged.size, 30)
      const { log } = await openLog(world, networkId, signal)
      const entries = await readEntries(log, 0, (await boundsOf(log, world.clock, signal)).last, signal)
      const places = new Map(entries.map(({ id, sequence }) => [id, sequence]))
      assert.equal(places.size, entries.length, 'no message stands twice')
      for (const [id, last] of acknowledged) {
        const parts = 1 + (Number(id.split('-')[1]) % 3)
        for (let part = 0; part < parts; part++)
          assert.equal(places.get(`${id}.${part}`), last - parts + 1 + part, id)
      }
    },
  )

  promise('a key is written only after the revision that was expected', async (world, signal) => {
    const board = await world.member().openKeyBoard('leases', signal)
    const key = `contract-${freshNetwork()}`
    assert.equal(await entryOf(board, key, world.clock, signal), undefined)
    const first = await board.write(key, 'one', NEVER_WRITTEN, signal)
    assert.equal(first.type, 'written')
    assert.deepEqual(await board.write(key, 'two', NEVER_WRITTEN, signal), { type: 'changed' })
    const revision = first.type === 'written' ? first.revision : NEVER_WRITTEN
    assert.deepEqual(await board.write(key, 'two', asRevision(revision + 1), signal), { type: 'changed' })
    assert.deepEqual(await entryOf(board, key, world.clock, signal), { key, value: 'one', revision })
    const second = await board.write(key, '', revision, signal)
    assert.ok(second.type === 'written' && second.revision > revision)
    assert.equal((await entryOf(board, key, world.clock, signal))?.value, '')
  })

  promise(
    'one candidate holds a lease; when it is released another one takes it at once, with a later term',
    async (world, signal) => {
      const key = String(freshNetwork())
      const { clock } = world
      const boards = [await leases(world, signal), await leases(world, signal)]
      const first = await takeLease(boards[0]!, key, 'a', LEASE_TIMING, clock, signal)
      const taking = takeLease(boards[1]!, key, 'b', LEASE_TIMING, clock, signal)
      // Longer than a lease: the holder renews it.
      await clock.sleep(LEASE_TIMING.leaseMs * 1.5, signal)
      assert.ok(first.isHeld() && !first.ended.aborted)
      const releasedAtMs = clock.now()
      await first.release()
      assert.ok(first.ended.aborted && !first.isHeld())
      const second = await taking
      assert.ok(clock.now() - releasedAtMs < LEASE_TIMING.leaseMs / 2, `${clock.now() - releasedAtMs} ms`)
      assert.ok(second.term > first.term)
      await second.release()
    },
  )

  promise(
    'a holder that no longer reaches the servers has given up before another one takes over',
    async (world, signal) => {
      const key = String(freshNetwork())
      const { clock } = world
      const holder = world.member()
      const first = await takeLease(
        await holder.openKeyBoard('leases', signal),
        key,
        'a',
        LEASE_TIMING,
        clock,
        signal,
      )
      const taking = takeLease(await leases(world, signal), key, 'b', LEASE_TIMING, clock, signal)
      const lostAtMs = clock.now()
      await holder.close()
      const second = await taking
      assert.ok(first.ended.aborted)
      const tookMs = clock.now() - lostAtMs
      assert.ok(tookMs > LEASE_TIMING.leaseMs - LEASE_TIMING.renewMs, `${tookMs} ms`)
      await second.release()
    },
  )

  promise(
    'a watcher of heads gets the newest note of each network, then each new one',
    async (world, signal) => {
      const [one, two] = [freshNetwork(), freshNetwork()]
      const heads = await world.member().openKeyBoard('heads', signal)
      const { clock } = world
      openHeadWriter(heads, one, asRevision(1), clock, signal).show(noteOf(10))
      const writer = openHeadWriter(heads, two, asRevision(2), clock, signal)
      writer.show(noteOf(20))
      await untilKey(heads, one, clock, signal)
      await untilKey(heads, two, clock, signal)
      const seen: HeadReading[] = []
      for await (const reading of watchHeads(
        await world.member().openKeyBoard('heads', signal),
        clock,
        signal,
      )) {
        if (reading.networkId !== one && reading.networkId !== two) continue
        seen.push(reading)
        if (seen.length === 2) writer.show(noteOf(21))
        if (seen.length === 3) break
      }
      const expected = [
        { networkId: one, note: noteOf(10), term: 1, isNews: false },
        { networkId: two, note: noteOf(20), term: 2, isNews: false },
      ]
      assert.deepEqual(
        seen.slice(0, 2).toSorted((a, b) => a.networkId - b.networkId),
        expected,
      )
      assert.deepEqual(seen[2], { networkId: two, note: noteOf(21), term: 2, isNews: true })
    },
  )
}

let networks = 0
/** A network whose log and keys nobody has used, also in another file that runs at the same time against other servers. */
function freshNetwork(): NetworkId {
  return asNetworkId(++networks)
}

export function noteOf(head: number): HeadReading['note'] {
  return {
    sequence: asLogSequence(5),
    head: asBlockNumber(head),
    headTimestampSec: 1_700_000_000,
    hasCaughtUp: true,
    isInStep: true,
    isRpcDown: false,
    contractDepositCount: undefined,
    areContractsCompared: true,
    awaitedSenders: 0,
  }
}

async function openLog(
  world: ContractWorld,
  networkId: NetworkId,
  signal: AbortSignal,
): Promise<{ readonly log: CommandLog }> {
  return { log: createCommandLog(await world.member().openLogStream(networkId, signal), world.clock) }
}

function leases(world: ContractWorld, signal: AbortSignal): Promise<KeyBoard> {
  return world.member().openKeyBoard('leases', signal)
}

async function untilKey(
  board: KeyBoard,
  networkId: NetworkId,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while ((await entryOf(board, String(networkId), clock, signal)) === undefined) await clock.sleep(5, signal)
}

/** A single try may find no server: on a machine with much other work that is no breach of the contract. */
async function answered<T>(clock: Clock, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  const patience = new Patience(clock, signal)
  for (;;) {
    const answer = await patience.tryOnce(async () => ({ is: await ask() }))
    if (answer !== undefined) return answer.is
  }
}

function boundsOf(log: CommandLog, clock: Clock, signal: AbortSignal): Promise<LogBounds> {
  return answered(clock, signal, () => log.bounds(signal))
}

function entryOf(
  board: KeyBoard,
  key: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<KeyEntry | undefined> {
  return answered(clock, signal, () => board.find(key, signal))
}

function appended(last: number): { readonly type: 'appended'; readonly last: LogSequence } {
  return { type: 'appended', last: asLogSequence(last) }
}

/** Messages of one command. */
export function messagesOf(command: string, texts: readonly string[]): LogMessage[] {
  return texts.map((text, part) => ({ id: `${command}.${part}`, payload: Buffer.from(text) }))
}

export async function readEntries(
  log: CommandLog,
  after: number,
  count: number,
  signal: AbortSignal,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  if (count === 0) return entries
  for await (const entry of log.read(asLogSequence(after), signal)) if (entries.push(entry) === count) break
  return entries
}

/** `3 a.2 text`: sequence, id and payload. */
export async function readTexts(
  log: CommandLog,
  after: number,
  count: number,
  signal: AbortSignal,
): Promise<string[]> {
  const entries = await readEntries(log, after, count, signal)
  return entries.map(({ sequence, id, payload }) => `${sequence} ${id} ${Buffer.from(payload).toString()}`)
}
