import assert from 'node:assert/strict'
import { JsonWriter } from '../../src/api/present/jsonWriter.js'
import { type Presenter, presenters } from '../../src/api/present/present.js'
import { answerers } from '../../src/pool/answerers.js'
import type { QueryFunctions } from '../../src/pool/runBatch.js'
import type { QueryByOperation } from '../../src/query/queries.js'
import type { RowTemplate } from '../../src/query/rowTemplate.js'
import type { SlotCounts } from '../../src/shard/rows/rowArena.js'
import { compileMerkleModule, createRowWriter } from '../../src/wasm/wasmModule.js'
import type { IndexedWorld } from './indexedWorld.js'

const plainWriter = new JsonWriter()
const rowWriter = createRowWriter(compileMerkleModule())
const packedWriter = new JsonWriter(undefined, undefined, rowWriter)
/** What a value of a row is before it is set: more than any of them, but for `NO_VALUE`. */
const UNSET = 0xffff_fff1

/** So few slots that chunks, tokens and metadata are evicted again and again. */
export function slotCounts(count: number): SlotCounts {
  const chunks = { deposits: count, senders: count, claims: count, claimHashes: count, claimLinks: count }
  return { ...chunks, leaves: count, tokens: count, metadata: count, longMetadata: count }
}

/** Rows of a part of a page, so few that small pages have several parts. */
const PART_ROWS = 7

/** The answer written from its records, and from its stored bytes: in one go, and the same part by part, each in a task of its own. */
export function bothTexts<K extends 'getBridges' | 'getClaims'>(
  indexed: IndexedWorld,
  operation: K,
  query: QueryByOperation[K],
  template?: RowTemplate,
): [string, string] {
  rowWriter.numbers.fill(UNSET)
  const { value, texts } = indexed.ask((shards) => {
    const answer = (answerers[operation] as QueryFunctions<typeof shards>[K])(shards, query, template)
    assert.ok(answer.ok)
    const whole = [plainWriter, packedWriter].map((writer) => {
      writer.reset()
      ;(presenters[operation] as Presenter<typeof answer.value>).write(writer, answer.value)
      return textOf(writer)
    })
    return { value: answer.value, texts: whole }
  })
  assert.ok(!texts[1]!.includes(String(UNSET)), 'a row has a value that `pack` does not set')
  const presenter = presenters[operation] as Presenter<typeof value>
  packedWriter.reset()
  let from = 0
  while (!indexed.ask(() => presenter.writePart!(packedWriter, value, from, from + PART_ROWS)))
    from += PART_ROWS
  assert.equal(textOf(packedWriter), texts[1], 'written in parts')
  return [texts[0]!, texts[1]!]
}

function textOf(writer: JsonWriter): string {
  return Buffer.from(writer.bytes.subarray(0, writer.length)).toString()
}
