import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../../src/api/routes.js'
import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'
import { createVersionReader, hasOnlyGrown } from '../../../src/board/version.js'
import { decodeReplies } from '../../../src/pool/batchMessages.js'
import type { ContentCoding } from '../../../src/pool/contentCoding.js'
import { QueryWriter } from '../../../src/pool/queryCodec.js'
import { createBatchRunner, type QueryFunctions } from '../../../src/pool/runBatch.js'
import { asDepositCount, asNetworkId } from '../../../src/protocol/units.js'
import { success } from '../../../src/query/answers.js'
import { cursorOutdated } from '../../../src/query/refusals.js'
import { bridgeRecord, pageOf } from '../../support/sampleRecords.js'

const shards = { withSnapshots: <T>(body: () => T): T => body(), rememberSnapshots: () => () => true }

/** A page of one bridge, whose metadata has as many bytes as the page number says. */
const queries = {
  getBridges: (_: unknown, { pageNumber }: { readonly pageNumber: number }) =>
    success(
      pageOf([bridgeRecord({ depositCount: asDepositCount(7), metadata: new Uint8Array(pageNumber) })]),
    ),
} as unknown as QueryFunctions<typeof shards>

const version = { commits: 3, epoch: 2, halted: 0 }
const { run } = createBatchRunner(shards, queries, () => version)

function batchOf(sizes: readonly number[]): Uint8Array {
  const writer = new QueryWriter()
  for (const pageNumber of sizes)
    writer.append({
      operation: 'getBridges',
      query: { networkId: asNetworkId(1), pageNumber, pageSize: 1 },
      coding: 'identity',
    })
  return writer.take()
}

/** A slot as the threads share it, between foreign bytes, all of them 0xee. */
function slotOf(length: number) {
  const memory = new Uint8Array(new SharedArrayBuffer(length + 64)).fill(0xee)
  const slot = memory.subarray(32, 32 + length)
  const isUntouched = () =>
    [...memory.subarray(0, 32), ...memory.subarray(32 + length)].every((b) => b === 0xee)
  return { slot, isUntouched }
}

/** Lengths of the metadata in the answers. */
function metadataIn(reply: Uint8Array): number[] {
  return decodeReplies(reply).map(({ body }) => {
    const page = JSON.parse(Buffer.from(body).toString()) as { bridges: { metadata: string }[] }
    return page.bridges[0]!.metadata.length / 2 - 1
  })
}

for (const sizes of [[0], [1000], [9000, 0, 33, 1], Array.from({ length: 256 }, (_, at) => at)])
  test(`a reply of ${sizes.length} answers, the first with ${sizes[0]} bytes, may fill its slot, and one byte more is sent as a message`, () => {
    const batch = batchOf(sizes)
    const { byteLength } = run(batch, slotOf(0).slot)!
    const exact = slotOf(byteLength)
    assert.equal(run(batch, exact.slot), undefined)
    assert.deepEqual(metadataIn(exact.slot), sizes)
    assert.ok(exact.isUntouched())

    const short = slotOf(byteLength - 1)
    const reply = run(batch, short.slot)!
    assert.equal(reply.byteLength, byteLength)
    assert.deepEqual(metadataIn(new Uint8Array(reply)), sizes)
    assert.ok(short.isUntouched() && short.slot.every((byte) => byte === 0xee))

    const large = slotOf(byteLength + 5000)
    assert.equal(run(batch, large.slot), undefined)
    assert.deepEqual(metadataIn(large.slot), sizes)
    // Bytes after the reply are not written: a slot uses memory only as far as answers needed it.
    assert.ok(large.isUntouched() && large.slot.subarray(byteLength).every((byte) => byte === 0xee))
  })

test('the answer for one deposit count may exceed the size limit of pages, and a page may not', () => {
  const { run: small } = createBatchRunner(shards, queries, () => version, undefined, 10_000)
  const statusOf = (metadataBytes: number, depositCounts?: readonly number[]) => {
    const writer = new QueryWriter()
    writer.append({
      operation: 'getBridges',
      query: {
        ...{ networkId: asNetworkId(1), pageNumber: metadataBytes, pageSize: 1 },
        ...(depositCounts === undefined ? {} : { depositCounts: depositCounts.map(asDepositCount) }),
      },
      coding: 'identity',
    })
    return decodeReplies(new Uint8Array(small(writer.take(), slotOf(0).slot)!))[0]!.status
  }
  assert.deepEqual([statusOf(4_000), statusOf(5_000)], [200, 400])
  assert.deepEqual([statusOf(100_000, [7]), statusOf(16 * 1024 ** 2, [7])], [200, 200])
  assert.deepEqual([statusOf(5_000, [7, 8]), statusOf(17 * 1024 ** 2, [7])], [400, 400])
})

test("a list is asked for with its route's template for rows", () => {
  const templates: unknown[] = []
  const asked = {
    getBridges: (_: unknown, __: unknown, rows: unknown) => {
      templates.push(rows)
      return success(pageOf([bridgeRecord()]))
    },
  } as unknown as QueryFunctions<typeof shards>
  createBatchRunner(shards, asked, () => version).run(batchOf([1]), slotOf(0).slot)
  assert.deepEqual(templates, [routes.getBridges.rows])
})

test('an answer made while a halted network briefly resumed is not kept as one of the halted network', () => {
  const status = createStatusBoard([0])
  const row = statusRow(status, 0)
  const readVersion = createVersionReader(status)
  let isResuming = false
  const resuming = {
    withSnapshots: <T>(body: () => T): T => {
      // Just before the halts of the networks are read.
      if (isResuming) row.setHaltReason('none')
      return body()
    },
    rememberSnapshots: () => () => true,
  }
  const { run: runHere } = createBatchRunner(
    resuming,
    queries as unknown as QueryFunctions<typeof resuming>,
    readVersion,
  )
  const versionOfAnswer = () =>
    decodeReplies(new Uint8Array(runHere(batchOf([1]), slotOf(0).slot)!))[0]!.version
  row.setHaltReason('missing_log')
  assert.ok(hasOnlyGrown(versionOfAnswer(), readVersion()))
  isResuming = true
  const made = versionOfAnswer()
  row.setHaltReason('missing_log')
  assert.ok(!hasOnlyGrown(made, readVersion()))
})

test('an answer that goes out without its body has the tag and the coding of the whole one, and no bytes', () => {
  const replyTo = (metadataBytes: number, coding: ContentCoding, isBodiless: boolean) => {
    const writer = new QueryWriter()
    const query = { networkId: asNetworkId(1), pageNumber: metadataBytes, pageSize: 1 }
    for (let time = 0; time < 2; time++) writer.append({ operation: 'getBridges', query, coding, isBodiless })
    const [, second] = decodeReplies(new Uint8Array(run(writer.take(), slotOf(0).slot)!))
    const { status, tag, body, life } = second!
    return { promise: { status, tag: String(tag), coding: second!.coding, life }, bytes: body.length }
  }
  for (const coding of ['identity', 'gzip', 'br'] as const)
    for (const size of [0, 10_000]) {
      const whole = replyTo(size, coding, false)
      const bodiless = replyTo(size, coding, true)
      assert.deepEqual(bodiless.promise, whole.promise)
      assert.ok(whole.bytes > 0)
      assert.equal(bodiless.bytes, 0)
    }
})

test('where nobody wants body and tag of a list its rows are not written, and what is wrong with it is told all the same', () => {
  const rows = { get: () => assert.fail('a row was read'), enumerable: true }
  const asked = {
    getBridges: (_: unknown, { pageNumber }: { readonly pageNumber: number }) =>
      pageNumber === 1 ? success(Object.defineProperty(pageOf([]), 'rows', rows)) : cursorOutdated(),
  } as unknown as QueryFunctions<typeof shards>
  const writer = new QueryWriter()
  for (const pageNumber of [1, 2])
    writer.append({
      operation: 'getBridges',
      query: { networkId: asNetworkId(1), pageNumber, pageSize: 1_000 },
      ...{ coding: 'br', isBodiless: true, isTagless: true },
    })
  const batch = writer.take()
  const { run: runHere } = createBatchRunner(shards, asked, () => version)
  const [made, refused] = decodeReplies(new Uint8Array(runHere(batch, slotOf(0).slot)!))
  assert.deepEqual([made!.status, made!.body.length, made!.tag.length, made!.life], [200, 0, 0, 'commit'])
  const { error } = JSON.parse(Buffer.from(refused!.body).toString()) as { error: { code: string } }
  assert.deepEqual([refused!.status, error.code], [400, 'INVALID_PARAMETER'])
})
