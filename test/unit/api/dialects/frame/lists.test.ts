import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { dialectForms, dialects } from '../../../../../src/api/dialects/dialects.js'
import type { Dialect } from '../../../../../src/api/dialects/frame/dialect.js'
import { JsonWriter } from '../../../../../src/api/present/jsonWriter.js'
import { answerers } from '../../../../../src/pool/answerers.js'
import { decodeReplies } from '../../../../../src/pool/batchMessages.js'
import { type NamedQuery, QueryWriter } from '../../../../../src/pool/queryCodec.js'
import { createBatchRunner } from '../../../../../src/pool/runBatch.js'
import { asNetworkId } from '../../../../../src/protocol/units.js'
import { compileMerkleModule, createRowWriter } from '../../../../../src/wasm/wasmModule.js'
import { createFakeWorld } from '../../../../support/fakeChain.js'
import { IndexedWorld } from '../../../../support/indexedWorld.js'

const MAX_RESPONSE_BYTES = 30_000
const version = { commits: 1, epoch: 0, halted: 0 }

/** All lists of bridges and claims. */
const lists = Object.values<{ readonly latest: Dialect }>(dialects).flatMap(({ latest }) =>
  latest.endpoints.flatMap(({ label, operation, form }) =>
    ['getBridges', 'getClaims'].includes(operation) && form.lacks === undefined
      ? [{ label, operation: operation as NamedQuery['operation'], form: dialectForms.indexOf(form) }]
      : [],
  ),
)

/** Claimed bridges from network 0 to network 1, of metadata with these lengths. */
function worldOf(context: TestContext, lengths: readonly number[]): IndexedWorld {
  const world = createFakeWorld({ networks: [1] })
  world.network(0).mine((block) => {
    for (const length of lengths)
      block.tx().deposit({ destinationNetwork: 1, metadata: `0x${'ab'.repeat(length)}` })
  })
  world.network(1).mine((block) => {
    for (const deposit of world.network(0).deposits()) block.tx().claim({ deposit })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  return indexed
}

/** Asks for each list. @returns its status by label, and how often rows were written. */
function askAll(indexed: IndexedWorld, isTagless: boolean) {
  const rowWriter = createRowWriter(compileMerkleModule())
  let writes = 0
  const counted = {
    ...rowWriter,
    write(count: number) {
      writes++
      return rowWriter.write(count)
    },
  }
  const { run } = createBatchRunner(
    indexed.readers,
    answerers,
    () => version,
    () => new JsonWriter(undefined, undefined, counted),
    MAX_RESPONSE_BYTES,
  )
  const told = lists.map(({ label, operation, form }) => {
    const writer = new QueryWriter()
    const networkId = asNetworkId(operation === 'getBridges' ? 0 : 1)
    writer.append({
      operation,
      query: { networkId, pageNumber: 1, pageSize: 20 },
      ...{ coding: 'identity', form, isBodiless: isTagless, isTagless },
    })
    const [reply] = decodeReplies(new Uint8Array(run(writer.take(), new Uint8Array(0))!))
    if (isTagless && reply!.status === 200) assert.equal(reply!.body.length, 0, label)
    return [label, reply!.status]
  })
  return { statuses: Object.fromEntries(told) as Readonly<Record<string, number>>, writes }
}

test('a list of a dialect that nobody gets is not written', (context) => {
  const indexed = worldOf(context, [0, 3, 4_096])
  assert.ok(askAll(indexed, false).writes >= lists.length)
  const { statuses, writes } = askAll(indexed, true)
  assert.deepEqual([...new Set(Object.values(statuses))], [200])
  assert.equal(writes, 0)
})

test('a list of a dialect that is too long is refused, also where nobody gets it', (context) => {
  const indexed = worldOf(context, [3, 5_000, 12_000])
  const { statuses } = askAll(indexed, true)
  assert.deepEqual(statuses, askAll(indexed, false).statuses)
  // These two show no metadata.
  const { 'hub.transactions': hub, 'hub.transaction': one, 'zkevm.claims': claims, ...others } = statuses
  assert.deepEqual([hub, one, claims], [200, 200, 200])
  assert.deepEqual([...new Set(Object.values(others))], [400])
})
