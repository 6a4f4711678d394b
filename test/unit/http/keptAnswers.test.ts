import assert from 'node:assert/strict'
import test from 'node:test'
import type { AnswerVersion } from '../../../src/board/version.js'
import { AnswerCache } from '../../../src/http/cache.js'
import type { CachedAnswer } from '../../../src/http/packedAnswers.js'
import { Exchange } from '../../../src/http/wire/exchange.js'
import type { Wire } from '../../../src/http/wire/wire.js'
import { newExchangeContext } from './exchangeContext.js'

/** Answers from the cache itself, whose memory is written again: as it is lent, with the cache's own kind of array. */

const BEFORE: AnswerVersion = { commits: 1, epoch: 0, halted: 0 }
const AFTER: AnswerVersion = { commits: 2, epoch: 0, halted: 0 }
const ASKED = Buffer.from(`{"proof":"${'a'.repeat(12_000)}"}`)
const OTHER = Buffer.from(`{"proof":"${'b'.repeat(12_000)}"}`)

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
function setUp() {
  const cache = new AnswerCache(16 << 20)
  cache.keep('getClaimProof', 'asked', 'identity', answer(ASKED), BEFORE, BEFORE)
  const found = cache.find('getClaimProof', 'asked', 'identity', BEFORE)
  assert.ok(found)
  return {
    found,
    /** A commit, after which another query's answer takes the memory. */
    writeAgain: () => cache.keep('getClaimProof', 'other', 'identity', answer(OTHER), AFTER, AFTER),
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

test('a kept answer that waits for the next turn goes out as it was, though a commit gives its memory to another', async () => {
  const { found, writeAgain } = setUp()
  const context = newExchangeContext()
  context.turn.mustWait = () => true
  const { wire, body } = connection(Number.POSITIVE_INFINITY)
  new Exchange(context, wire, 'GET', '', false).send(found)
  writeAgain()
  assert.equal(body(), lettersOf(Buffer.alloc(0)))
  await new Promise<void>(setImmediate)
  assert.equal(body(), lettersOf(ASKED))
})

test('a kept answer of which a client takes a part goes on as it was, though a commit gives its memory to another', () => {
  const { found, writeAgain } = setUp()
  const { wire, body, goOn } = connection(5_000)
  new Exchange(newExchangeContext(), wire, 'GET', '', false).send(found)
  assert.equal(body(), lettersOf(ASKED.subarray(0, 5_000)))
  writeAgain()
  goOn()
  assert.equal(body(), lettersOf(ASKED))
})

test('with the least memory that may be configured queries are answered, if not from the cache', () => {
  for (const maxBytes of [1, 63, 64, 511, 512, 4_096]) {
    const cache = new AnswerCache(maxBytes)
    assert.equal(cache.find('getClaimProof', 'asked', 'identity', BEFORE), undefined)
    cache.keep('getClaimProof', 'asked', 'identity', answer(ASKED), BEFORE, BEFORE)
    assert.equal(cache.find('getClaimProof', 'asked', 'identity', BEFORE), undefined)
    assert.equal(cache.findSpelling('getClaimProof', 'asked', 'identity', BEFORE), undefined)
  }
})
