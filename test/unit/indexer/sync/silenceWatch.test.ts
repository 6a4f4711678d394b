import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchSilence } from '../../../../src/indexer/sync/silenceWatch.js'
import { VirtualClock } from '../../../support/virtualClock.js'

/** Watches a client, whose answers the test gives, for ten seconds. */
async function watch(
  script: (client: { silent: boolean; down: boolean; isAsking: boolean }, clock: VirtualClock) => void,
) {
  const clock = new VirtualClock()
  const state = { silent: false, down: false, isAnswered: false, isAsking: false }
  const startMs = clock.now()
  const looks = new Set<number>()
  const told: boolean[] = []
  let probes = 0
  const client = {
    awaitsAnswer: () => state.silent || state.isAsking,
    untilAsked: async (signal: AbortSignal) => {
      while (!client.awaitsAnswer() && !signal.aborted) await clock.sleep(1, signal).catch(() => undefined)
    },
    isSilent: () => {
      looks.add(clock.now() - startMs)
      return state.silent
    },
    isDown: () => state.down,
    probe: async () => {
      probes++
      if (state.isAnswered) state.silent = false
    },
  }
  const stop = new AbortController()
  script(state, clock)
  clock.after(10_000, () => stop.abort())
  const report = { rpcDown: (isDown: boolean) => void told.push(isDown) }
  await watchSilence({ client, clock, report }, stop.signal)
  return { told, probes, state, looks }
}

test('a silence is probed once, reported while it lasts, and its end is reported', async () => {
  const { told, probes } = await watch((client, clock) => {
    clock.after(1_100, () => {
      client.isAsking = true
    })
    clock.after(2_100, () => {
      Object.assign(client, { silent: true, isAsking: false })
    })
    clock.after(6_100, () => {
      client.silent = false
    })
  })
  assert.equal(probes, 1)
  assert.deepEqual(new Set(told.slice(0, -1)), new Set([true]))
  assert.equal(told.at(-1), false)
  assert.ok(told.length >= 8, `${told.length}`)
})

test('answers that are refusals end the silence, and the endpoints still count as down', async () => {
  const { told } = await watch((client, clock) => {
    client.silent = true
    client.down = true
    clock.after(3_100, () => {
      client.silent = false
    })
  })
  assert.ok(told.length > 0 && told.every((isDown) => isDown))
})

test('an endpoint that answers the probe counts as slow, not silent', async () => {
  const { told, probes } = await watch((client, clock) => {
    Object.assign(client, { silent: true, isAnswered: true })
    clock.after(5_100, () => {
      client.silent = true
    })
  })
  assert.deepEqual([told, probes], [[], 2])
})

test('a network that awaits no answer is not looked at, and a silence is found a second and a half after its request', async () => {
  const { looks, told } = await watch((client, clock) => {
    clock.after(5_001, () => {
      client.isAsking = true
    })
    clock.after(6_001, () => {
      client.silent = true
    })
    clock.after(6_501, () => {
      Object.assign(client, { silent: false, isAsking: false })
    })
  })
  assert.deepEqual([...looks], [6_001, 6_501])
  assert.deepEqual(told, [true, false])
})
