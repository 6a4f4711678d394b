import { dialectForms } from '../api/dialects/dialects.js'
import type { DialectForm } from '../api/dialects/frame/dialect.js'
import { errorTable } from '../api/errorTable.js'
import { writeFailure } from '../api/present/failure.js'
import { AnswerTooLargeError, JsonWriter } from '../api/present/jsonWriter.js'
import { type Presenter, presenters, type RecordByOperation } from '../api/present/present.js'
import { type AnswerVersion, NO_VERSION } from '../board/version.js'
import { InvariantError } from '../errors/invariantError.js'
import { type Answer, type Failure, failure } from '../query/answers.js'
import type { PoolOperation, PoolQueries } from '../query/queries.js'
import type { RowTemplate } from '../query/rowTemplate.js'
import { type QueryFault, type ReplyEntry, ReplyHead, replyHeadBytes, tagPlace } from './batchMessages.js'
import { type ContentCoding, encodeAside, encodeBody, isWorthCoding } from './contentCoding.js'
import { createTagWriter, type WriteTag } from './digestTag.js'
import { estimateBytes, isLarge, routeOf } from './estimates.js'
import { Others, REST_MS } from './others.js'
import { decodeQueries, type NamedQuery } from './queryCodec.js'

export interface SnapshotSource {
  /** Runs `body` under fresh snapshots of every shard, and releases them when it returns or throws. */
  withSnapshots<T>(body: () => T): T
  /** Inside `withSnapshots`: @returns a function that tells, inside a later one, whether that one sees the same. */
  rememberSnapshots(): () => boolean
}

/** @param rows how the rows of a list are to be spelled: its route's, undefined for other answers. */
export type QueryFunction<Shards, K extends PoolOperation> = (
  shards: Shards,
  query: PoolQueries[K],
  rows: RowTemplate | undefined,
) => Answer<RecordByOperation[K]>

export type QueryFunctions<Shards> = { readonly [K in PoolOperation]: QueryFunction<Shards, K> }

/** A writer whose memory has grown beyond this for a huge page is replaced. */
const KEPT_BYTES = 8 * 1024 * 1024

/** Rows of a large page that are written before the thread looks whether a batch waits, or rests: a tenth of a millisecond. */
const SLICE_ROWS = 200
/** The same while others ask, but for the rests. With so short slices a page takes a twentieth longer, so pages alone have none. */
const SHORT_SLICE_ROWS = 50

/** @returns undefined when the reply was written to `slot`; the reply itself when it does not fit. */
export type RunBatch = (batch: Uint8Array, slot: Uint8Array) => ArrayBuffer | undefined

/**
 * All that a query thread does with a batch: it reads queries and writes finished answers. Expected failures are answers. An
 * exception fails only its own query, except a wasm trap, which is thrown.
 */
export interface BatchRunner {
  readonly run: RunBatch
  /**
   * As `run`, but a batch that is one large page is written slice by slice, and while others ask the thread runs their batches
   * between two slices. All slices see the same snapshots. `batch` and `slot` must stay as they are until the promise ends.
   * @param isAnyWaiting whether a batch waits for a thread.
   */
  runInSlices(
    batch: Uint8Array,
    slot: Uint8Array,
    isAnyWaiting: () => boolean,
  ): ArrayBuffer | undefined | Promise<ArrayBuffer | undefined>
}

export function createBatchRunner<Shards extends SnapshotSource>(
  shards: Shards,
  answerers: QueryFunctions<Shards>,
  readVersion: () => AnswerVersion,
  createWriter: () => JsonWriter = () => new JsonWriter(),
  maxResponseBytes = Number.POSITIVE_INFINITY,
  writeTag: WriteTag = createTagWriter(),
  now?: () => number,
): BatchRunner {
  /** Those that no batch is being written with: one, and one more for each page that was in slices at the same time. */
  const idleWriters: JsonWriter[] = []
  /** Batches that were run in one go. */
  let batches = 0
  const others = new Others(() => batches, now)

  /** @returns a writer with room left for the head of a reply with `count` answers. */
  function takeWriter(count: number): JsonWriter {
    const writer = idleWriters.pop() ?? createWriter()
    // Here rather than at the end: a batch that failed as a whole has left a part of its reply.
    writer.reset()
    writer.skip(replyHeadBytes(count))
    return writer
  }

  function ask<K extends PoolOperation>(
    operation: K,
    query: PoolQueries[K],
    form: DialectForm<K> | undefined,
  ): Answer<RecordByOperation[K]> {
    const result = answerers[operation](
      shards,
      query,
      form === undefined ? routeOf(operation).rows : form.rows,
    )
    const lacking = result.ok ? form?.lacks?.(result.value, query) : undefined
    return lacking ?? result
  }

  /** Writes the answer to a query. @param isNeedless whether nobody gets a success. @returns what the reply's head says of it. */
  function answer<K extends PoolOperation>(
    writer: JsonWriter,
    operation: K,
    query: PoolQueries[K],
    form: DialectForm<K> | undefined,
    isNeedless: boolean,
  ): Answered {
    const result = ask(operation, query, form)
    if (!result.ok) return refuse(writer, result, query, form)
    const presenter: Presenter<RecordByOperation[K]> = form?.presenter ?? presenters[operation]
    // Rows of our own lists are never too long. A dialect may show whole metadata: then only the text tells.
    if (!isNeedless || (form !== undefined && presenter.isShort?.(writer, result.value) === false))
      presenter.write(writer, result.value)
    if (writer.length > writer.maxLength) throw new AnswerTooLargeError()
    return { status: 200, retryAfterSec: 0, life: presenter.life(result.value), isFault: false }
  }

  /**
   * As `answer`, a few rows of a page at a time. Each step tells how many it has written; what the last one returns is said of the whole
   * answer.
   */
  function* answerInSlices<K extends PoolOperation>(
    writer: JsonWriter,
    operation: K,
    query: PoolQueries[K],
    form: DialectForm<K> | undefined,
  ): Generator<number, Answered> {
    const result = ask(operation, query, form)
    if (!result.ok) return refuse(writer, result, query, form)
    const presenter: Presenter<RecordByOperation[K]> = form?.presenter ?? presenters[operation]
    for (let from = 0; ; ) {
      const rows = others.doAsk() ? SHORT_SLICE_ROWS : SLICE_ROWS
      if (presenter.writePart!(writer, result.value, from, from + rows)) break
      from += rows
      yield rows
    }
    if (writer.length > writer.maxLength) throw new AnswerTooLargeError()
    return { status: 200, retryAfterSec: 0, life: presenter.life(result.value), isFault: false }
  }

  function refuse<K extends PoolOperation>(
    writer: JsonWriter,
    result: Failure,
    query: PoolQueries[K],
    form: DialectForm<K> | undefined,
  ): Answered {
    const row = errorTable[result.code]
    // A 404 holds until the next commit; other failures may end at any moment.
    const life = row.status === 404 ? 'commit' : undefined
    const retryAfterSec = result.retryAfterSec ?? 0
    if (form === undefined) {
      writeFailure(writer, result)
      return { status: row.status, retryAfterSec, life, isFault: false }
    }
    const { status, body } = form.refuse(result, query)
    writer.plain(body)
    return { status, retryAfterSec, life, isFault: false }
  }

  /** Writes what an exception makes of an answer in the place of what was written of it. */
  function writeError(writer: JsonWriter, offset: number, error: unknown, named: NamedQuery): Answered {
    if (isTrap(error)) throw error
    writer.maxLength = Number.POSITIVE_INFINITY
    writer.truncate(offset)
    if (error instanceof AnswerTooLargeError)
      return refuse(writer, tooLarge(maxBytesOf(named)), named.query, formOf(named))
    writer.json(describeFault(error, named))
    return { status: 500, retryAfterSec: 0, life: undefined, isFault: true }
  }

  function maxBytesOf(named: NamedQuery): number {
    return Math.max(maxResponseBytes, entitledBytes(named))
  }

  function answerOrFault(writer: JsonWriter, named: NamedQuery, index: number): ReplyEntry {
    const offset = writer.length
    const isNeedless = named.isTagless === true
    let answered: Answered
    try {
      writer.maxLength = offset + maxBytesOf(named)
      answered = answer(writer, named.operation, named.query, formOf(named), isNeedless)
    } catch (error) {
      answered = writeError(writer, offset, error, named)
    }
    writer.maxLength = Number.POSITIVE_INFINITY
    const { status, retryAfterSec, life, isFault } = answered
    if (status === 200 && isNeedless) writer.truncate(offset)
    const isTagged = status === 200 && !isNeedless
    const coding = isTagged ? finish(writer, named, offset, tagPlace(index)) : 'identity'
    return { offset, length: writer.length - offset, status, coding, isTagged, retryAfterSec, life, isFault }
  }

  /**
   * Writes the tag of the answer at `offset`, and compresses the answer if that was asked for and is worth it. Of an answer without a body
   * only the tag and the coding are left, which the whole answer would have.
   */
  function finish(
    writer: JsonWriter,
    { coding: asked, isBodiless }: NamedQuery,
    offset: number,
    tagAt: number,
  ): ContentCoding {
    const body = writer.bytes.subarray(offset, writer.length)
    writeTag(body, writer.bytes, tagAt)
    const coding = isWorthCoding(body.length) ? asked : 'identity'
    if (isBodiless === true) writer.truncate(offset)
    else if (coding !== 'identity') replaceBody(writer, offset, encodeBody(body, coding))
    return coding
  }

  /** Puts the reply into the slot, or makes a message of it where it is too long. */
  function endReply(
    writer: JsonWriter,
    slot: Uint8Array,
    version: AnswerVersion,
    entries: readonly ReplyEntry[],
  ): ArrayBuffer | undefined {
    const reply = writer.bytes.subarray(0, writer.length)
    const head = new ReplyHead(reply, version, entries.length)
    for (let index = 0; index < entries.length; index++) head.setEntry(index, entries[index]!)
    if (reply.length <= KEPT_BYTES) idleWriters.push(writer)
    if (reply.length > slot.length) return reply.slice().buffer
    copyInto(slot, reply)
    return undefined
  }

  function runAll(named: readonly NamedQuery[], slot: Uint8Array): ArrayBuffer | undefined {
    batches++
    // Before the first read: an answer may be newer than its version says, never older.
    let version = readVersion()
    const writer = takeWriter(named.length)
    const entries = shards.withSnapshots(() => {
      // Halts and head places are read only now, with the snapshots. If a halt ended between reading `version` and now, the
      // answer is made without it. Once that halt begins again, `version` is current again and would vouch for this answer.
      if (readVersion() !== version) version = NO_VERSION
      return named.map((each, index) => answerOrFault(writer, each, index))
    })
    return endReply(writer, slot, version, entries)
  }

  async function runPage(
    named: NamedQuery,
    slot: Uint8Array,
    isAnyWaiting: () => boolean,
  ): Promise<ArrayBuffer | undefined> {
    let version = readVersion()
    const writer = takeWriter(1)
    const offset = writer.length
    writer.maxLength = offset + maxBytesOf(named)
    const slices = answerInSlices(writer, named.operation, named.query, formOf(named))
    let rowsSinceRest = 0
    const isRestDue = (): boolean => rowsSinceRest >= SLICE_ROWS && others.doAsk()
    const mustGiveWay = (): boolean => isAnyWaiting() || isRestDue()
    /** Lets batches that wait be run first. Where some were run of late, it also leaves the processor for a moment now and then. */
    const giveWay = (): Promise<void> =>
      new Promise((resolve) => {
        if (!isRestDue()) setImmediate(resolve)
        else {
          rowsSinceRest = 0
          setTimeout(resolve, REST_MS)
        }
      })
    let isUnchanged: (() => boolean) | undefined
    /** Inside `withSnapshots`. @returns `changed` when what was written before is of another state. */
    const writeOn = (): Answered | 'unfinished' | 'changed' => {
      if (isUnchanged?.() === false) return 'changed'
      // As in `runAll`.
      if (isUnchanged === undefined && readVersion() !== version) version = NO_VERSION
      for (;;) {
        const { done, value } = slices.next()
        if (done === true) return value
        rowsSinceRest += value
        if (!mustGiveWay()) continue
        isUnchanged = shards.rememberSnapshots()
        return 'unfinished'
      }
    }
    let answered: Answered | 'changed'
    try {
      let state = shards.withSnapshots(writeOn)
      while (state === 'unfinished') {
        await giveWay()
        state = shards.withSnapshots(writeOn)
      }
      answered = state
    } catch (error) {
      answered = writeError(writer, offset, error, named)
    }
    writer.maxLength = Number.POSITIVE_INFINITY
    if (answered === 'changed') {
      idleWriters.push(writer)
      // A page is one answer from one state: it is made anew, and in one go, so that this does not happen again and again. Not within
      // `try`: a writer that was handed back must not be written to.
      return runAll([named], slot)
    }
    if (mustGiveWay()) await giveWay()
    const isTagged = answered.status === 200
    const coding = isTagged ? await finishAside(writer, named, offset) : 'identity'
    if (mustGiveWay()) await giveWay()
    const entry = { ...answered, offset, length: writer.length - offset, coding, isTagged }
    return endReply(writer, slot, version, [entry])
  }

  /** As `finish`, but the thread does other things while a large page is compressed. */
  async function finishAside(writer: JsonWriter, named: NamedQuery, offset: number): Promise<ContentCoding> {
    const body = writer.bytes.subarray(offset, writer.length)
    if (named.isBodiless === true || named.coding === 'identity' || !isWorthCoding(body.length))
      return finish(writer, named, offset, tagPlace(0))
    writeTag(body, writer.bytes, tagPlace(0))
    replaceBody(writer, offset, await encodeAside(body, named.coding))
    return named.coding
  }

  return {
    run: (batch, slot) => runAll(decodeQueries(batch), slot),
    runInSlices(batch, slot, isAnyWaiting) {
      const named = decodeQueries(batch)
      const isPage = named.length === 1 && isLargePage(named[0]!)
      return isPage ? runPage(named[0]!, slot, isAnyWaiting) : runAll(named, slot)
    },
  }
}

/** How the answer is to be spelled, where that is not our own way. */
function formOf({ form }: NamedQuery): DialectForm<PoolOperation> | undefined {
  // The front has taken its place from the endpoint of this operation: TypeScript does not connect the two.
  return form === undefined ? undefined : (dialectForms[form] as DialectForm<PoolOperation> | undefined)
}

function isLargePage(named: NamedQuery): boolean {
  if (named.isTagless === true) return false
  const { writePart } = formOf(named)?.presenter ?? presenters[named.operation]
  return writePart !== undefined && isLarge(estimateBytes(named))
}

function replaceBody(writer: JsonWriter, offset: number, body: Uint8Array): void {
  writer.truncate(offset)
  writer.append(body)
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
  return routeOf(operation).entitledBytes?.(query as never) ?? 0
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
