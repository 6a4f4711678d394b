import assert from 'node:assert/strict'
import test from 'node:test'
import { answerQuery, type QueryContext } from '../../../src/http/answerQuery.js'
import { AnswerCache } from '../../../src/http/cache.js'
import { Exchange } from '../../../src/http/wire/exchange.js'
import type { Wire, WireRequest } from '../../../src/http/wire/wire.js'
import type { PoolRequest } from '../../../src/pool/requestLanes.js'
import { success } from '../../../src/query/answers.js'
import { collectGarbage, readProcessMemory } from '../../../src/telemetry/processMemory.js'
import { newExchangeContext } from './exchangeContext.js'

const MIB = 1024 ** 2
const VERSION = { commits: 1, epoch: 0, halted: 0, isChanging: false }
const nothing = (): undefined => undefined

/** Clients that take nothing of their pages, each of another query, whose answer comes in memory that the next one is written to. */
function slowReaders(cacheBytes: number, pageBytes: number) {
  const context = newExchangeContext()
  let nowMs = 0
  const cache = new AnswerCache(cacheBytes, () => nowMs, nothing)
  const slot = Buffer.alloc(pageBytes)
  let asked = 0
  const queries = {
    parsers: { getBridges: (raw: string) => success({ query: { networkId: 1 }, key: raw }) },
    cache,
    heads: { fill: () => Buffer.from('no-cache') },
    pool: {
      submit: (request: PoolRequest) => {
        setImmediate(() =>
          request.deliver({
            ...{ status: 200, body: slot.fill(++asked), coding: 'identity', tag: Buffer.from('t') },
            ...{ retryAfterSec: 0, life: 'commit', version: VERSION, fault: undefined },
          }),
        )
        return true
      },
    },
    mayCompress: true,
    readPosition: () => '',
    readVersion: () => VERSION,
    metrics: { cacheHit: nothing },
  } as unknown as QueryContext
  const wire = {
    ...{
      writeStatus: nothing,
      writeHeader: nothing,
      onWritable: nothing,
      onAborted: nothing,
      close: nothing,
    },
    cork: (write: () => void) => write(),
    tryEnd: () => [false, false],
  } as unknown as Wire
  const ask = async (): Promise<void> => {
    const exchange = new Exchange(context, wire, 'GET', '', false)
    answerQuery(queries, exchange, 'getBridges', `${asked}`, 'identity', {} as WireRequest)
    // The answer comes, and the clients beyond the bound are cut off.
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
  }
  const passTime = async (): Promise<void> => {
    for (const end = nowMs + 40_000; nowMs < end; nowMs += 1_000) {
      cache.expire()
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    }
  }
  return { ask, context, cache, passTime }
}

/** Takes what the heap needs for this, so that only bodies are measured. */
async function warmUp(pageBytes: number): Promise<void> {
  const { ask, context, passTime } = slowReaders(0, pageBytes)
  for (let client = 0; client < 1_000; client++) await ask()
  context.sending.cutBefore(Number.POSITIVE_INFINITY)
  await passTime()
  collectGarbage()
}

for (const [what, cacheBytes] of [
  ['is not kept', 0],
  ['is kept in the cache', 16 * MIB],
] as const)
  for (const pageBytes of [40_000, 890_000])
    test(`pages of ${pageBytes} bytes of which clients take nothing hold little more than the 64 MiB that they may, and give it back, where an answer ${what}`, async () => {
      await warmUp(pageBytes)
      const { ask, context, cache, passTime } = slowReaders(cacheBytes, pageBytes)
      const before = readProcessMemory()!.anonymousBytes
      const grown = (): number => (readProcessMemory()!.anonymousBytes - before) / MIB
      let most = 0
      for (let client = 0; client * pageBytes < 160 * MIB; client++) {
        await ask()
        if (client % 20 === 0) most = Math.max(most, grown())
      }
      const held = context.sending.size * pageBytes
      assert.ok(held > 50 * MIB && most > 40, `${held} bytes hold ${most.toFixed(0)} MiB`)
      assert.ok(most < 110, `${most.toFixed(0)} MiB at most`)
      context.sending.cutBefore(Number.POSITIVE_INFINITY)
      // A commit, and the time after which what nobody needs goes back.
      cache.find('getBridges', '', 'identity', { ...VERSION, commits: 2 })
      await passTime()
      assert.ok(grown() < 24, `${grown().toFixed(0)} MiB left`)
    })
