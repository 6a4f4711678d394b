import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AnswerVersion } from '../../src/board/version.js'
import { AnswerCache } from '../../src/http/cache.js'
import type { CachedAnswer } from '../../src/http/packedAnswers.js'
import { type ContentCoding, contentCodings } from '../../src/pool/contentCoding.js'
import type { OperationId } from '../../src/query/queries.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

const OPERATIONS: readonly OperationId[] = ['getClaimProof', 'getBridges']
/** Small enough for a few answers to fill a segment; the least that packs any. */
const BUDGETS = [20_000, 65_536, 131_071, 1 << 20]

interface Asked {
  readonly operation: OperationId
  readonly coding: ContentCoding
  readonly key: string
}

const asked: fc.Arbitrary<Asked> = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  coding: fc.constantFrom(...contentCodings),
  // The last two are kept by their digest, and differ in their first letter alone.
  key: fc.integer({ min: 0, max: 5 }).map((at) => (at < 4 ? 'k'.repeat(at) : `${at}${'x'.repeat(130)}`)),
})

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('find' as const), asked }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('spell' as const), asked }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('keep' as const),
      asked,
      // A proof has some 5 KB; what is beyond 16 KiB lies by itself; the empty one and those at the end of a segment have a share.
      bytes: fc.oneof(
        fc.integer({ min: 0, max: 90 }),
        fc.integer({ min: 0, max: 2_100 }),
        fc.integer({ min: 16_250, max: 16_450 }),
      ),
      tag: fc.integer({ min: 0, max: 30 }),
      isLasting: fc.boolean(),
      isFromBefore: fc.boolean(),
    }),
  },
  {
    weight: 2,
    // Answers to queries that each came once: they fill segments, and the oldest go.
    arbitrary: fc.record({
      type: fc.constant('others' as const),
      count: fc.integer({ min: 1, max: 700 }),
      isLasting: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('move' as const),
      by: fc.constantFrom('commit', 'epoch', 'halt'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 25_000 }) }),
  },
)

/** What a cache without a bound would hold. */
interface Model {
  readonly body: string
  readonly etag: string
  readonly status: number
  readonly tokens: number
  readonly madeFrom: AnswerVersion
  readonly life: CachedAnswer['life']
}

function nameOf({ operation, coding, key }: Asked): string {
  return JSON.stringify([operation, coding, key])
}

test('whatever is kept, dropped, written over and asked in which order, a query finds its own answer of this version, whole, or none', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...BUDGETS),
      fc.array(step, { minLength: 50, maxLength: 200, size: 'max' }),
      (maxBytes, steps) => {
        let nowMs = 0
        const cache = new AnswerCache(
          maxBytes,
          () => nowMs,
          () => undefined,
        )
        let version: AnswerVersion = { commits: 1, epoch: 0, halted: 0 }
        let before = version
        const kept = new Map<string, Model[]>()
        let made = 0
        const spelled: Asked[] = []
        const check = (one: Asked, found: CachedAnswer | undefined): void => {
          if (found === undefined) return
          const body = Buffer.from(found.body).toString('latin1')
          const models = (kept.get(nameOf(one)) ?? []).filter(
            ({ life, madeFrom }) =>
              madeFrom.epoch === version.epoch &&
              madeFrom.halted === version.halted &&
              (life === 'epoch' || madeFrom.commits === version.commits),
          )
          assert.ok(
            models.some(
              (model) =>
                model.body === body &&
                model.etag === found.etag &&
                model.status === found.status &&
                model.tokens === found.tokens &&
                model.life === found.life,
            ),
            `${nameOf(one)} at ${JSON.stringify(version)}: ${body.slice(0, 40)}`,
          )
        }
        for (const one of steps) {
          switch (one.type) {
            case 'find':
              check(one.asked, cache.find(one.asked.operation, one.asked.key, one.asked.coding, version))
              break
            case 'spell': {
              const { operation, key, coding } = one.asked
              check(one.asked, cache.findSpelling(operation, `s=${key}`, coding, version))
              if (cache.find(operation, key, coding, version) === undefined) break
              cache.addSpelling(operation, `s=${key}`, coding, key)
              spelled.push(one.asked)
              break
            }
            case 'keep': {
              const { operation, key, coding } = one.asked
              // Its own letters in every place, so that a part of another answer shows.
              const unit = `${made++};`
              const body = unit.repeat(Math.ceil(one.bytes / unit.length)).slice(0, one.bytes)
              const madeFrom = one.isFromBefore ? before : version
              const life = one.isLasting ? ('epoch' as const) : ('commit' as const)
              const status = one.bytes % 2 === 0 ? 200 : 404
              const etag = one.tag === 0 ? '' : `"${String(made).padStart(one.tag, 't')}"`
              const model = { body, etag, status, tokens: made / 8, madeFrom, life }
              const lent = Buffer.from(body, 'latin1')
              const head = { cacheControl: status === 200 ? 'no-cache' : 'public', lines: '', bodyLines: '' }
              cache.keep(
                operation,
                key,
                coding,
                { status, etag, life, tokens: model.tokens, ...head, body: new Uint8Array(lent) },
                madeFrom,
                version,
              )
              kept.set(nameOf(one.asked), [...(kept.get(nameOf(one.asked)) ?? []), model])
              assert.ok(cache.stats().bytes <= maxBytes)
              break
            }
            case 'others':
              for (let left = one.count; left > 0; left--)
                cache.keep(
                  'getClaims',
                  `${made++}`,
                  'identity',
                  {
                    ...{
                      status: 200,
                      cacheControl: 'no-cache',
                      lines: '',
                      bodyLines: '',
                      etag: '',
                      tokens: 0,
                    },
                    life: one.isLasting ? 'epoch' : 'commit',
                    body: new Uint8Array(made % 50).fill(0x2e),
                  },
                  version,
                  version,
                )
              break
            case 'move':
              before = version
              version = {
                commits: version.commits + 1,
                epoch: version.epoch + (one.by === 'epoch' ? 1 : 0),
                halted: one.by === 'halt' ? (version.halted === 0 ? 1 : 0) : version.halted,
              }
              break
            case 'pass':
              nowMs += one.ms
              cache.expire()
              break
          }
          if (one.type === 'others' || one.type === 'pass')
            for (const earlier of spelled) {
              const { operation, key, coding } = earlier
              check(earlier, cache.findSpelling(operation, `s=${key}`, coding, version))
            }
        }
      },
    ),
    { ...seed, numRuns: 40 },
  )
})
