import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLog } from '../../src/cluster/commandLog.js'
import { LEASE_TIMING, takeLease } from '../../src/cluster/lease.js'
import type { LogSequence } from '../../src/cluster/logStream.js'
import { asNetworkId } from '../../src/protocol/units.js'
import { BEGINNING, messagesOf } from '../support/clusterContract.js'
import { FakeCluster, type FakeFault, FakeMember } from '../support/fakeCluster.js'
import { TestNumbers } from '../support/testNumbers.js'
import { VirtualClock } from '../support/virtualClock.js'

const SEEDS = 40
const MEMBERS = 3
const RUN_MS = 90_000
const NETWORK = asNetworkId(1)
const FAULTS: readonly FakeFault[] = ['request_lost', 'answer_lost', { lateMs: 500 }, { lateMs: 4_000 }]

interface Instance {
  readonly member: FakeMember
  /** Ids in the order of reading, over all its lives. */
  readonly read: string[]
  position: LogSequence
}

for (let seed = 1; seed <= SEEDS; seed++)
  test(`seed ${seed}: with faults, pauses and partitions all instances read the same, and what was acknowledged is in it once`, async () => {
    const { instances, acknowledged, log } = await simulate(seed)
    assert.ok(acknowledged.length > 50, `${acknowledged.length} commands`)
    for (const { read } of instances) assert.deepEqual(read, log)
    const places = new Map(log.map((id, at) => [id, at]))
    assert.equal(places.size, log.length, 'no message stands twice')
    for (const { id, parts, last } of acknowledged)
      for (let part = 0; part < parts; part++)
        assert.equal(places.get(`${id}.${part}`), last - parts + part, `${id}.${part}`)
  })

interface Acknowledged {
  readonly id: string
  readonly parts: number
  readonly last: number
}

/**
 * Three instances that read the log and compete for the lease. Whoever holds it proposes, a few at a time without looking at the lease: the
 * log alone must keep order. The same seed gives the same run.
 */
async function simulate(
  seed: number,
): Promise<{ instances: Instance[]; acknowledged: Acknowledged[]; log: string[] }> {
  const numbers = new TestNumbers(seed)
  const clock = new VirtualClock({ random: () => numbers.below(1_000) / 1_000 })
  const cluster = new FakeCluster(clock)
  const over = new AbortController()
  const stopReading = new AbortController()
  const acknowledged: Acknowledged[] = []
  const held: (() => boolean)[] = []
  let mostHolders = 0

  const instances = await Promise.all(
    Array.from({ length: MEMBERS }, async (): Promise<Instance> => {
      const member = new FakeMember(cluster)
      member.faultOf = () => (!over.signal.aborted && numbers.chance(0.06) ? numbers.pick(FAULTS) : undefined)
      return { member, read: [], position: BEGINNING }
    }),
  )

  const readAll = async (instance: Instance): Promise<void> => {
    const { member } = instance
    const log = createCommandLog(await member.openLogStream(NETWORK, stopReading.signal), member.clock)
    while (!stopReading.signal.aborted) {
      // A life: a restart goes on from its position.
      const life = new AbortController()
      const end = (): void => life.abort()
      stopReading.signal.addEventListener('abort', end)
      for await (const { id, sequence } of log.read(instance.position, life.signal)) {
        instance.read.push(id)
        instance.position = sequence
        if (numbers.chance(0.01)) break
      }
      stopReading.signal.removeEventListener('abort', end)
    }
  }

  const propose = async ({ member }: Instance, name: number): Promise<void> => {
    const log = createCommandLog(await member.openLogStream(NETWORK, over.signal), member.clock)
    const leases = await member.openKeyBoard('leases', over.signal)
    for (let command = 0; !over.signal.aborted; ) {
      const lease = await takeLease(
        leases,
        '1',
        `i${name}-${command}`,
        LEASE_TIMING,
        member.clock,
        over.signal,
      )
      held.push(() => lease.isHeld())
      let { last } = await log.bounds(over.signal).catch(() => ({ last: BEGINNING }))
      for (let ended = false; !ended; ) {
        const parts = 1 + numbers.below(3)
        const id = `${name}-${command++}`
        const outcome = await log.append(messagesOf(id, ['1', '2', '3'].slice(0, parts)), last, over.signal)
        if (outcome.type === 'appended') {
          acknowledged.push({ id, parts, last: outcome.last })
          last = outcome.last
        }
        ended =
          outcome.type !== 'appended' || (!lease.isHeld() && numbers.chance(0.5)) || numbers.chance(0.02)
      }
      await lease.release()
    }
  }

  const trouble = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(500 + numbers.below(4_000), over.signal)
      const { member } = numbers.pick(instances)
      const [begin, end] = numbers.chance(0.5)
        ? [() => member.pause(), () => member.resume()]
        : [() => member.cutOff(), () => member.rejoin()]
      begin()
      clock.after(numbers.pick([100, 2_000, 6_000, 15_000]), end)
      // Paused instances are asked as well: their clock runs on.
      mostHolders = Math.max(mostHolders, held.filter((isHeld) => isHeld()).length)
    }
  }

  const quietly = (run: Promise<void>): Promise<void> =>
    run.catch((error: unknown) => {
      if (!over.signal.aborted) throw error
    })
  const readers = instances.map(readAll)
  const others = [...instances.map((instance, name) => quietly(propose(instance, name))), quietly(trouble())]
  await clock.sleep(RUN_MS, new AbortController().signal)
  over.abort(new Error('over'))
  // Pauses and partitions end, late requests arrive.
  await clock.sleep(30_000, new AbortController().signal)
  await Promise.all(others)
  const log = cluster.log(NETWORK).entries.map(({ id }) => id)
  stopReading.abort()
  cluster.wake()
  await Promise.all(readers)
  assert.ok(mostHolders <= 1, `${mostHolders} instances held the lease at once`)
  return { instances, acknowledged, log }
}
