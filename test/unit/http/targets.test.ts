import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { VersionNow } from '../../../src/board/version.js'
import type { HealthSource } from '../../../src/health/healthSource.types.js'
import { createTargets } from '../../../src/http/targets.js'
import type { Exchange } from '../../../src/http/wire/exchange.js'
import { NO_NETWORKS } from '../../support/sampleRecords.js'

const version: VersionNow = { commits: 1, epoch: 0, halted: 0, isChanging: false }

/** The front's own answers, with a count of the records made for them. */
function frontOf(path: string) {
  let made = 0
  let now = version
  const health = {
    health: () => ({ httpStatus: 200, record: { made: ++made } }),
    syncStatus: () => ({ made: ++made }),
    readiness: () => assert.fail('nobody asks'),
  } as unknown as HealthSource
  const target = createTargets(health, [], () => now, NO_NETWORKS).get(path)
  assert.equal(target?.type, 'probe')
  return {
    setVersion: (next: VersionNow) => {
      now = next
    },
    ask: (): unknown => {
      let body: unknown
      const exchange = { send: (answer: { body: string }) => (body = answer.body) }
      target.respond(exchange as unknown as Exchange)
      return JSON.parse(String(body))
    },
  }
}

for (const path of ['/', '/bridge/v1/sync-status']) {
  test(`${path}: whoever asks in one turn of the event loop gets the same record`, async () => {
    const front = frontOf(path)
    for (let times = 0; times < 1_000; times++) assert.deepEqual(front.ask(), { made: 1 })
    await new Promise(setImmediate)
    assert.deepEqual(front.ask(), { made: 2 })
  })

  test(`${path}: a commit is told at once, also in the turn in which it came`, () => {
    const front = frontOf(path)
    front.ask()
    front.setVersion({ ...version, commits: 2 })
    assert.deepEqual(front.ask(), { made: 2 })
    assert.deepEqual(front.ask(), { made: 2 })
  })

  test(`${path}: while a commit is under way, nothing is kept`, () => {
    const front = frontOf(path)
    front.setVersion({ ...version, isChanging: true })
    front.ask()
    assert.deepEqual(front.ask(), { made: 2 })
  })
}

test('a record that could not be made is made for the next who asks', () => {
  let made = 0
  const health = {
    syncStatus: () => {
      if (++made === 2) throw new Error('not now')
      return { made }
    },
  } as unknown as HealthSource
  let now = version
  const target = createTargets(health, [], () => now, NO_NETWORKS).get('/bridge/v1/sync-status')
  assert.equal(target?.type, 'probe')
  const bodies: string[] = []
  const exchange = { send: (answer: { body: string }) => bodies.push(answer.body) } as unknown as Exchange
  target.respond(exchange)
  now = { ...version, commits: 2 }
  assert.throws(() => target.respond(exchange))
  target.respond(exchange)
  assert.deepEqual(bodies, ['{"made":1}', '{"made":3}'])
})
