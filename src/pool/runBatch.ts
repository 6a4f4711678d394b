import { errorTable } from '../api/errorTable.js'
import { writeFailure } from '../api/present/failure.js'
import { AnswerTooLargeError, JsonWriter } from '../api/present/jsonWriter.js'
import { presenters, type RecordByOperation } from '../api/present/present.js'
import { type Route, routes } from '../api/routes.js'
import { type AnswerVersion, NO_VERSION } from '../board/version.js'
import { InvariantError } from '../errors/invariantError.js'
import { type Answer, type Failure, failure } from '../query/answers.js'
import type { OperationId, QueryByOperation } from '../query/queries.js'
import type { RowTemplate } from '../query/rowTemplate.js'
import { type QueryFault, type ReplyEntry, ReplyHead, replyHeadBytes, tagPlace } from './batchMessages.js'
import { type ContentCoding, encodeBody, MAX_CODED_BYTES, MIN_CODED_BYTES } from './contentCoding.js'
import { createTagWriter, type WriteTag } from './digestTag.js'
import { decodeQueries, type NamedQuery } from './queryCodec.js'

/** Runs `body` under fresh snapshots of every shard, and releases them when it returns or throws. */
export interface SnapshotSource {
  withSnapshots<T>(body: () => T): T
}

/** @param rows how the rows of a list are to be spelled: its route's, undefined for other answers. */
export type QueryFunction<Shards, K extends OperationId> = (
  shards: Shards,
  query: QueryByOperation[K],
  rows: RowTemplate | undefined,
) => Answer<RecordByOperation[K]>

export type QueryFunctions<Shards> = { readonly [K in OperationId]: QueryFunction<Shards, K> }

/** A writer whose memory has grown beyond this for a huge page is replaced. */
const KEPT_BYTES = 8 * 1024 * 1024

/** @returns undefined when the reply was written to `slot`; the reply itself when it does not fit. */
export type RunBatch = (batch: Uint8Array, slot: Uint8Array) => ArrayBuffer | undefined

/**
 * All that a query thread does with a batch: it reads queries and writes finished answers. Expected failures are answers. An
 * exception fails only its own query, except a wasm trap, which is thrown.
 */
export function createBatchRunner<Shards extends SnapshotSource>(
  shards: Shards,
  answerers: QueryFunctions<Shards>,
  readVersion: () => AnswerVersion,
  createWriter: () => JsonWriter = () => new JsonWriter(),
  maxResponseBytes = Number.POSITIVE_INFINITY,
  writeTag: WriteTag = createTagWriter(),
): RunBatch {
  let writer = createWriter()

  /** Writes the answer to `query`. @returns what the reply's head says of it. */
  function answer<K extends OperationId>(operation: K, query: QueryByOperation[K]): Answered {
    const route: Pick<Route<never>, 'path' | 'rows'> = routes[operation]
    const result = answerers[operation](shards, query, route.rows)
    if (result.ok) {
      const presenter = presenters[operation]
      presenter.write(writer, result.value)
      if (writer.length > writer.maxLength) throw new AnswerTooLargeError()
      return { status: 200, retryAfterSec: 0, life: presenter.life(result.value), isFault: false }
    }
    return refuse(result)
  }

  function refuse(result: Failure): Answered {
    writeFailure(writer, result)
    const row = errorTable[result.code]
    // A 404 holds until the next commit; other failures may end at any moment.
    const life = row.status === 404 ? 'commit' : undefined
    return { status: row.status, retryAfterSec: result.retryAfterSec ?? 0, life, isFault: false }
  }

  function answerWithin(end: number, { operation, query }: NamedQuery): Answered {
    writer.maxLength = end
    try {
      return answer(operation, query)
    } finally {
      writer.maxLength = Number.POSITIVE_INFINITY
    }
  }

  function answerOrFault(named: NamedQuery, index: number): ReplyEntry {
    const offset = writer.length
    const maxBytes = Math.max(maxResponseBytes, entitledBytes(named))
    let answered: Answered
    try {
      answered = answerWithin(offset + maxBytes, named)
    } catch (error) {
      if (isTrap(error)) throw error
      writer.truncate(offset)
      answered = error instanceof AnswerTooLargeError ? refuse(tooLarge(maxBytes)) : writeFault(error, named)
    }
    const { status, retryAfterSec, life, isFault } = answered
    const isTagged = status === 200
    const coding = isTagged ? finish(named, offset, tagPlace(index)) : 'identity'
    return { offset, length: writer.length - offset, status, coding, isTagged, retryAfterSec, life, isFault }
  }

  function writeFault(error: unknown, named: NamedQuery): Answered {
    writer.json(describeFault(error, named))
    return { status: 500, retryAfterSec: 0, life: undefined, isFault: true }
  }

  /**
   * Writes the tag of the answer at `offset`, and compresses the answer if that was asked for and is worth it. Of an answer without a body
   * only the tag and the coding are left, which the whole answer would have.
   */
  function finish({ coding: asked, isBodiless }: NamedQuery, offset: number, tagAt: number): ContentCoding {
    const body = writer.bytes.subarray(offset, writer.length)
    writeTag(body, writer.bytes, tagAt)
    const { length } = body
    const coding = length < MIN_CODED_BYTES || length > MAX_CODED_BYTES ? 'identity' : asked
    if (isBodiless === true) writer.truncate(offset)
    else if (coding !== 'identity') {
      const coded = encodeBody(body, coding)
      writer.truncate(offset)
      writer.append(coded)
    }
    return coding
  }

  return (batch, slot) => {
    const named = decodeQueries(batch)
    // Before the first read: an answer may be newer than its version says, never older.
    let version = readVersion()
    // Here rather than at the end: a batch that failed as a whole has left a part of its reply.
    writer.reset()
    writer.skip(replyHeadBytes(named.length))
    const entries = shards.withSnapshots(() => {
      // Halts and head places are read only now, with the snapshots. If a halt ended between reading `version` and now, the
      // answer is made without it. Once that halt begins again, `version` is current again and would vouch for this answer.
      if (readVersion() !== version) version = NO_VERSION
      return named.map(answerOrFault)
    })
    const reply = writer.bytes.subarray(0, writer.length)
    const head = new ReplyHead(reply, version, entries.length)
    for (let index = 0; index < entries.length; index++) head.setEntry(index, entries[index]!)
    if (reply.length > KEPT_BYTES) writer = createWriter()
    if (reply.length > slot.length) return reply.slice().buffer
    copyInto(slot, reply)
    return undefined
  }
}

/**
 * Copies a reply into its slot. `set` copies into shared memory word by word, 3.0 µs for a page of 100; `fill` with a source of
 * the target's length is one `memcpy`, 0.8 µs (November 2026, Node 20).
 */
function copyInto(slot: Uint8Array, reply: Uint8Array): void {
  Buffer.from(slot.buffer, slot.byteOffset, reply.length).fill(reply)
}

type Answered = Pick<ReplyEntry, 'status' | 'retryAfterSec' | 'life' | 'isFault'>

function entitledBytes({ operation, query }: NamedQuery): number {
  // `query` is this operation's: TypeScript does not connect the two.
  const route: Pick<Route<never>, 'estimateBytes' | 'entitledBytes'> = routes[operation]
  return route.entitledBytes?.(query as never) ?? 0
}

function tooLarge(maxResponseBytes: number): Failure {
  return failure(
    'INVALID_PARAMETER',
    `the answer has more than ${maxResponseBytes} bytes: ask for fewer rows with page_size`,
  )
}

function describeFault(error: unknown, { query }: NamedQuery): QueryFault {
  const known = error instanceof Error ? error : new Error(String(error))
  const isInvariant = error instanceof InvariantError
  const asked = query.networkId ?? null
  return {
    name: known.name,
    message: known.message,
    stack: known.stack ?? '',
    isInvariant,
    networkId: isInvariant ? (error.networkId ?? asked) : asked,
  }
}

/** Whether wasm trapped. That leaves its instance in an unknown state, and only a new thread gets a new instance. */
export function isTrap(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError'
}
