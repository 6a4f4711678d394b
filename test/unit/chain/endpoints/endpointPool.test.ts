import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Endpoint } from '../../../../src/chain/endpoints/endpoint.js'
import { EndpointPool } from '../../../../src/chain/endpoints/endpointPool.js'
import { readHead } from '../../../../src/chain/endpoints/readBlocks.js'
import { RpcFailure, type RpcFailureKind } from '../../../../src/chain/rpc/rpcFailure.js'
import { ChainDataError } from '../../../../src/errors/chainDataError.js'
import { FatalError, RetryableError } from '../../../../src/errors/chainErrors.js'
import {
  createIndexerCounts,
  IndexerCounts,
  IndexerCountsReader,
  type RestReason,
} from '../../../../src/telemetry/counts/indexerCounts.js'
import { hideAddress } from '../../../../src/telemetry/secrets.js'
import { createKeepingLogger } from '../../../support/keepingLogger.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const { signal } = new AbortController()
const fails = (kind: RpcFailureKind, retryAfterMs?: number) =>
  new RpcFailure(kind, `${kind} at an endpoint`, { text: '' }, retryAfterMs)

const rawBlock = (number: number) => ({
  number: `0x${number.toString(16)}`,
  timestamp: '0x1',
  hash: `0x${'1'.repeat(64)}`,
  parentHash: `0x${'2'.repeat(64)}`,
})

/** A pool whose endpoints answer `eth_chainId` from memory; everything else is up to the tasks. */
function createPool(aliases: readonly string[], chainIds: Record<string, number> = {}) {
  const clock = new VirtualClock()
  const { logger, lines } = createKeepingLogger()
  const chainIdCalls: string[] = []
  const ids = { ...chainIds }
  const heads: Record<string, number> = {}
  const handle = createIndexerCounts([3])
  const counts = new IndexerCounts(handle, 3, () => clock.now())
  const counted = counts.endpoints(aliases)
  const endpoints = aliases.map((alias, order) => {
    const endpoint = new Endpoint({
      counts: counted[order],
      config: { url: 'http://127.0.0.1:9/unused', alias },
      timeoutMs: 100,
      maxBodyBytes: 2 ** 26,
      logRange: 10,
      clock,
      logger,
    })
    endpoint.call = async (method) => {
      if (method === 'eth_blockNumber') return `0x${(heads[alias] ?? 100).toString(16)}`
      if (method === 'eth_getBlockByNumber') return rawBlock(heads[alias] ?? 100)
      chainIdCalls.push(alias)
      return `0x${(ids[alias] ?? 7).toString(16)}`
    }
    endpoint.callAll = (calls) =>
      Promise.all(
        calls.map(async (call) => {
          const result = await endpoint.call(call.method, call.params, signal)
          return { ok: true as const, result }
        }),
      )
    return endpoint
  })
  const onServed = (served: string) => counts.served(served)
  const pool = new EndpointPool({ endpoints, chainId: 7, networkId: 3, clock, logger, onServed })
  const views = () => new IndexerCountsReader(handle, 3).endpoints(clock.now())
  return { pool, clock, lines, chainIdCalls, ids, heads, views }
}

const alias = async (endpoint: Endpoint) => endpoint.alias

test('the first endpoint is used while it answers, and its chain id is asked once', async () => {
  const { pool, chainIdCalls } = createPool(['a', 'b'])
  for (let run = 0; run < 5; run++) assert.equal(await pool.run(alias, signal), 'a')
  assert.deepEqual(chainIdCalls, ['a'])
})

test('each kind of failure moves a task to the next endpoint within the same call', async () => {
  for (const kind of ['network', 'timeout', 'http', 'rpc', 'body', 'rateLimit', 'behind', 'gone'] as const) {
    const { pool } = createPool(['a', 'b', 'c'])
    const used: string[] = []
    const answer = await pool.run(async (endpoint) => {
      used.push(endpoint.alias)
      if (endpoint.alias !== 'c') throw fails(kind)
      return 'answer'
    }, signal)
    assert.equal(answer, 'answer')
    assert.deepEqual(used, ['a', 'b', 'c'], kind)
  }
})

test('an endpoint that stops following the chain is left for one that follows it, and used again later', async () => {
  const { pool, clock, heads } = createPool(['a', 'b'])
  const compare = async () => {
    clock.advance(10_000)
    pool.compareHeads(signal)
    await new Promise(setImmediate)
  }
  assert.equal(await pool.run(alias, signal), 'a')
  heads.a = 98
  for (let times = 0; times < 3; times++) await compare()
  assert.equal(await pool.run(alias, signal), 'a', 'two blocks are nothing')
  heads.a = 97
  await compare()
  assert.equal(await pool.run(alias, signal), 'a', 'once is nothing')
  await compare()
  assert.equal(await pool.run(alias, signal), 'b')
  heads.a = 100
  await compare()
  assert.equal(await pool.run(alias, signal), 'a')
})

test('an endpoint below the wanted block is left for a higher one, and when all are below, the highest answer counts', async () => {
  const { pool, heads } = createPool(['a', 'b', 'c'])
  Object.assign(heads, { a: 90, b: 95, c: 97 })
  const ask = async (wanted: number) => {
    const told = await pool.run((endpoint) => readHead(endpoint, signal), signal)
    return (await pool.findHigher(told, wanted, signal)).number
  }
  assert.equal(await ask(98), 97)
  assert.equal(await pool.run(alias, signal), 'a', 'none was so high: no reason to leave the first')
  assert.equal(await ask(96), 97)
  assert.notEqual(await pool.run(alias, signal), 'a')
})

test('an endpoint that reports blocks it cannot show is not preferred for them', async () => {
  const { pool, clock, heads } = createPool(['a', 'b'])
  heads.b = 1_000_000
  for (let turn = 0; turn < 4; turn++) {
    clock.advance(10_000)
    pool.compareHeads(signal)
    await new Promise(setImmediate)
    const answer = await pool.run(async (endpoint) => {
      if (endpoint.alias === 'b') throw fails('body')
      return endpoint.alias
    }, signal)
    assert.equal(answer, 'a')
  }
})

test('when all endpoints fail, the last failure is thrown without secrets, and the next call waits for the first ready endpoint', async () => {
  const { pool, clock } = createPool(['a', 'b'])
  const failing = pool.run(async () => {
    throw fails('network')
  }, signal)
  await assert.rejects(
    failing,
    (error) => error instanceof RetryableError && error.message.startsWith('network at'),
  )
  assert.deepEqual(clock.sleeps, [])
  assert.equal(pool.isDown(), true)
  assert.equal(await pool.run(alias, signal), 'a')
  assert.deepEqual(clock.sleeps, [187.5])
  assert.equal(pool.isDown(), false)
})

test('after a failure the second endpoint stays in use, and the first one returns without flapping', async () => {
  const { pool, clock } = createPool(['a', 'b'])
  let broken = true
  const used: string[] = []
  for (let second = 0; second < 600; second++) {
    await pool.run(async (endpoint) => {
      if (endpoint.alias === 'a' && broken) throw fails('network')
      used.push(endpoint.alias)
    }, signal)
    clock.advance(1_000)
    if (second === 10) broken = false
  }
  const switches = used.filter((name, index) => index > 0 && name !== used[index - 1]).length
  assert.equal(used.at(-1), 'a')
  assert.equal(switches, 1)
  assert.ok(used.indexOf('a') > 120, `back after ${used.indexOf('a')} s`)
})

test('ten minutes of 429 are survived at a low request rate', async () => {
  const { pool, clock } = createPool(['a'])
  const started = clock.now()
  const outage = 600_000
  let asked = 0
  for (;;) {
    try {
      await pool.run(async () => {
        asked++
        if (clock.now() - started < outage) throw fails('rateLimit')
      }, signal)
      break
    } catch (error) {
      assert.ok(error instanceof RetryableError)
    }
  }
  const elapsed = clock.now() - started
  assert.ok(elapsed >= outage && elapsed < outage + 31_000, `${elapsed} ms`)
  assert.ok(asked < 60, `${asked} questions`)
})

test('Retry-After is waited for in full', async () => {
  const { pool, clock } = createPool(['a'])
  const limited = pool.run(async () => {
    throw fails('rateLimit', 90_000)
  }, signal)
  await assert.rejects(limited, RetryableError)
  const started = clock.now()
  await pool.run(alias, signal)
  assert.equal(clock.now() - started, 90_000)
})

test('an endpoint of another chain is excluded and named, and used again when its chain is right', async () => {
  const { pool, clock, lines, ids } = createPool(['a', 'b'], { a: 8 })
  assert.equal(await pool.run(alias, signal), 'b')
  assert.deepEqual(lines, [
    {
      level: 'error',
      text: 'endpoint is of another chain',
      fields: { endpoint: 'a', chainId: 8, expected: 7 },
    },
  ])
  ids.a = 7
  clock.advance(11_000)
  assert.equal(await pool.run(alias, signal), 'a')
})

test('the network halts as wrong_chain only when all endpoints are of another chain', async () => {
  const { pool, clock, ids } = createPool(['a', 'b'], { a: 8, b: 9 })
  const isWrong = (error: unknown) =>
    error instanceof FatalError &&
    error.reason === 'wrong_chain' &&
    error.message === 'network 3 needs chain id 7: a has 8, b has 9'
  await assert.rejects(pool.verifyAll(signal), isWrong)
  await assert.rejects(pool.run(alias, signal), isWrong)
  assert.equal(pool.isDown(), true)
  ids.b = 7
  clock.advance(11_000)
  assert.equal(await pool.run(alias, signal), 'b')
})

test('with one endpoint of another chain and one that fails, the pool waits for the second instead of giving up', async () => {
  const { pool, clock } = createPool(['a', 'b'], { a: 8 })
  const failing = pool.run(async () => {
    throw fails('network')
  }, signal)
  await assert.rejects(failing, RetryableError)
  assert.equal(await pool.run(alias, signal), 'b')
  assert.ok(clock.sleeps.length <= 2, `${clock.sleeps.length} sleeps`)
})

test('the chain id of a wrong endpoint is asked again although another endpoint rests for longer', async () => {
  const { pool, clock, ids } = createPool(['a', 'b'])
  const limited = async (endpoint: Endpoint) => {
    throw endpoint.alias === 'a' ? fails('network') : fails('rateLimit', 100_000)
  }
  await assert.rejects(pool.run(limited, signal), RetryableError)
  ids.a = 8
  const looks = clock.sleeps.length
  const running = pool.run(alias, signal)
  assert.equal(await running, 'b')
  assert.ok(clock.sleeps.length - looks < 15, `${clock.sleeps.length - looks} waits`)
})

test('the chain id is asked again after a lost connection and every half minute', async () => {
  const { pool, clock, chainIdCalls } = createPool(['a'])
  await pool.run(alias, signal)
  const lost = pool.run(async () => {
    throw fails('network')
  }, signal)
  await assert.rejects(lost, RetryableError)
  await pool.run(alias, signal)
  assert.equal(chainIdCalls.length, 2)
  clock.advance(30_001)
  await pool.run(alias, signal)
  assert.equal(chainIdCalls.length, 3)
})

test('contradictory data are a fault only after every endpoint was asked', async () => {
  const { pool } = createPool(['a', 'b'])
  const withheld = new ChainDataError('missing_log', 'a log is missing')
  const lie = async (endpoint: Endpoint) => {
    if (endpoint.alias === 'a') throw withheld
    return endpoint.alias
  }
  assert.equal(await pool.run(lie, signal), 'b')
  assert.equal(await pool.run(alias, signal), 'b', 'the one that lied is not preferred')
  const both = pool.run(async () => {
    throw withheld
  }, signal)
  await assert.rejects(both, (error) => error === withheld)
})

test('history that no endpoint keeps is fatal, but the pool first waits for an endpoint that may keep it', async () => {
  const { pool } = createPool(['a', 'b'])
  const gone = async () => {
    throw fails('gone')
  }
  await assert.rejects(
    pool.run(gone, signal),
    (error) => error instanceof FatalError && error.reason === 'pruned_history',
  )
  assert.equal(pool.isDown(), false)
  const oneIsDown = async (endpoint: Endpoint) => {
    throw fails(endpoint.alias === 'a' ? 'gone' : 'network')
  }
  await assert.rejects(createPool(['a', 'b']).pool.run(oneIsDown, signal), RetryableError)
  await assert.rejects(createPool(['b', 'a']).pool.run(oneIsDown, signal), RetryableError)
})

test('a distrusted endpoint is passed over by the next task, and used again half a minute later', async () => {
  const { pool, clock } = createPool(['a', 'b'])
  assert.equal(await pool.run(alias, signal), 'a')
  pool.distrustCurrent()
  assert.equal(await pool.run(alias, signal), 'b')
  clock.advance(30_001)
  assert.equal(await pool.run(alias, signal), 'a')
})

test("an exception of a task's own code is no failure of the endpoint", async () => {
  const { pool } = createPool(['a', 'b'])
  const bug = new TypeError('undefined is not a function')
  const task = pool.run(async () => {
    throw bug
  }, signal)
  await assert.rejects(task, (error) => error === bug)
  assert.equal(await pool.run(alias, signal), 'a')
})

test('an abort ends the wait for a resting endpoint', async () => {
  const { pool } = createPool(['a'])
  const reason = new Error('stopping')
  const failing = pool.run(async () => {
    throw fails('network')
  }, signal)
  await assert.rejects(failing, RetryableError)
  const run = pool.run(alias, AbortSignal.abort(reason))
  await assert.rejects(run, (error) => error === reason)
})

test('tryEach asks the endpoints that are ready and never waits', async () => {
  const { pool, clock } = createPool(['a', 'b', 'c'])
  const { answer } = await pool.tryEach(
    (endpoint) => endpoint.alias !== 'a',
    async (endpoint) => (endpoint.alias === 'c' ? 'trace' : undefined),
    signal,
  )
  assert.equal(answer, 'trace')
  const none = await pool.tryEach(
    () => true,
    async () => undefined,
    signal,
  )
  assert.deepEqual(none, { answer: undefined, failed: false })
  const broken = await pool.tryEach(
    () => true,
    async () => {
      throw fails('network')
    },
    signal,
  )
  assert.deepEqual(broken, { answer: undefined, failed: true })
  const resting = await pool.tryEach(
    () => true,
    async () => 'trace',
    signal,
  )
  assert.deepEqual(resting, { answer: undefined, failed: true })
  assert.deepEqual(clock.sleeps, [])
})

test("an API key that a provider repeats is hidden before the provider's message is shortened", async () => {
  const key = 'k3yThatNobodyMaySee9876543210'
  hideAddress(`https://rpc.example/v2/${key}`)
  const { pool, lines } = createPool(['a'])
  for (let before = 270; before <= 300; before++) {
    const text = `${'x'.repeat(before)}${key} is unknown`
    await pool.tryEach(
      () => true,
      async () => {
        throw new RpcFailure('http', 'a: failed', { text })
      },
      signal,
    )
    await pool.untilReady(() => true, 60_000, signal)
  }
  const said = lines.filter(({ text }) => text === 'endpoint said').map(({ fields }) => String(fields.text))
  assert.equal(said.length, 31)
  for (const text of said) assert.doesNotMatch(text, /k3y/)
})

test("a provider's words hide also the parts of an address that are plain words", async () => {
  hideAddress('https://admin:hunter@rpc.example/mykey/mainnet?network=hoodi')
  const { pool, lines } = createPool(['a'])
  await pool.tryEach(
    () => true,
    async () => {
      throw new RpcFailure('http', 'a: failed', {
        text: 'user admin (Hunter) has no mykey on hoodi, mainnet: eth_call failed, administrator told',
      })
    },
    signal,
  )
  const said = lines.find(({ text }) => text === 'endpoint said')!.fields.text
  const hidden = '[redacted]'
  assert.equal(
    said,
    `user ${hidden} (${hidden}) has no ${hidden} on ${hidden}, ${hidden}: eth_call failed, administrator told`,
  )
})

test('the counts tell which endpoint is in use, which rests and why, and who took over', async () => {
  const { pool, views } = createPool(['a', 'b', 'c'], { c: 8 })
  const told = () => views().map(({ isInUse, rests, failovers }) => [isInUse, rests, failovers])
  assert.deepEqual(told(), new Array(3).fill([false, undefined, 0]))
  await pool.verifyAll(signal)
  await pool.run(alias, signal)
  const asked: [boolean, RestReason | undefined, number][] = [
    [true, undefined, 0],
    [false, undefined, 0],
    [false, 'wrongChain', 0],
  ]
  assert.deepEqual(told(), asked)
  await pool.run(async (endpoint) => {
    if (endpoint.alias === 'a') throw fails('rateLimit', 60_000)
  }, signal)
  assert.deepEqual(told().slice(0, 2), [
    [false, 'rateLimit', 1],
    [true, undefined, 0],
  ])
  pool.distrustCurrent()
  assert.deepEqual(told()[1], [true, 'contradiction', 0])
})

test('an endpoint whose head stays behind is told to lag', async () => {
  const { pool, heads, clock, views } = createPool(['a', 'b'])
  heads.b = 200
  for (let time = 0; time < 2; time++) {
    pool.compareHeads(signal)
    await new Promise(setImmediate)
    clock.advance(10_000)
  }
  assert.deepEqual(
    views().map(({ rests }) => rests),
    ['lagging', undefined],
  )
})
