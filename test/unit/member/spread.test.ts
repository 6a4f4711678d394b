import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LEASE_TIMING, takeLease } from '../../../src/cluster/lease.js'
import { giftOf, Spread } from '../../../src/member/spread.js'
import { asNetworkId, type NetworkId } from '../../../src/protocol/units.js'
import { FakeCluster, FakeMember } from '../../support/fakeCluster.js'
import { createKeepingLogger } from '../../support/keepingLogger.js'
import { VirtualClock } from '../../support/virtualClock.js'

const NETWORKS = [0, 1, 2, 3, 4].map(asNetworkId)

test('a network is given to an instance that leads at least two fewer, and never away from the last one', () => {
  const cases: readonly (readonly [number, readonly number[], NetworkId | undefined])[] = [
    [3, [], undefined],
    [3, [0], asNetworkId(2)],
    [2, [1], undefined],
    [2, [1, 0], asNetworkId(1)],
    [1, [0, 0], undefined],
  ]
  for (const [leads, others, gift] of cases)
    assert.equal(giftOf(NETWORKS.slice(0, leads), leads, others), gift, `${leads} beside ${others}`)
  assert.equal(giftOf([], 5, [0]), undefined, 'nothing that may be given')
})

/** An instance that leads whatever it gets, as those that lead more leave a free lease alone for longer. */
async function instanceOf(cluster: FakeCluster, name: string, stop: AbortSignal): Promise<Set<NetworkId>> {
  const member = new FakeMember(cluster)
  const { clock } = member
  const board = await member.openKeyBoard('leases', stop)
  const led = new Set<NetworkId>()
  const { logger } = createKeepingLogger()
  const spread = new Spread({
    ...{ board, instance: name, networkIds: NETWORKS, clock, logger },
    leads: (networkId) => led.has(networkId),
  })
  void spread.run(stop)
  const leadAll = async (networkId: NetworkId): Promise<void> => {
    while (!stop.aborted) {
      const reluctance = (): number => 300 * [...led].filter((id) => id !== networkId).length
      const lease = await takeLease(board, String(networkId), name, LEASE_TIMING, clock, stop, reluctance)
      led.add(networkId)
      // A lease that is held is renewed until it is released.
      stop.addEventListener('abort', () => void lease.release(), { once: true })
      await new Promise((resolve) => lease.ended.addEventListener('abort', resolve, { once: true }))
      led.delete(networkId)
      if (!stop.aborted) await clock.sleep(1_000, stop)
    }
  }
  for (const networkId of NETWORKS) void leadAll(networkId).catch(() => undefined)
  return led
}

test('networks of the first instance are spread over those that come later, and over those that are left', async (context) => {
  const clock = new VirtualClock()
  const cluster = new FakeCluster(clock)
  const stops = ['a', 'b', 'c'].map(() => new AbortController())
  context.after(() => {
    for (const stop of stops) stop.abort(new Error('the test has ended'))
  })
  const all: Set<NetworkId>[] = []
  for (const [at, name] of ['a', 'b', 'c'].entries()) {
    all.push(await instanceOf(cluster, name, stops[at]!.signal))
    if (at === 0) await clock.sleep(5_000, new AbortController().signal)
  }
  assert.equal(all[0]!.size, NETWORKS.length)
  await clock.sleep(60_000, new AbortController().signal)
  assert.deepEqual(all.map(({ size }) => size).toSorted(), [1, 2, 2])
  stops[0]!.abort(new Error('ended'))
  await clock.sleep(60_000, new AbortController().signal)
  assert.deepEqual(
    all
      .slice(1)
      .map(({ size }) => size)
      .toSorted(),
    [2, 3],
  )
})
