import assert from 'node:assert/strict'
import test from 'node:test'
import type { AnswerVersion } from '../../../src/board/version.js'
import { AnswerCache } from '../../../src/http/cache.js'
import type { CachedAnswer } from '../../../src/http/packedAnswers.js'
import { copyOf, letGo } from '../../../src/http/wire/bodyMemory.js'
import { Exchange } from '../../../src/http/wire/exchange.js'
import type { Wire } from '../../../src/http/wire/wire.js'
import { newExchangeContext } from './exchangeContext.js'

/** Answers from the cache itself, whose memory is written again: as it is lent, with the cache's own kind of array. */

const BEFORE: AnswerVersion = { commits: 1, epoch: 0, halted: 0 }
const AFTER: AnswerVersion = { commits: 2, epoch: 0, halted: 0 }
/** Lengths of answers that are packed with others, have memory of their own, and are sent in slices besides. */
const LENGTHS = [12_000, 50_000, 400_000]
const bodyOf = (letter: string, length: number): Buffer => Buffer.from(`{"proof":"${letter.repeat(length)}"}`)

function answer(body: Uint8Array): CachedAnswer {
  return {
    status: 200,
    body,
    cacheControl: 'no-cache',
    lines: '',
    bodyLines: '',
    etag: '"t"',
    life: 'commit',
    tokens: 0,
  }
}

/** What a body is made of: a comparison of two long ones would fill the screen. */
function lettersOf(body: Buffer): string {
  return `${body.length} bytes: ${body.toString().replace(/(.)\1+/g, '$1…')}`
}

/** A cache that holds one answer. */
function setUp(length: number) {
  const cache = new AnswerCache(16 << 20)
  const asked = bodyOf('a', length)
  cache.keep('getClaimProof', 'asked', 'identity', answer(asked), BEFORE, BEFORE)
  const found = cache.find('getClaimProof', 'asked', 'identity', BEFORE)
  assert.ok(found)
  return {
    found,
    asked,
    /** A commit, after which another query's answer takes the memory. */
    writeAgain: () =>
      cache.keep('getClaimProof', 'other', 'identity', answer(bodyOf('b', length)), AFTER, AFTER),
  }
}

/** A connection that takes `room` bytes until `goOn` is called. */
function connection(room: number) {
  const taken: Buffer[] = []
  let left = room
  let onWritable: (offset: number) => boolean = () => true
  const size = (): number => Buffer.concat(taken).length
  const wire = {
    writeStatus: () => undefined,
    writeHeader: () => undefined,
    cork: (write: () => void) => write(),
    onAborted: () => undefined,
    close: () => undefined,
    onWritable: (handler: (offset: number) => boolean) => {
      onWritable = handler
    },
    tryEnd: (part: Uint8Array, whole: number) => {
      const now = Buffer.from(part.subarray(0, left))
      left -= now.length
      taken.push(now)
      return [now.length === part.length, size() === whole]
    },
  } as unknown as Wire
  const goOn = (): void => {
    left = Number.POSITIVE_INFINITY
    onWritable(size())
  }
  return { wire, goOn, body: () => lettersOf(Buffer.concat(taken)) }
}

const turn = () => new Promise<void>(setImmediate)

for (const length of LENGTHS) {
  test(`a kept answer of ${length} bytes that waits for the next turn goes out as it was, though a commit gives its memory to another`, async () => {
    const { found, asked, writeAgain } = setUp(length)
    const context = newExchangeContext()
    context.turn.mustWait = () => true
    const { wire, body } = connection(Number.POSITIVE_INFINITY)
    new Exchange(context, wire, 'GET', '', false).send(found)
    writeAgain()
    assert.equal(body(), lettersOf(Buffer.alloc(0)))
    await turn()
    assert.equal(body(), lettersOf(asked))
  })

  test(`a kept answer of ${length} bytes of which a client takes a part goes on as it was, though a commit gives its memory to another`, async () => {
    const { found, asked, writeAgain } = setUp(length)
    const context = newExchangeContext()
    const { wire, body, goOn } = connection(5_000)
    new Exchange(context, wire, 'GET', '', false).send(found)
    assert.equal(body(), lettersOf(asked.subarray(0, 5_000)))
    writeAgain()
    goOn()
    // So many slices it has at most.
    for (let turns = 0; turns < 10; turns++) await turn()
    assert.equal(body(), lettersOf(asked))
  })
}

for (const length of LENGTHS.slice(1))
  test(`clients that are slow to take one kept answer of ${length} bytes share it, so that none of them is cut off`, async () => {
    const { found, asked, writeAgain } = setUp(length)
    const context = newExchangeContext()
    // Copies would hold more than the 64 MiB beyond which clients are cut off.
    const clients = Array.from({ length: Math.ceil((70 * 1024 ** 2) / length) }, () => connection(5_000))
    for (const { wire } of clients) new Exchange(context, wire, 'GET', '', false).send(found)
    writeAgain()
    for (let turns = 0; turns < 10; turns++) await turn()
    assert.equal(context.sending.size, clients.length)
    for (const { goOn } of clients) goOn()
    // Slices of one after the other.
    while (context.sending.size > 0) await turn()
    for (const { body } of clients) assert.equal(body(), lettersOf(asked))
  })

test('the memory of a long answer is used for another one when the last client has taken it, not before', async () => {
  const length = 400_000
  const { found, writeAgain } = setUp(length)
  const context = newExchangeContext()
  const clients = [connection(5_000), connection(5_000), connection(5_000)]
  const exchanges = clients.map(({ wire }) => new Exchange(context, wire, 'GET', '', false))
  for (const exchange of exchanges) exchange.send(found)
  writeAgain()
  const sent = async (): Promise<readonly [left: number, isUsedAgain: boolean]> => {
    for (let turns = 0; turns < 10; turns++) await turn()
    const other = copyOf(new Uint8Array(length))
    const isUsedAgain = other.buffer === found.body.buffer
    letGo(other)
    return [context.sending.size, isUsedAgain]
  }
  clients[0]!.goOn()
  assert.deepEqual(await sent(), [2, false])
  exchanges[1]!.cut()
  assert.deepEqual(await sent(), [1, false])
  clients[2]!.goOn()
  assert.deepEqual(await sent(), [0, true])
})

test('with the least memory that may be configured queries are answered, if not from the cache', () => {
  for (const maxBytes of [1, 63, 64, 511, 512, 4_096]) {
    const cache = new AnswerCache(maxBytes)
    assert.equal(cache.find('getClaimProof', 'asked', 'identity', BEFORE), undefined)
    cache.keep('getClaimProof', 'asked', 'identity', answer(bodyOf('a', 12_000)), BEFORE, BEFORE)
    assert.equal(cache.find('getClaimProof', 'asked', 'identity', BEFORE), undefined)
    assert.equal(cache.findSpelling('getClaimProof', 'asked', 'identity', BEFORE), undefined)
  }
})
