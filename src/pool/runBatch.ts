import { errorTable } from '../api/errorTable.js'
import { JsonWriter } from '../api/jsonWriter.js'
import { writeFailure } from '../api/present/failure.js'
import { presenters, type RecordByOperation } from '../api/present.js'
import type { Answer } from '../errors/answers.js'
import { InvariantError } from '../errors/invariantError.js'
import type { OperationId, QueryByOperation } from '../protocol/queries.js'
import { type QueryFault, type ReplyEntry, ReplyHead, replyHeadBytes } from './messages.js'
import { decodeQueries, type NamedQuery } from './queryCodec.js'
import type { ShardVersion } from './shardVersion.js'
import { isTrap } from './workerTask.js'

/** Fresh snapshots of every shard for the length of `body`, released when it ends, however it ends. */
export interface SnapshotSource {
  withSnapshots<T>(body: () => T): T
}

export type QueryFunction<Shards, K extends OperationId> = (
  shards: Shards,
  query: QueryByOperation[K],
) => Answer<RecordByOperation[K]>

export type QueryFunctions<Shards> = { readonly [K in OperationId]: QueryFunction<Shards, K> }

/** Answer memory that a huge page left behind is let go above this size. */
const KEPT_BYTES = 8 * 1024 * 1024

/**
 * The whole work of a pool worker: queries in, ready bytes out. Expected failures are answers; an exception fails its own
 * query only, but for a wasm trap, which is passed on.
 */
export function createBatchRunner<Shards extends SnapshotSource>(
  shards: Shards,
  queries: QueryFunctions<Shards>,
  readVersion: () => ShardVersion,
  createWriter: () => JsonWriter = () => new JsonWriter(),
): (batch: ArrayBuffer) => ArrayBuffer {
  let writer = createWriter()

  /** Writes the answer to `query` and tells what it wrote. */
  function answer<K extends OperationId>(operation: K, query: QueryByOperation[K]): Answered {
    const result = queries[operation](shards, query)
    if (result.ok) {
      const presenter = presenters[operation]
      presenter.write(writer, result.value)
      return { status: 200, retryAfterSec: 0, life: presenter.life(result.value), isFault: false }
    }
    writeFailure(writer, result)
    const row = errorTable[result.code]
    // "Not yet" holds as long as the shards stand still; trouble of the moment does not.
    const life = row.status === 404 ? 'version' : undefined
    return { status: row.status, retryAfterSec: result.retryAfterSec ?? 0, life, isFault: false }
  }

  function answerOrFault(named: NamedQuery): ReplyEntry {
    const offset = writer.length
    let answered: Answered
    try {
      answered = answer(named.operation, named.query)
    } catch (error) {
      if (isTrap(error)) throw error
      writer.truncate(offset)
      writer.json(describeFault(error, named))
      answered = { status: 500, retryAfterSec: 0, life: undefined, isFault: true }
    }
    return { offset, length: writer.length - offset, ...answered }
  }

  return (batch) => {
    const named = decodeQueries(batch)
    // Before the first read: an answer may be newer than its version says, never older.
    const version = readVersion()
    // Not at the end only: a batch that failed whole has left its half behind.
    writer.reset()
    writer.skip(replyHeadBytes(named.length))
    const entries = shards.withSnapshots(() => named.map(answerOrFault))
    const reply = writer.copy()
    const head = new ReplyHead(reply, version, entries.length)
    for (let index = 0; index < entries.length; index++) head.setEntry(index, entries[index]!)
    if (reply.byteLength > KEPT_BYTES) writer = createWriter()
    return reply
  }
}

type Answered = Omit<ReplyEntry, 'offset' | 'length'>

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
