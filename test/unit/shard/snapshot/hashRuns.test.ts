import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findByPrefix } from '../../../../src/shard/snapshot/hashRuns.js'
import { HashRunAppender } from '../../../../src/shard/write/hashRunAppender.js'
import { hashKinds } from '../../../../src/store/layout/tables.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import { tempFolder } from '../../../support/tempFolder.js'

test('one flush may have more than 2^21 entries', async (context) => {
  const store = openShardStoreWriter(tempFolder(context))
  const entries = 2 ** 21 + 5_000
  const hash = new Uint8Array(32)
  // An odd factor reaches every first word once, in no order; the last ten repeat the first word of entry 7.
  const numberOf = (entry: number): number => (entry < entries - 10 ? entry : 7)
  const setHash = (entry: number): Uint8Array => {
    new DataView(hash.buffer).setUint32(0, Math.imul(numberOf(entry), 0x9e3779b1) >>> 0, true)
    return hash
  }
  store.transact((view) => {
    const appender = new HashRunAppender(view)
    for (let entry = 0; entry < entries; entry++)
      appender.append(hashKinds.depositsByTransaction, setHash(entry), 0, entry)
    appender.flush()
  })
  for (const entry of [0, 6, 2 ** 20, 2 ** 21 - 1, 2 ** 21, 2 ** 21 + 1, entries - 11])
    assert.deepEqual(findByPrefix(store, hashKinds.depositsByTransaction, setHash(entry)), [entry])
  const repeats = Array.from({ length: 10 }, (_, index) => entries - 10 + index)
  assert.deepEqual(findByPrefix(store, hashKinds.depositsByTransaction, setHash(7)), [7, ...repeats])
  await store.close()
})
