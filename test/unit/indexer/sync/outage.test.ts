import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { openSimulatedLoop } from '../simulatedLoop.js'

const MINUTE_MS = 60_000

/** A block with a deposit every five seconds. */
function follow(endpointCount: number) {
  const network = createFakeWorld().network(1)
  const loop = openSimulatedLoop(network, { endpoints: endpointCount, config: { pollIntervalMs: 1_000 } })
  const { endpoints, clock, row, shard } = loop
  const run = async (minutes: number): Promise<void> => {
    const stop = new AbortController()
    for (let ms = 5_000; ms < minutes * MINUTE_MS - 10_000; ms += 5_000)
      clock.after(ms, () => void network.mine((block) => block.tx().deposit()))
    clock.after(minutes * MINUTE_MS, () => stop.abort())
    await loop.run(stop.signal)
  }
  const isInSync = () =>
    shard.counts().deposits === network.deposits().length &&
    shard.checkpoint()?.number === network.head.number
  return { network, endpoints, clock, row, shard, run, isInSync }
}

const outages = [
  { type: 'http', status: 503 },
  { type: 'http', status: 429, headers: { 'retry-after': '30' } },
  { type: 'silent' },
  { type: 'close' },
] as const

for (const outage of outages)
  test(`ten minutes of ${JSON.stringify(outage)} are reported, cost few requests, and heal by themselves within a minute`, async () => {
    const { network, endpoints, clock, row, shard, run, isInSync } = follow(1)
    const seen: { rpcDown?: number; requests?: number; isHealed?: boolean } = {}
    clock.after(2 * MINUTE_MS, () => {
      const fault = endpoints[0]!.fail(outage)
      const before = endpoints[0]!.requests.length
      clock.after(10 * MINUTE_MS, () => {
        seen.rpcDown = row.get('rpcDown')
        seen.requests = endpoints[0]!.requests.length - before
        fault.off()
      })
      clock.after(11 * MINUTE_MS, () => {
        const behind = network.head.number - (shard.checkpoint()?.number ?? 0)
        seen.isHealed = row.get('rpcDown') === 0 && behind <= 1
      })
    })
    await run(14)
    assert.equal(seen.rpcDown, 1)
    assert.ok(seen.requests! > 0 && seen.requests! < 600, `${seen.requests} calls`)
    assert.equal(seen.isHealed, true)
    assert.ok(isInSync())
    assert.equal(row.haltReason(), 'none')
  })

test('an endpoint that accepts requests and never answers is reported within seconds, not after its time-outs', async () => {
  const { endpoints, clock, row, run } = follow(1)
  const told: number[] = []
  clock.after(2 * MINUTE_MS, () => {
    const fault = endpoints[0]!.fail({ type: 'silent' })
    const look = (ms: number): void => {
      if (row.get('rpcDown') === 1) told.push(ms)
      if (ms < 60_000) clock.after(100, () => look(ms + 100))
      else fault.off()
    }
    look(0)
  })
  await run(5)
  // At most one poll interval passes until the endpoint is asked.
  assert.ok(told[0]! <= 4_500, `${told[0]} ms`)
  assert.ok(told.at(-1)! >= 59_900 && told.length > 550, 'and stays so')
  assert.equal(row.get('rpcDown'), 0)
})

test('a silent endpoint is not reported while another one answers', async () => {
  const { endpoints, clock, row, run } = follow(2)
  let wasDown = false
  clock.after(2 * MINUTE_MS, () => endpoints[0]!.fail({ type: 'silent' }))
  for (let ms = MINUTE_MS; ms < 5 * MINUTE_MS; ms += 100)
    clock.after(ms, () => {
      wasDown ||= row.get('rpcDown') === 1
    })
  await run(5)
  assert.equal(wasDown, false)
})

for (const trouble of [
  { type: 'silent' },
  { type: 'lag', blocks: 30 },
  { type: 'hideLogs', match: () => true },
] as const)
  test(`a first endpoint of the kind ${trouble.type} stops nothing while the second one answers`, async () => {
    const { network, endpoints, clock, run, shard, isInSync } = follow(2)
    let behind = -1
    clock.after(2 * MINUTE_MS, () => {
      endpoints[0]!.fail(trouble)
      clock.after(5 * MINUTE_MS, () => {
        behind = network.head.number - (shard.checkpoint()?.number ?? 0)
      })
    })
    await run(9)
    assert.ok(behind >= 0 && behind <= 12, `${behind} blocks behind after five minutes`)
    assert.ok(isInSync())
  })
