import { JsonWriter } from '../../src/api/present/jsonWriter.js'
import type { StatusBoardHandle } from '../../src/board/statusBoard.js'
import { createVersionReader } from '../../src/board/version.js'
import type { Config } from '../../src/config/config.types.js'
import { answerers } from '../../src/pool/answerers.js'
import { decodeReplies } from '../../src/pool/batchMessages.js'
import { BatchSlots, createSlotMemory } from '../../src/pool/batchSlots.js'
import { createTagWriter, TAG_LENGTH } from '../../src/pool/digestTag.js'
import { type NamedQuery, QueryWriter } from '../../src/pool/queryCodec.js'
import { createBatchRunner } from '../../src/pool/runBatch.js'
import { openShardReaders } from '../../src/shard/queries/shardReaders.js'
import { type CompiledMerkle, createRowWriter, createTextDigest } from '../../src/wasm/wasmModule.js'

/** The work of a query thread, called in this thread: it takes query bytes and returns reply bytes. */
export interface OurWorker {
  encode(queries: readonly NamedQuery[]): Uint8Array
  /** @returns the reply, overwritten by the next call. */
  run(batch: Uint8Array): Uint8Array
  /** Body of the one answer in a reply. @throws when it is not a success. */
  body(reply: Uint8Array): Uint8Array
  /** Makes the entity tag of a body, as `run` does. */
  tag(body: Uint8Array): void
  close(): Promise<void>
}

export function openOurWorker(
  config: Config,
  compiled: CompiledMerkle,
  status: StatusBoardHandle,
): OurWorker {
  const shards = openShardReaders({ config, compiled, status })
  const rowWriter = createRowWriter(compiled)
  const writeTag = createTagWriter(createTextDigest(compiled))
  const tag = new Uint8Array(TAG_LENGTH)
  const slot = new BatchSlots(createSlotMemory(1)).replyOf(0)
  const runner = createBatchRunner(
    shards,
    answerers,
    createVersionReader(status),
    () =>
      new JsonWriter(
        undefined,
        (nodes, target, at) => shards.hasher.formatNodes(nodes, target, at),
        rowWriter,
      ),
    config.http.maxResponseBytes,
    writeTag,
  )
  const writer = new QueryWriter()
  return {
    encode(named) {
      for (const query of named) writer.append(query)
      // The writer reuses its memory.
      return writer.take().slice()
    },
    run(batch) {
      const reply = runner.run(batch, slot)
      return reply === undefined ? slot : new Uint8Array(reply)
    },
    body(reply) {
      const [answer] = decodeReplies(reply)
      if (answer?.status !== 200)
        throw new Error(`status ${answer?.status}: ${Buffer.from(answer?.body ?? []).toString()}`)
      return answer.body
    },
    tag: (body) => writeTag(body, tag, 0),
    close: () => shards.close(),
  }
}
